/* SPDX-License-Identifier: MIT */
/*
 * search.c - where a worker without tasks looks for work, and how it parks.
 *
 * The worker looks at its own queues (pick.c), at the sources outside of the scheduler
 * (core/sched/source.h), and then at the other workers, the near ones first.
 *
 * A search goes on for the price of a wake-up: looking for as long as a wake-up
 * would take costs at most twice as much as the best choice.  The user may choose
 * another time (.spin_us), and a source of work may ask for more
 * (runtime_set_spin_floor()).  A search that was in vain halves the time of the next
 * search, a search that found work restores it, so that a worker with one short
 * task per millisecond sleeps.
 *
 * A search for edges of descriptors earns less than it costs if many peers are at work.
 * A peer that is alone waits for the answer: if the worker sleeps, both sides wait for
 * the wake-up.  Many peers do not wait for one another: while the worker wakes up,
 * requests gather, and the worker has more to do before it is idle again.  Looks would
 * take all of the idle time, and sleeps take a part of it.  So a worker that has taken
 * several edges, on average, between two searches does not spin; the price of a wake-up
 * is spread over these edges.  A time of search beyond the default says that the user
 * pays for each microsecond: this rule does not apply then.
 *
 * A searcher that finds a taker of a brief source (core/sched/source.h) keeps its search
 * over the take, and goes on with it.  To end a search costs a system call if a worker
 * sleeps, and the signal of each later item costs two.  Items that come faster than they
 * are taken are work for more than one worker: after KEPT_MAX takes without a vain look
 * the search ends, and the next worker is woken if there is more.
 *
 * Rejected: a shorter search if the last one found its edge late (a worker that is
 * nearly busy finds each edge soon, one by one, and never sleeps); no search after two
 * edges (two peers that alternate were half as fast); the number of waiting tasks in
 * place of edges (most of them may be silent).
 *
 * Edges:
 *
 *   P2  see core/sched/worker.h
 */
#include "core/sched/place.h"
#include "core/sched/worker.h"

#include "core/life/drain.h"
#include "core/life/hooks.h"
#include "core/sched/poller.h"
#include "core/sched/steal.h"
#include "core/life/runtime.h"
#include "core/sched/source.h"
#include "os/clock.h"
#include "os/thread.h"

#define SPIN_NS_MIN 1000
#define SPIN_NS_GATHERS 20000 /* with a longer time, a worker always spins */
#define SPIN_ROUNDS_PER_LOOK 4
#define SPIN_ROUNDS_PER_CLOCK 32
#ifndef KEPT_MAX
#define KEPT_MAX 16
#endif
#ifndef SLEY_MODEL
#define SPINS true
#else
#define SPINS                                                                  \
	false /* in a model anything may come between two looks as it is */
#endif

/* ---- from other workers -------------------------------------------------- */

static struct sley_task *steal_from(struct worker *worker,
				    struct worker *victim)
{
	uint32_t changes = load_acquire(&victim->changes); /* P2 */
	struct sley_task *task = ring_steal_half(&victim->ring, &worker->ring);

	if (!task)
		task = place_rob_lane(worker, victim);
	if (!task)
		task = next_steal(&victim->next);
	if (!task)
		task = fork_steal(worker, victim);
	if (task) {
		/* relaxed: only this worker writes its count. */
		uint32_t seen = load_relaxed(&worker->changes);

		/*
		 * If the victim has not put its tasks in order, the thief has to.
		 */
		if (unlikely((int32_t)(changes - seen) < 0))
			store_release(&worker->changes, changes); /* P2 */
		counter_add(&worker->counters.steals, 1);
		place_moved(worker);
		trace_event(&worker->trace, TRACE_STEAL, victim->index);
	}
	return task;
}

/* The task that @take finds at the nearest worker: see core/sched/victims.h. */
static struct sley_task *take_from_others(
	struct worker *worker,
	struct sley_task *(*take)(struct worker *worker, struct worker *victim))
{
	struct sley *rt = worker->rt;
	struct victim_walk walk;
	int index;

