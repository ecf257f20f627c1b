/* SPDX-License-Identifier: MIT */
/*
 * source.c - see source.h.
 */
#include "core/sched/source.h"

#include "base/bits.h"
#include "core/life/drain.h"
#include "core/sched/poller.h"
#include "core/sched/worker.h"
#include "core/task/countdown.h"
#include "core/task/turn.h"
#include "os/clock.h"
#include "os/eventfd.h"

#include <errno.h>

static struct sley_source *first_of(struct sley *rt, uint32_t bits)
{
	return &rt->sources.source[bits_first(bits)];
}

static uint32_t bit_of(const struct sley_source *source)
{
	return 1u << (source - source->rt->sources.source);
}

/* A hint: the word of a source says whether the source is there. */
static uint32_t live_sources(const struct sley *rt)
{
	/* relaxed: I1 or the word of the source orders it, see source.h. */
	return load_relaxed(&rt->sources.live);
}

/* Those that @worker asks. */
static uint32_t sources_of(const struct worker *worker)
{
	return unlikely(worker->leaves) ? 0 : live_sources(worker->rt);
}

bool sources_exist(const struct sley *rt)
{
	return live_sources(rt);
}

/* ---- guests ------------------------------------------------------------------------ */

static void leave(struct sley_source *source)
{
	uint32_t *word = &source->word;

	(void)sub_release(word, SOURCE_GUEST); /* SR2 */
	spin_done(word);
}

/* Can @source, whose word this is, be asked? */
static bool is_open(uint32_t word)
{
	return (word & (SOURCE_LIVE | SOURCE_SHUT | SOURCE_TAKEN)) ==
	       SOURCE_LIVE;
}

/* False: the source is gone, or shut, or there is a taker; the caller is no guest. */
static bool enter(struct sley_source *source)
{
	uint32_t word = add_acq_rel(&source->word, SOURCE_GUEST); /* SR3 SR4 */

	if (is_open(word))
		return true;
	leave(source);
	return false;
}

/* For an asker that may pass by: a look that spares the addition. */
static bool enter_if_open(struct sley_source *source)
{
	/* relaxed: a glance; enter() decides. */
	return is_open(load_relaxed(&source->word)) && enter(source);
}

static bool has_guests(const void *word)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)word) >= SOURCE_GUEST;
}

/* Guests do not wait for anything, so they leave soon. */
static void wait_for_guests(struct sley_source *source)
{
	uint32_t nr_looks = 0;

	while (load_acquire(&source->word) >= SOURCE_GUEST) { /* SR2 */
		spin_hint(&source->word);
		spin_wait(&source->word, has_guests, nr_looks++);
	}
}

static bool is_signalled(const struct sley_source *source)
{
	return source->ops.fd && os_fd_is_readable(source->ops.fd);
}

/* By a guest: @look is a function of @source. */
static bool call_function(struct worker *worker, struct sley_source *source,
			  bool (*look)(void *arg))
{
	bool has;

	worker->asks = source;
	has = look(source->arg);
	worker->asks = NULL;
	return has;
}

/* By a guest. */
static bool has_item(struct worker *worker, struct sley_source *source)
{
	/* relaxed: the taker acquires it. */
	if (load_relaxed(&source->pending))
		return true;
	if (!source->ops.has)
		return is_signalled(source);
	return call_function(worker, source, source->ops.has);
}

/*
 * By a guest.  An item may be taken before its signal comes, so a signal without an
 * item is something to take, too: take() reads the descriptor.  Otherwise each worker
 * that sleeps there would wake up at once, for ever.
 */
static bool has_something(struct worker *worker, struct sley_source *source)
{
	return has_item(worker, source) ||
	       (unlikely(worker->poll.heard) && !source->ops.left &&
		is_signalled(source));
}

/*
 * The same where a worker that listens to the descriptor is as good as a look: a
 * worker that has heard a signal looks again in source_pick().
 */
