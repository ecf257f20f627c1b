/* SPDX-License-Identifier: MIT */
/*
 * member.c - see member.h.
 */
#include "domain/member.h"

#include "base/bits.h"
#include "core/life/sley.h"
#include "core/sched/runq.h"
#include "core/sched/worker.h"
#include "domain/lowering.h"
#include "os/clock.h"
#include "os/map.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <string.h>

/* Without os_futex_wait_many(): a core that is given is found so late. */
#define LOOK_NS 500000u

_Static_assert(DOMAIN_LEVEL_DEFAULT == LEVEL_DEFAULT,
	       "the ledger has no core/");

/* ---- the kernel's help: domain/slices.h --------------------------------------------------- */

/* By a worker that has, or wants, a core. */
static void meet(struct domain_member *member)
{
	slices_meet(&member->slices, worker_current()->index);
}

/* Does a task of @level count as default work among the members, or as less urgent? */
static bool is_ordinary(const struct domain_member *member, unsigned int level)
{
	return level != LEASE_NO_LEVEL &&
	       domain_counted(&member->view, member->view.self, level) >=
		       LEVEL_DEFAULT;
}

/* By the tick: a worker that runs default work, or less urgent work, gets a long slice. */
static void arrange_slices(struct domain_member *member)
{
	uint32_t nr_peers;

	spin_lock(&member->lock);
	nr_peers = member->nr_peers;
	spin_unlock(&member->lock);
	if (!nr_peers) {
		(void)slices_restore(&member->slices);
		return;
	}
	for (uint32_t i = 0; i < member->rt->nr_workers; i++) {
		slices_see(&member->slices, i,
			   is_ordinary(member, lease_runs_of(member->rt, i)));
	}
}

/* ---- what the gate asks ---------------------------------------------------------------- */

/* The busy @core was taken just now: which process gave the core? */
static uint32_t giver_of(const struct domain_member *member, int core)
{
	uint64_t word = member_core(member->view.own, (uint32_t)core);
	uint32_t giver = core_member(word);

	return giver < DOMAIN_MEMBERS_MAX ? giver : LEASE_HOST;
}

static int op_take(void *arg, uint32_t *from)
{
	struct domain_member *member = arg;
	int core = cores_resume(&member->view);

	meet(member);
	*from = LEASE_NO_PEER;
	if (core != DOMAIN_NO_CORE)
		return core;
	core = cores_take(&member->view);
	if (core != DOMAIN_NO_CORE) {
		*from = giver_of(member, core);
		/* relaxed: a figure. */
		(void)add_relaxed(&member->nr_taken, 1);
	}
	return core;
}

/* In the numbers of the gate. */
static uint32_t peer_or_none(int peer)
{
	return peer == WANTS_NOBODY ? LEASE_NO_PEER : (uint32_t)peer;
}

static uint32_t op_put(void *arg, int core)
{
	struct domain_member *member = arg;

	return peer_or_none(wants_leave(&member->wants, (uint32_t)core));
}

/* The wish of the host for @core, if it has not been obeyed; or DOMAIN_NOBODY. */
static uint32_t wish_for(const struct domain_member *member, uint32_t core)
{
	uint32_t wish = host_wish(member->view.host, core);

	/* relaxed: one worker has the core. */
	return wish == load_relaxed(&member->obeyed[core]) ? DOMAIN_NOBODY
							   : wish_member(wish);
}

static uint32_t op_give(void *arg, int core, unsigned int level)
{
	struct domain_member *member = arg;
	uint32_t wish = host_wish(member->view.host, (uint32_t)core);
	uint32_t to = wish_for(member, (uint32_t)core);

	if (!wants_serve_peer(&member->wants, (uint32_t)core, to))
		return peer_or_none(
			wants_serve(&member->wants, (uint32_t)core, level));
	/* relaxed: as above. */
	store_relaxed(&member->obeyed[core], wish);
	return to;
}