	if (rt->nr_workers < 2)
		return NULL;
	walk = victims_walk(&rt->victims, worker->index, rt->nr_workers,
			    &worker->rand);
	while ((index = victims_next(&walk)) >= 0) {
		struct sley_task *task = take(worker, rt->worker[index]);

		if (task)
			return task;
	}
	return NULL;
}

static struct sley_task *steal(struct worker *worker)
{
	return take_from_others(worker, steal_from);
}

/*
 * From a parent that has children, and does not share them although it was asked.
 */
static struct sley_task *seize(struct worker *worker)
{
	return place_other_levels(worker, take_from_others(worker, fork_seize));
}

/* Chaos: although there is work here. */
struct sley_task *worker_steal_needlessly(struct worker *worker)
{
	return place_other_levels(worker, steal(worker));
}

/* ---- searching and parking ------------------------------------------------ */

static bool has_stealable(struct worker *victim)
{
	/* relaxed: for the parker, os_membarrier() orders the loads; see idle.h. */
	return ring_size(&victim->ring) || !push_list_empty(&victim->lane) ||
	       next_stealable(&victim->next) || fork_stealable(victim) ||
	       fork_is_private(victim);
}

/* Of step 1 of core/sched/idle.h: a parent that forks from now on tells us. */
static void ask_everybody(void *arg)
{
	struct worker *worker = arg;

	(void)fork_ask_all(worker->rt);
	sources_arm(worker);
}

/* Is there anything for this worker to do?  Step 3 of core/sched/idle.h. */
static bool look_everywhere(void *arg)
{
	struct worker *worker = arg;
	struct sley *rt = worker->rt;

	/* relaxed: a thread that sets these wakes all workers afterwards. */
	if (load_relaxed(&rt->phase) == PHASE_STOPPING ||
	    load_relaxed(&worker->poke))
		return true;
	/*
	 * The poke that came with the cancel may be lost: pick_fair() takes the
	 * poke back and then looks, and its store may come later than its load.
	 */
	if (unlikely(runtime_is_cancelled(rt) && !worker->cancelled)) {
		/* relaxed: the worker's own request. */
		store_relaxed(&worker->poke, 1);
		return true;
	}
	drain_signal_if_wanted(rt);
	if (!push_list_empty(&worker->home) || worker_levels_waiting(worker) ||
	    worker->fresh.first)
		return true;
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		if (has_stealable(rt->worker[i]))
			return true;
	}
	return sources_wait(worker);
}

/*
 * The same before sleeping: a parent that took our request need not have seen us,
 * and no other worker comes for our own task in the next slot.
 */
static bool look_and_ask(void *arg)
{
	struct worker *worker = arg;

	return look_everywhere(worker) || !next_empty(&worker->next) ||
	       fork_ask_all(worker->rt);
}

static unsigned int first_level(uint64_t levels)
{
	return levels ? (unsigned int)bits_first(levels) : LEASE_NO_LEVEL;
}

struct lease_need worker_need(struct worker *worker)
{
	uint64_t bound = worker_look_after(worker);
	uint64_t levels = bound | runq_hint(&worker->rt->runq);

	/* As before sleeping: a worker that parks now must not find anything. */
	if (!levels && (look_everywhere(worker) || !next_empty(&worker->next)))
		levels = 1ull << LEVEL_DEFAULT;
	return (struct lease_need){ first_level(levels), first_level(bound) };
}

/* Submitters relied on the search: is there more work than the search found? */
static void end_search(struct worker *worker)
{
	struct sley *rt = worker->rt;

	/* relaxed: a hint. */
	store_relaxed(&rt->spinner, 0);
	if (idle_search_end(&rt->idle)) {
		sources_arm(worker);
		if (look_everywhere(worker))
			idle_notify(&rt->idle);
	}
	place_lane(worker);
}

/*
 * May the search go on over the take?  Of too many searchers each would find an item now
 * and then, and none would ever park.  Where bound threads run the tasks, a thread may
 * leave after each task.
 */