static bool has_left(struct worker *worker, struct sley_source *source)
{
	if (!source->ops.left)
		return has_item(worker, source);
	/* relaxed: as above. */
	return load_relaxed(&source->pending) ||
	       call_function(worker, source, source->ops.left);
}

/*
 * Something is there, which the caller has found: as good as a notification.  Not a store:
 * the taker that takes pending back acquires what notifiers have released (SR1).
 */
static void set_pending(struct sley_source *source)
{
	/* relaxed: a step between the ends of SR1; the callers look, or notify. */
	(void)or_relaxed(&source->pending, 1);
}

/* By a guest. */
static bool arm(struct worker *worker, struct sley_source *source)
{
	bool has;

	if (!source->ops.arm)
		return false;
	has = call_function(worker, source, source->ops.arm);
	if (has)
		set_pending(source);
	return has;
}

/* ---- notifying --------------------------------------------------------------------- */

/* As a submitter: there is something in a source. */
static void announce(struct sley *rt)
{
	idle_notify(&rt->idle);
	monitor_expect(&rt->monitor, os_now());
}

void source_notify(struct sley_source *source)
{
	/*
	 * Also if pending is set: the taker that takes it back acquires all items
	 * that were notified before.
	 */
	if (!xchg_acq_rel(&source->pending, 1)) /* SR1 SR5 */
		announce(source->rt);
}

/* ---- the taker ---------------------------------------------------------------------- */

static void run_take(void *arg)
{
	struct sley_source *source = container_of((struct sley_task *)arg,
						  struct sley_source, taker);

	(void)xchg_acquire(&source->pending, 0); /* SR1 */
	if (source->ops.disarm)
		source->ops.disarm(source->arg);
	source->more = source->ops.take(source->arg);
}

/*
 * Steps 2 and 3 of the taker.  What is left may have come while all others passed
 * by, so the taker has to look.  A worker that keeps its search looks next.
 */
static void end_take(struct worker *worker, struct sley_source *source)
{
	bool more = source->more;
	uint32_t word;

	if (more)
		set_pending(source);      /* SR3 publishes it */
	word = add_acq_rel(&source->word, /* SR3 SR6 */
			   SOURCE_GUEST - SOURCE_TAKEN);
	if (word & SOURCE_LIVE && !worker_keeps_search(worker)) {
		if (!more)
			more = has_left(worker, source);
		if (!more && idle_parked(idle_counts(&worker->rt->idle)))
			more = arm(worker, source);
		if (more)
			announce(worker->rt);
	}
	leave(source);
}

static struct sley_task *after_take(struct worker *worker,
				    struct sley_task *task)
{
	struct sley_source *source =
		container_of(task, struct sley_source, taker);

	end_take(worker, source);
	/* A remover may be waiting: nothing of @source is touched afterwards. */
	(void)countdown_done(&source->taking);
	drain_count_finished(worker);
	return NULL;
}

static const struct turns takers = { .after = after_take };

bool source_takes_briefly(const struct sley_task *task)
{
	return task_flags(task) & TASK_TURNS && turns_of(task) == &takers &&
	       container_of(task, struct sley_source, taker)->ops.brief;
}

/* By a guest that has set TAKEN: from here on the runtime waits for the taker. */
static struct sley_task *build_taker(struct worker *worker,
				     struct sley_source *source)
{
	struct sley_task *task = &source->taker;

	*task = (struct sley_task){
		.fn = run_take,
		.name = "source",
		.group = (struct sley_group *)(uintptr_t)&takers,
	};
	task_build(task, LEVEL_DEFAULT, worker->task_flags | TASK_TURNS);
	countdown_add(&source->taking, 1);
	drain_count_spawned(worker);
	return task;
}

static struct sley_task *begin_take(struct worker *worker,
				    struct sley_source *source)
{
	struct sley_task *task = NULL;

	if (!enter_if_open(source))
		return NULL;
	if (has_something(worker, source) &&
	    !(or_acq_rel(&source->word, SOURCE_TAKEN) & /* SR3 SR6 */
	      SOURCE_TAKEN))
		task = build_taker(worker, source);
	leave(source);
	return task;
}