static void op_rest(void *arg, bool parks)
{
	struct domain_member *member = arg;
	uint32_t i = worker_current()->index;

	if (parks)
		slices_shorten(&member->slices, i);
	else
		slices_stand(&member->slices, i);
}

static void op_start(void *arg, unsigned int level)
{
	struct domain_member *member = arg;

	slices_leave(&member->slices, worker_current()->index,
		     is_ordinary(member, level));
}

static void op_wake(void *arg)
{
	struct domain_member *member = arg;

	cores_wake(&member->view);
}

static bool op_holds(void *arg, int core)
{
	struct domain_member *member = arg;

	return cores_hold(&member->view, (uint32_t)core);
}

static bool op_look(void *arg, unsigned int level)
{
	struct domain_member *member = arg;

	return wants_look(&member->wants, level) != WANTS_NOBODY;
}

static bool op_overtakes(void *arg, unsigned int level)
{
	struct domain_member *member = arg;

	return wants_runs_below(&member->wants, level);
}

static void op_want(void *arg, unsigned int nr, unsigned int level)
{
	struct domain_member *member = arg;

	wants_tell(&member->wants, nr, level);
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* On the words of all givers at once; false: the kernel cannot. */
static bool wait_for_all(struct domain_member *member, const uint32_t *word,
			 uint32_t value, uint64_t deadline_ns)
{
	struct os_futex_word words[CORES_WORDS_MAX];
	int nr = 1 + cores_words(&member->view, words + 1), err;

	words[0] = (struct os_futex_word){ .word = word,
					   .expected = value,
					   .is_private = true };
	err = os_futex_wait_many(words, nr, deadline_ns);
	if (err == -ENOSYS)
		/* relaxed: advice. */
		store_relaxed(&member->no_wait_many, 1);
	return err != -ENOSYS && err != -ENOMEM;
}

static void wait_once(struct domain_member *member, const uint32_t *word,
		      uint32_t value, uint64_t deadline_ns)
{
	uint64_t look_ns = os_now() + LOOK_NS;

	/* relaxed: advice. */
	if (!load_relaxed(&member->no_wait_many) &&
	    wait_for_all(member, word, value, deadline_ns))
		return;
	if (!cores_have_news(&member->view))
		(void)os_futex_wait(word, value,
				    deadline_ns < look_ns ? deadline_ns
							  : look_ns);
}

static void op_wait(void *arg, const uint32_t *word, uint32_t value,
		    uint64_t deadline_ns)
{
	struct domain_member *member = arg;
	uint64_t begin = os_now(), took;

	wait_once(member, word, value, deadline_ns);
	took = os_now() - begin;
	/* relaxed: figures. */
	(void)add_relaxed(&member->wait_ns, took);
	if (took > load_relaxed(&member->wait_max_ns))
		store_relaxed(&member->wait_max_ns, took);
}

/* ---- the tick --------------------------------------------------------------------------- */

/* Workers that the host may lower.  More than there is room for are not named. */
static void name_long_workers(struct domain_member *member)
{
	uint32_t nr_workers = member->rt->nr_workers, nr = 0;

	for (uint32_t i = 0; i < nr_workers && nr < DOMAIN_TIDS; i++) {
		int32_t tid = slices_long(&member->slices, i);

		if (tid)
			member_tid_set(member->view.own, nr++, tid);
	}
	while (nr < DOMAIN_TIDS)
		member_tid_set(member->view.own, nr++, 0);
}

static void show(struct domain_member *member)
{
	struct sley *rt = member->rt;
	struct member_figures figures;

	member_beat(member->view.own);
	member_show(member->view.own,
		    runq_hint(&rt->runq) | lease_levels_bound(rt),
		    lease_runs(rt), levels_length(&rt->runq.levels));
	member_read_figures(member, &figures);
	member_show_figures(member->view.own, &figures);
}

/* Cores whose giver could not wake anybody, or that nobody has waited for. */
static void take_left_over(struct domain_member *member)
{
	for (uint32_t i = 0; i < member->view.nr_cores; i++) {
		int core = cores_take_any(&member->view);

		if (core == DOMAIN_NO_CORE)
			return;
		if (!want_nr(member_want(member->view.own))) {
			(void)wants_leave(&member->wants, (uint32_t)core);
			continue;
		}
		(void)cores_leave(&member->view, (uint32_t)core);
		lease_kick(member->rt);
	}
}

/*
 * The own page says of a lost core that the core is lost, also if no worker has noted the
 * core yet.  Workers that have a core which is lost, or which another member may have a better
 * right to, look.  Each worker knows what it could run, and gives only for more urgent work.
 * What this thread sees a worker run does not count: the kernel may refuse the look.
 */
static void ask_workers(struct domain_member *member)
{
	bool all = wants_look(&member->wants, WANTS_ANY_LEVEL) != WANTS_NOBODY;

	for (uint32_t core = 0; core < member->view.nr_cores; core++) {
		if (!cores_is_busy(&member->view, core))
			continue;
		if (!cores_hold(&member->view, core) || all ||
		    wish_for(member, core) < DOMAIN_MEMBERS_MAX)
			lease_ask(member->rt, (int)core);
	}
}

static void op_tick(void *arg, uint64_t now_ns)
{
	struct domain_member *member = arg;

	(void)now_ns;
	wants_tick(&member->wants);
	show(member);
	take_left_over(member);
	ask_workers(member);
	arrange_slices(member);
	name_long_workers(member);
}

static const struct lease_ops ops = {
	.take = op_take,
	.put = op_put,
	.give = op_give,
	.wake = op_wake,
	.rest = op_rest,
	.start = op_start,
	.holds = op_holds,
	.look = op_look,
	.overtakes = op_overtakes,
	.want = op_want,
	.wait = op_wait,
	.tick = op_tick,
};

/* ---- peers ------------------------------------------------------------------------------ */

/* Of the address of one page to the next: a mapping is whole pages of the system. */
static size_t stride(void)
{
	size_t size = os_page_size();

	return size > DOMAIN_PAGE_SIZE ? size : DOMAIN_PAGE_SIZE;
}

static void *page_place(const struct domain_member *member, uint32_t index)
{
	return member->peers + index * stride();
}

/* Under the lock. */
static void set_mode(struct domain_member *member)
{
	lease_set_mode(member->rt, !member->nr_peers ? LEASE_ALONE
				   : member->strict  ? LEASE_STRICT
						     : LEASE_RELAXED);
}

static void count_peers(struct domain_member *member, int more)
{
	spin_lock(&member->lock);
	member->nr_peers += (uint32_t)more;
	set_mode(member);
	spin_unlock(&member->lock);
	/* The leader sleeps on the words of the peers that were there before. */
	lease_kick(member->rt);
}

int member_add_peer(struct domain_member *member, uint32_t index,
		    uint64_t generation, int fd)
{
	int err;

	if (index >= DOMAIN_MEMBERS_MAX || index == member->view.self ||
	    !generation || os_shared_memory_size(fd) != DOMAIN_PAGE_SIZE)
		return -EPROTO;
	err = os_shared_memory_map_over(fd, DOMAIN_PAGE_SIZE,
					page_place(member, index));
	if (err)
		return err;
	count_peers(member, !member->peer_generation[index]);
	member->peer_generation[index] = generation;
	return 0;
}

void member_remove_peer(struct domain_member *member, uint32_t index,
			uint64_t generation)
{
	if (index >= DOMAIN_MEMBERS_MAX ||
	    member->peer_generation[index] != generation)
		return;
	/* Without memory the page stays: the host says that nobody lives there. */
	(void)!os_shared_memory_blank_over(page_place(member, index),
					   DOMAIN_PAGE_SIZE);
	member->peer_generation[index] = 0;
	count_peers(member, -1);
}

void member_set_strict(struct domain_member *member, bool strict)
{
	spin_lock(&member->lock);
	member->strict = strict;
	set_mode(member);
	spin_unlock(&member->lock);
	member_strict_set(member->view.own, strict);
}

/* ---- begin and end ---------------------------------------------------------------------- */

void member_page_begin(struct member_page *page)
{
	page->magic = DOMAIN_MEMBER_MAGIC;
	page->version = DOMAIN_PAGE_VERSION;
	page->runs = MEMBER_RUNS_NOTHING;
}

static bool is_sane(const struct host_page *host, uint32_t index,
		    uint64_t generation)
{
	return host->magic == DOMAIN_HOST_MAGIC &&
	       host->version == DOMAIN_PAGE_VERSION && host->nr_cores &&
	       host->nr_cores <= DOMAIN_CORES_MAX &&
	       index < DOMAIN_MEMBERS_MAX && generation && host->tick_ns;
}

static int begin_view(struct domain_member *member)
{
	member->peers = os_map(DOMAIN_MEMBERS_MAX * stride());
	if (!member->peers)
		return -ENOMEM;
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		member->view.page[i] = page_place(member, i);
	wants_init(&member->wants, &member->view);
	return 0;
}

int member_begin(struct domain_member *member, struct sley *rt,
		 struct member_page *page, const struct host_page *host,
		 uint32_t index, uint64_t generation)
{
	struct lease_terms terms = LEASE_TERMS_DEFAULT;
	bool strict = member->strict;
	int err;

	if (!is_sane(host, index, generation))
		return -EPROTO;
	*member = (struct domain_member){ .rt = rt,
					  .host = host,
					  .strict = strict,
					  .view = { .self = index,
						    .nr_cores = host->nr_cores,
						    .own = page,
						    .host = host } };
	err = begin_view(member);
	if (err)
		return err;
	err = slices_init(&member->slices, &rt->mem, rt->nr_workers);
	if (err) {
		os_unmap(member->peers, DOMAIN_MEMBERS_MAX * stride());
		return err;
	}
	member_generation_set(page, generation);
	terms.self = index;
	terms.tick_ns = host->tick_ns;
	lease_read_counters(rt, &member->before);
	err = lease_switch_on(rt, &ops, member, &terms);
	if (err) {
		slices_fini(&member->slices, &rt->mem);
		os_unmap(member->peers, DOMAIN_MEMBERS_MAX * stride());
	} else {
		member_set_strict(member, strict);
	}
	return err;
}

void member_stop(struct domain_member *member)
{
	lease_switch_off(member->rt);
	(void)slices_restore(&member->slices);
}

uint32_t member_raise(struct domain_member *member)
{
	if (!(host_lowered(member->host) >> member->view.self & 1))
		return 0;
	return slices_raise(&member->slices, LOWERING_NICE);
}

void member_end(struct domain_member *member)
{
	slices_fini(&member->slices, &member->rt->mem);
	os_unmap(member->peers, DOMAIN_MEMBERS_MAX * stride());
	os_unmap(member->view.own, DOMAIN_PAGE_SIZE);
	os_unmap((void *)(uintptr_t)member->host, DOMAIN_PAGE_SIZE);
}

/* ---- figures ---------------------------------------------------------------------------- */

uint32_t member_nr_held(const struct domain_member *member)
{
	return cores_nr_held(&member->view);
}

/* The priority of work above which the host lets none count. */
int member_most_urgent(const struct domain_member *member)
{
	return (int)host_highest(member->view.host, member->view.self) -
	       LEVEL_DEFAULT;
}

void member_read_figures(const struct domain_member *member,
			 struct member_figures *out)
{
	struct lease_counters now;

	lease_read_counters(member->rt, &now);
	/* relaxed: figures. */
	*out = (struct member_figures){
		.nr_given = wants_nr_given(&member->wants),
		.nr_taken = load_relaxed(&member->nr_taken),
		.nr_overtook = now.overtook - member->before.overtook,
		.nr_in_vain = now.in_vain - member->before.in_vain,
		.nr_asked = now.looks - member->before.looks,
		.nr_waits = now.waits - member->before.waits,
		.wait_ns = load_relaxed(&member->wait_ns),
		.wait_max_ns = load_relaxed(&member->wait_max_ns),
	};
}