static bool may_keep_search(const struct worker *worker)
{
	const struct idle *idle = &worker->rt->idle;

	return worker->nr_kept < KEPT_MAX && worker->rt->nr_workers &&
	       idle_searching(idle_counts(idle)) <= idle->searching_max;
}

/* The search has found @task; NULL: the runtime stops. */
static void keep_or_end_search(struct worker *worker,
			       const struct sley_task *task)
{
	if (task && source_takes_briefly(task) && may_keep_search(worker)) {
		worker->nr_kept++;
		worker_set_step(worker, WORKER_SEARCHES);
	} else {
		worker->nr_kept = 0;
		end_search(worker);
	}
}

/* Does the worker go on with a search that it kept? */
static bool resume_search(struct worker *worker)
{
	bool keeps = worker_keeps_search(worker);

	if (keeps)
		worker_set_step(worker, NULL);
	return keeps;
}

void worker_end_kept_search(struct worker *worker)
{
	if (resume_search(worker)) {
		worker->nr_kept = 0;
		end_search(worker);
	}
}

static struct sley_task *look_once(struct worker *worker, bool asks_sources)
{
	struct sley_task *task = worker_pick(worker);

	if (!task && lease_is_asked(&worker->lease))
		return NULL;
	if (!task && asks_sources)
		task = source_pick(worker);
	if (!task) {
		task = steal(worker);
		if (unlikely(task && task_level(task) != LEVEL_DEFAULT)) {
			/* The level has changed since the task was queued there. */
			place_shared(worker, task);
			task = worker_pick(worker);
		}
	}
	return task ? task : worker_pick_low(worker, NR_LEVELS - 1);
}

static bool stopping(const struct worker *worker)
{
	/* relaxed: the stopper wakes all workers after setting the phase. */
	return load_relaxed(&worker->rt->phase) == PHASE_STOPPING;
}

/* Has something come for this worker in particular? */
static bool is_called(const struct worker *worker)
{
	/* relaxed: a request, obeyed sooner or later. */
	return !push_list_empty(&worker->home) || load_relaxed(&worker->poke);
}

/* A search that was in vain makes the next search shorter. */
static void adapt_spin(struct worker *worker, bool found)
{
	if (found)
		worker->spin_ns = worker->spin_max_ns;
	else if (worker->spin_ns > SPIN_NS_MIN)
		worker->spin_ns /= 2;
}

/* How long to spin: as the runtime was told, or longer for a source of work. */
static uint32_t spin_time(struct worker *worker)
{
	uint32_t floor_ns = runtime_spin_floor(worker->rt);

	/* Peers make better use of the time. */
	if (runq_has_looks(&worker->rt->runq) &&
	    lease_look(worker, LEASE_NO_LEVEL))
		return 0;
	if (poller_gathers(worker) && worker->spin_max_ns <= SPIN_NS_GATHERS)
		return floor_ns;
	return worker->spin_ns > floor_ns ? worker->spin_ns : floor_ns;
}

/*
 * A searcher looks everywhere, now and then, since looking takes cache lines from
 * the workers that work.  A worker that may not search, because others do, only
 * watches for work that is sent to this worker alone: a fiber that waits here for
 * a fiber elsewhere comes back within a microsecond.
 */
static struct sley_task *spin(struct worker *worker, bool searching,
			      uint32_t spin_ns)
{
	uint64_t now_ns = os_now(), until_ns = now_ns + chaos_few(spin_ns, 0);
	struct sley_task *task = NULL;

	gauge_idle_begin(&worker->idle, now_ns);
	for (unsigned int round = 1;
	     !task && !stopping(worker) && !lease_is_asked(&worker->lease);
	     round++) {
		bool look = searching && round % SPIN_ROUNDS_PER_LOOK == 0;

		if (round % SPIN_ROUNDS_PER_CLOCK == 0 &&
		    (now_ns = os_now()) >= until_ns)
			break;
		spin_hint(&worker->home);
		if (look || is_called(worker))
			task = look_once(worker, true);
	}
	gauge_idle_end(&worker->idle, now_ns);
	adapt_spin(worker, task != NULL);
	return task;
}