/* ---- asking ------------------------------------------------------------------------- */

/*
 * In rounds: sources_left has the sources that had no turn in this round.  So a
 * source that always has something does not keep this worker from the others.
 */
struct sley_task *source_pick(struct worker *worker)
{
	struct sley *rt = worker->rt;
	uint32_t live = sources_of(worker), left;
	struct sley_task *task = NULL;

	if (likely(!live))
		return NULL;
	left = worker->sources_left & live;
	if (!left)
		left = live;
	for (; left && !task; left &= left - 1)
		task = begin_take(worker, first_of(rt, left));
	worker->sources_left = left;
	if (!task)
		worker->poll.heard = false;
	return task;
}

void sources_arm(struct worker *worker)
{
	struct sley *rt = worker->rt;

	for (uint32_t bits = sources_of(worker); bits; bits &= bits - 1) {
		struct sley_source *source = first_of(rt, bits);

		/* If there is a taker, the taker arms. */
		if (!enter(source))
			continue;
		(void)arm(worker, source);
		leave(source);
	}
}

/*
 * Does @look find something in a source?  The caller takes nothing, and the worker that
 * looks next, to take it, may be told that there is nothing: a function that asks the
 * kernel once in a while says so in between.
 */
static bool look_at_all(struct worker *worker,
			bool (*look)(struct worker *worker,
				     struct sley_source *source))
{
	struct sley *rt = worker->rt;
	bool has = false;

	for (uint32_t bits = sources_of(worker); bits && !has;
	     bits &= bits - 1) {
		struct sley_source *source = first_of(rt, bits);

		if (!enter_if_open(source))
			continue;
		has = look(worker, source);
		if (has)
			set_pending(source);
		leave(source);
	}
	return has;
}

bool sources_wait(struct worker *worker)
{
	return look_at_all(worker, has_left);
}

bool sources_have(struct worker *worker)
{
	return look_at_all(worker, has_something);
}

/* ---- the monitor ---------------------------------------------------------------------- */

/* A producer that signals a descriptor reaches no worker, if all are busy. */
static bool is_unheard(const struct sley *rt)
{
	/* relaxed: a hint, at the next look as good as now. */
	return load_relaxed(&rt->sources.with_fd);
}

bool sources_are_due(struct sley *rt, bool asleep)
{
	if (!asleep && is_unheard(rt))
		return true;
	for (uint32_t bits = live_sources(rt); bits; bits &= bits - 1) {
		if (add_release(&first_of(rt, bits)->pending, 0)) /* SR5 */
			return true;
	}
	return false;
}

void sources_expect(struct sley *rt)
{
	if (unlikely(is_unheard(rt)) && !idle_parked(idle_counts(&rt->idle)))
		monitor_expect(&rt->monitor, os_now());
}

/* ---- adding and removing --------------------------------------------------------------- */

/* Under the lock: a free place, or an error. */
static int take_place(struct sources *sources, bool of_user)
{
	uint32_t all = (1u << SOURCES_MAX) - 1;

	if (sources->shut)
		return -ESHUTDOWN;
	if (sources->used == all ||
	    (of_user && sources->nr_users == SOURCES_OF_USERS))
		return -ENOSPC;
	sources->nr_users += of_user;
	sources->ever_used = true;
	return bits_first(~sources->used);
}

static void give_place_back(struct sources *sources, struct sley_source *source)
{
	spin_lock(&sources->lock);
	sources->used &= ~bit_of(source);
	sources->nr_users -= source->of_user;
	spin_unlock(&sources->lock);
}

/* Among the hints. */
static void set_live(struct sley_source *source, bool live)
{
	struct sources *sources = &source->rt->sources;
	uint32_t bit = live ? bit_of(source) : 0, clear = ~bit_of(source);
	uint32_t with_fd = source->ops.fd ? bit : 0;

	spin_lock(&sources->lock);
	/* relaxed: a hint; the words of the sources decide. */
	store_relaxed(&sources->live, (sources->live & clear) | bit);
	/* relaxed: a hint for the monitor. */
	store_relaxed(&sources->with_fd, (sources->with_fd & clear) | with_fd);
	spin_unlock(&sources->lock);
}