/* The same, on a worker that has not taken the poller. */
static bool look_also_for_poller(void *arg)
{
	struct worker *worker = arg;

	return look_and_ask(worker) || poller_is_vacant(worker->rt);
}

static bool park(struct worker *worker, bool searching)
{
	struct idle_look look = { .look = look_also_for_poller,
				  .ask = ask_everybody,
				  .arg = worker };
	struct sley *rt = worker->rt;
	bool polls = poller_sit(worker, &look);
	uint64_t deadline_ns = timers_next(&worker->timers);

	counter_add(&worker->counters.parks, 1);
	trace_event(&worker->trace, TRACE_PARK, 0);
	if (searching)
		/* relaxed: a hint. */
		store_relaxed(&rt->spinner, 0);
	gauge_idle_begin(&worker->idle, os_now());
	searching = idle_park(&rt->idle, &worker->seat, searching, &look,
			      deadline_ns);
	gauge_idle_end(&worker->idle, os_now());
	if (polls)
		poller_leave(worker);
	trace_event(&worker->trace, TRACE_UNPARK, 0);
	monitor_nudge(&rt->monitor);
	worker_fire_timers(worker);
	return searching;
}

static struct sley_task *search(struct worker *worker, bool searching,
				bool asks_sources)
{
	uint32_t spin_ns = SPINS ? spin_time(worker) : 0;
	struct sley_task *task;

	if (searching)
		/* relaxed: a hint for place_foreign(). */
		store_relaxed(&worker->rt->spinner, worker->index + 1);
	task = look_once(worker, asks_sources);
	return task || !spin_ns ? task : spin(worker, searching, spin_ns);
}

/* Of a worker that may run: everywhere, for a while. */
static struct sley_task *search_on(struct worker *worker, bool searching,
				   bool asks_sources)
{
	struct sley_task *task;

	if (unlikely(worker->wanders))
		victims_look_around(&worker->rt->victims, worker->index);
	worker_fire_timers(worker);
	task = search(worker, searching, asks_sources);
	if (!task && !lease_is_asked(&worker->lease))
		task = seize(worker);
	return task;
}

/* Before the worker looks for work: it may have to have a core. */
static inline enum lease_right settle(struct worker *worker)
{
	if (lease_is_on(&worker->rt->lease) || lease_is_asked(&worker->lease))
		return lease_settle(worker);
	return LEASE_RUNS;
}

/* With the core, or without. */
static bool park_settled(struct worker *worker, bool searching)
{
	if (lease_is_on(&worker->rt->lease))
		lease_return(worker);
	return park(worker, searching);
}

static struct sley_task *search_and_park(struct worker *worker, bool *searching,
					 enum lease_right right)
{
	bool first = true;

	for (;;) {
		struct sley_task *task = NULL;

		/* The sources had nothing a moment ago, and may cost a system call. */
		if (likely(right != LEASE_PARKS))
			task = search_on(worker, *searching, !first);
		first = false;
		if (task || stopping(worker))
			return task;
		if (!lease_is_asked(&worker->lease)) {
			/* Functions of the user are work, too. */
			if (right == LEASE_RUNS && hooks_call_idle(worker))
				continue;
			*searching = park_settled(worker, *searching);
		}
		right = settle(worker);
	}
}

struct sley_task *worker_search(struct worker *worker)
{
	bool searching = resume_search(worker);
	enum lease_right right = settle(worker);
	struct sley_task *task = NULL;

	if (likely(right != LEASE_PARKS))
		task = look_once(worker, true);
	if (likely(task)) {
		worker->lease.unused = false;
		if (searching)
			keep_or_end_search(worker, task);
		worker_expect_timers(worker);
		return task;
	}
	worker->nr_kept = 0;
	if (!searching)
		searching = idle_search_begin(&worker->rt->idle);
	task = search_and_park(worker, &searching, right);
	worker->lease.unused = false;
	if (searching)
		keep_or_end_search(worker, task);
	worker_expect_timers(worker);
	sources_expect(worker->rt);
	return task;
}