int source_add(struct sley *rt, struct sley_source **out,
	       const struct source_ops *ops, void *arg, bool of_user)
{
	struct sources *sources = &rt->sources;
	struct sley_source *source;
	int place, err = 0;

	spin_lock(&sources->lock);
	place = take_place(sources, of_user);
	if (place >= 0)
		sources->used |= 1u << place;
	spin_unlock(&sources->lock);
	if (place < 0)
		return place;
	source = &sources->source[place];
	source->rt = rt;
	source->ops = *ops;
	source->arg = arg;
	source->of_user = of_user;
	if (ops->fd)
		err = poller_watch(rt, ops->fd);
	if (err) {
		give_place_back(sources, source);
		return err;
	}
	/* A function of the source may want it. */
	*out = source;
	/* relaxed: the word publishes it.  Something may be there already. */
	store_relaxed(&source->pending, 1);
	(void)or_release(&source->word, SOURCE_LIVE); /* SR4 */
	set_live(source, true);
	announce(rt);
	return 0;
}

void *source_find(struct sley *rt, bool (*take)(void *arg))
{
	struct sources *sources = &rt->sources;
	void *arg = NULL;

	spin_lock(&sources->lock);
	/* relaxed: under the lock, as all changes. */
	for (uint32_t bits = load_relaxed(&sources->live); bits && !arg;
	     bits &= bits - 1) {
		const struct sley_source *source = first_of(rt, bits);

		if (source->ops.take == take)
			arg = source->arg;
	}
	spin_unlock(&sources->lock);
	return arg;
}

/* No function of @source runs. */
static void end(struct sley_source *source)
{
	if (source->ops.fd)
		poller_unwatch(source->rt, source->ops.fd);
	if (source->ops.disarm)
		source->ops.disarm(source->arg);
}

void source_remove(struct sley_source *source)
{
	set_live(source, false);
	/* relaxed: a guest came before this and is counted, or sees it. */
	(void)and_relaxed(&source->word, ~SOURCE_LIVE);
	/* First the guests: a guest may be about to begin a taker. */
	wait_for_guests(source);
	(void)!countdown_wait(&source->taking, UINT64_MAX, WAIT_SHIELDED);
	end(source);
	give_place_back(&source->rt->sources, source);
}

/* ---- the end of the runtime -------------------------------------------------------------- */

/* All places: a source may be removed, and its place used again, meanwhile. */
static bool set_shut(struct sources *sources, bool shut)
{
	bool ever_used;

	spin_lock(&sources->lock);
	sources->shut = shut;
	ever_used = sources->ever_used;
	for (int i = 0; i < SOURCES_MAX && ever_used; i++) {
		uint32_t *word = &sources->source[i].word;

		/* relaxed: as in source_remove(). */
		if (shut)
			(void)or_relaxed(word, SOURCE_SHUT);
		else
			(void)and_relaxed(word, ~SOURCE_SHUT);
	}
	spin_unlock(&sources->lock);
	return ever_used;
}

bool sources_were_used(struct sley *rt)
{
	bool ever_used;

	spin_lock(&rt->sources.lock);
	ever_used = rt->sources.ever_used;
	spin_unlock(&rt->sources.lock);
	return ever_used;
}

bool sources_shut(struct sley *rt)
{
	if (!set_shut(&rt->sources, true))
		return false;
	for (int i = 0; i < SOURCES_MAX; i++)
		wait_for_guests(&rt->sources.source[i]);
	return true;
}

void sources_open(struct sley *rt)
{
	(void)set_shut(&rt->sources, false);
	/* A worker that has passed the sources by may sleep. */
	announce(rt);
}

void sources_end(struct sley *rt)
{
	for (uint32_t bits = rt->sources.used; bits; bits &= bits - 1) {
		struct sley_source *source = first_of(rt, bits);

		end(source);
		if (source->ops.end)
			source->ops.end(source->arg);
	}
}
