/* SPDX-License-Identifier: MIT */
/*
 * search.c - where a worker looks for work, in which order, and how it parks.
 *
 * Level first, source second.  Within the default level: tasks that may run
 * here only (they are woken, and resuming goes before starting: each started
 * task may need a stack), the next slot, the ring, the lane, children of forks
 * whose parents are suspended here, the spill of the shared queue, and then the other
 * workers.  Tasks from outside have half of the time: see core/sched/outside.h.
 *
 * A task that has yielded goes behind the tasks in the sources after its own: see
 * core/sched/yielded.h.
 *
 * No queue may starve another: a fair pick looks at the timers, at the sources outside
 * of the scheduler (core/sched/source.h), and then at the default level's queues in
 * rotating order.  Every FAIR_TICK-th pick is fair, or more of them where tasks are
 * long: see core/sched/pace.h.  The next slot is passed over every NEXT_STREAK-th time.
 *
 * A search goes on for the price of a wake-up: looking for as long as a wake-up
 * would take costs at most twice as much as the best choice.  The user may choose
 * another time (.spin_us), and a source of work may ask for more
 * (runtime_set_spin_floor()).  A search that was in vain halves the time of the next
 * search, a search that found work restores it, so that a worker with one short
 * task per millisecond sleeps.
 *
 * Edges:
 *
 *   P2  see core/sched/worker.h
 *   P3  see core/sched/worker.h
 */
#include "core/sched/place.h"
#include "core/sched/worker.h"

#include "core/life/drain.h"
#include "core/life/hooks.h"
#include "core/sched/poller.h"
#include "core/sched/steal.h"
#include "core/life/runtime.h"
#include "core/sched/source.h"
#include "core/sched/yielded.h"
#include "os/clock.h"
#include "os/thread.h"

#define FAIR_TICK 61
#define NR_SOURCES 6 /* of a fair pick */
#define TICK_NS(worker) ((worker)->rt->config.tick_us * 1000ull)
#define NEXT_STREAK 16
#define SPILL_BATCH 16
#define SPIN_NS_MIN 1000
#define SPIN_ROUNDS_PER_LOOK 4
#define SPIN_ROUNDS_PER_CLOCK 32
#ifndef SLEY_MODEL
#define SPINS true
#else
#define SPINS                                                                  \
	false /* in a model anything may come between two looks as it is */
#endif

#define BIT_DEFAULT (1ull << LEVEL_DEFAULT)
#define BITS_URGENT (BIT_DEFAULT - 1)
#define BITS_LOW (~(BITS_URGENT | BIT_DEFAULT))
_Static_assert(BITS_URGENT <= UINT32_MAX, "has_first() looks at 32 bits");

static struct sley_task *take_next(struct worker *worker)
{
	return next_take(&worker->next);
}

static struct sley_task *pick_next(struct worker *worker)
{
	if (likely(next_empty(&worker->next)))
		return NULL;
	if (++worker->next_streak >= chaos_few(NEXT_STREAK, 2)) {
		worker->next_streak = 0;
		return NULL;
	}
	return take_next(worker);
}

static struct sley_task *pick_fresh(struct worker *worker)
{
	if (likely(!worker->fresh.first))
		return NULL;
	levels_count(&worker->ready, -1u);
	return fifo_take(&worker->fresh);
}

static struct sley_task *pick_ring(struct worker *worker)
{
	return ring_take(&worker->ring);
}

/* One task from the lane of @victim; the rest goes to the worker's own ring. */
static struct sley_task *take_lane(struct worker *worker, struct worker *victim)
{
	struct sley_task *task = place_take_lane(victim);

	if (task)
		place_chain(worker, task->next);
	return task;
}

static struct sley_task *pick_lane(struct worker *worker)
{
	return take_lane(worker, worker);
}

/*
 * A task that was taken by itself, from a source of the default level.  If the
 * task has another level, because its level has changed or is its parent's, the
 * task takes its turn there.
 */
static struct sley_task *only_default(struct worker *worker,
				      struct sley_task *task)
{
	if (likely(!task || task_level(task) == LEVEL_DEFAULT))
		return task;
	place_spawned(worker, task);
	return NULL;
}

/* A child of a parent that is suspended here. */
static struct sley_task *pick_left_behind(struct worker *worker)
{
	/* relaxed: a glance; the lock comes later. */
	if (likely(!load_relaxed(&worker->nr_parents)))
		return NULL;
	return only_default(worker, fork_steal(worker, worker));
}

static struct sley_task *pick_spill(struct worker *worker)
{
	struct sley_task *task[1 + SPILL_BATCH];
	struct runq *runq = &worker->rt->runq;
	unsigned int more = (unsigned int)chaos_few(SPILL_BATCH, 1), nr;

	if (!(runq_hint(runq) & BIT_DEFAULT))
		return NULL;
	/* In the ring more tasks would be behind the line, drawn there, too. */
	if (unlikely(yielded_line(worker)))
		more = 0;
	nr = runq_take_spill(runq, task, 1 + more);
	if (nr > 1)
		place_batch(worker, task + 1, nr - 1);
	return nr ? task[0] : NULL;
}

/* One by one: in the ring they would be behind local tasks. */
static struct sley_task *pick_outside(struct worker *worker)
{
	struct runq *runq = &worker->rt->runq;

	return runq_has_first(runq) ? runq_take(runq, LEVEL_DEFAULT) : NULL;
}

/* ---- before a task that has yielded: core/sched/yielded.h ------------------------- */

/* Is there a task of @level outside the ready list? */
static inline bool has_elsewhere(const struct worker *worker,
				 unsigned int level)
{
	if (runq_hint(&worker->rt->runq) & 1ull << level)
		return true;
	return level == LEVEL_DEFAULT &&
	       (!next_empty(&worker->next) ||
		ring_head(&worker->ring) != ring_tail(&worker->ring) ||
		!push_list_empty(&worker->lane) ||
		/* relaxed: a glance, at the next time as good as now. */
		load_relaxed(&worker->nr_parents));
}

static void draw_line(struct worker *worker, struct line *line,
		      unsigned int level)
{
	if (level == LEVEL_DEFAULT) {
		place_chain(worker, place_take_lane(worker));
	}
	*line = (struct line){
		.state = LINE_DRAWN + level,
		.ring = (uint32_t)ring_tail(&worker->ring),
		.shared = runq_pushed(&worker->rt->runq, level),
		.spill = runq_pushed(&worker->rt->runq, RUNQ_SPILL),
		.child = true,
	};
}

/* A task that goes before the task of @strand, whose line is drawn; or NULL. */
static struct sley_task *take_before_line(struct worker *worker,
					  struct line *line, unsigned int level)
{
	struct runq *runq = &worker->rt->runq;
	struct sley_task *task = NULL;

	if (level == LEVEL_DEFAULT && line_left(line, ring_head(&worker->ring)))
		task = ring_take(&worker->ring);
	if (!task && level == LEVEL_DEFAULT &&
	    (runq_hint(runq) & BIT_DEFAULT) &&
	    !runq_reached(runq, RUNQ_SPILL, line->spill))
		(void)runq_take_spill(runq, &task, 1);
	if (!task && (runq_hint(runq) & 1ull << level) &&
	    !runq_reached(runq, level, line->shared))
		task = runq_take(runq, level);
	if (!task && level == LEVEL_DEFAULT && line->child) {
		line->child = false;
		task = pick_left_behind(worker);
	}
	return task;
}

static noinline struct sley_task *
take_before(struct worker *worker, struct strand *strand, unsigned int level)
{
	struct line *line = &strand->line;
	struct sley_task *task;

	if (line->state != LINE_DRAWN + level) {
		draw_line(worker, line, level);
		if (level == LEVEL_DEFAULT && (task = take_next(worker)))
			return task;
	}
	return take_before_line(worker, line, level);
}

/* A task there may have yielded. */
static inline __attribute__((always_inline)) struct sley_task *
take_in_turn(struct worker *worker, unsigned int level)
{
	struct sley_task *task = worker->ready.fifo[level].first;
	struct strand *strand;

	if (unlikely(has_elsewhere(worker, level)) &&
	    (strand = yielded_strand(task)) &&
	    (task = take_before(worker, strand, level)))
		return task;
	return yielded_take(worker, level);
}

/* The same for the default level, which is not empty. */
static noinline struct sley_task *take_default_in_turn(struct worker *worker)
{
	return take_in_turn(worker, LEVEL_DEFAULT);
}

/* From the ready list of the default level, which is not empty. */
static inline __attribute__((always_inline)) struct sley_task *
take_ready(struct worker *worker)
{
	if (unlikely(worker->yielded))
		return take_default_in_turn(worker);
	return levels_take(&worker->ready, LEVEL_DEFAULT);
}

static struct sley_task *pick_ready(struct worker *worker)
{
	return worker->ready.bitmap & BIT_DEFAULT ? take_ready(worker) : NULL;
}

/* ---- by level ---------------------------------------------------------------- */

/* All levels at which there is a task for @worker. */
static uint64_t levels_waiting(const struct worker *worker)
{
	return worker->ready.bitmap | runq_hint(&worker->rt->runq);
}

/* From @level.  NULL: other workers were faster. */
static struct sley_task *take_level(struct worker *worker, unsigned int level)
{
	if (worker->ready.bitmap & 1ull << level)
		return take_in_turn(worker, level);
	return runq_take(&worker->rt->runq, level);
}

/* The most urgent task of the levels @bits; NULL: there is no task. */
static struct sley_task *take_most_urgent(struct worker *worker, uint64_t bits)
{
	for (; bits; bits &= bits - 1) {
		unsigned int level = (unsigned int)bits_first(bits);
		struct sley_task *task = take_level(worker, level);

		if (task)
			return task;
	}
	return NULL;
}

static struct sley_task *pick_urgent(struct worker *worker)
{
	return take_most_urgent(worker, levels_waiting(worker) & BITS_URGENT);
}

/* Less urgent than the default: only if there is nothing else anywhere. */
struct sley_task *worker_pick_low(struct worker *worker, unsigned int lowest)
{
	uint64_t bits = ~0ull >> (NR_LEVELS - 1 - lowest) & BITS_LOW;
	struct sley_task *task =
		take_most_urgent(worker, levels_waiting(worker) & bits);

	/* The task may begin on this strand: see core/sched/overtake.h. */
	if (task)
		fork_stack_drop_limit(&worker->strand->forks);
	return task;
}

void worker_fire_timers(struct worker *worker)
{
	uint64_t next_ns = timers_next(&worker->timers);

	if (next_ns != UINT64_MAX) {
		uint64_t now_ns = os_now();

		if (next_ns <= now_ns)
			timers_fire(&worker->timers, now_ns);
	}
}

/*
 * A task that is about to wait holds the lock of its object until the task has
 * left its stack.  Nothing long is done before that: no alarm rings, no list is
 * emptied, no batch is moved.  An idle strand looks for the tasks that are not at
 * hand.
 */
static bool picks_under_lock(const struct worker *worker)
{
	return after_is_wait(&worker->after) && worker->after.q;
}

/* Before a look at all things that the poke may be about. */
static void take_poke(struct worker *worker)
{
	worker->tick = pace_next(&worker->pace, worker->tick, FAIR_TICK,
				 os_now(), TICK_NS(worker) / NR_SOURCES);
	/*
	 * Not a store: later loads might come before the store, and then the
	 * store would wipe out a poke that came in between.
	 */
	/* relaxed: a glance; a poke that comes now is there the next time. */
	if (load_relaxed(&worker->poke))
		(void)xchg_acquire(&worker->poke, 0); /* P3 */
}

/* All things that make tasks ready, besides tasks. */
static void look_after_all(struct worker *worker)
{
	take_poke(worker);
	worker_fire_timers(worker);
	runtime_cancel_strands(worker);
	place_arrivals(worker);
	place_lane(worker);
	place_resort(worker);
}

/* Is there more to do at a fair pick than to take a task that is at hand? */
static bool would_take_long(struct worker *worker)
{
	uint64_t next_ns = timers_next(&worker->timers);

	return !push_list_empty(&worker->home) ||
	       !push_list_empty(&worker->lane) || place_has_changed(worker) ||
	       runq_hint(&worker->rt->runq) ||
	       /* relaxed: a glance, at the next time as good as now. */
	       load_relaxed(&worker->nr_parents) ||
	       (runtime_is_cancelled(worker->rt) && !worker->cancelled) ||
	       sources_exist(worker->rt) ||
	       (next_ns != UINT64_MAX && next_ns <= os_now());
}

/* Local work of the default level, here or in the spill. */
static bool has_local_work(const struct worker *worker)
{
	return worker->ready.bitmap & BIT_DEFAULT || worker->fresh.first ||
	       !next_empty(&worker->next) || ring_size(&worker->ring) ||
	       !push_list_empty(&worker->lane) ||
	       runq_has_spill(&worker->rt->runq) ||
	       /* relaxed: a glance, at the next time as good as now. */
	       load_relaxed(&worker->nr_parents);
}

/* A task from outside, if it is their turn: see core/sched/outside.h. */
static struct sley_task *pick_in_time(struct worker *worker)
{
	struct runq *runq = &worker->rt->runq;
	struct outside *outside = &worker->outside;
	struct sley_task *task;

	if (!runq_has_first(runq) && !outside->runs)
		return NULL;
	if (!has_local_work(worker)) {
		outside_forget(outside);
		return pick_outside(worker);
	}
	if (!outside_is_next(outside, os_now(), TICK_NS(worker)))
		return NULL;
	task = pick_outside(worker);
	if (task) {
		outside->runs = true;
		/* After the last of them a fair pick draws the balance. */
		if (!runq_has_first(runq))
			worker->tick = FAIR_TICK;
	}
	return task;
}

/* Before all others: the urgent, and tasks from outside in their turn. */
static noinline struct sley_task *pick_first(struct worker *worker)
{
	struct sley_task *task = pick_urgent(worker);

	return task ? task : pick_in_time(worker);
}

/* May there be such a task? */
static inline bool has_first(const struct worker *worker)
{
	return (uint32_t)(worker->ready.bitmap & BITS_URGENT) |
	       runq_has_first(&worker->rt->runq);
}

static noinline struct sley_task *pick_fair(struct worker *worker)
{
	static struct sley_task *(*const source[NR_SOURCES])(
		struct worker *) = {
		pick_spill, pick_left_behind, pick_ring,
		take_next,  pick_fresh,       pick_ready,
	};
	struct sley_task *task;

	if (!picks_under_lock(worker)) {
		look_after_all(worker);
	} else {
		/*
		 * One look, without a second look by look_after_all(): a timer
		 * that is due only then would ring under the lock.
		 */
		take_poke(worker);
		if (would_take_long(worker)) {
			worker->tick = FAIR_TICK; /* the next pick is fair */
			return NULL;
		}
	}
	task = pick_urgent(worker);
	if (!task && (task = source_pick(worker)) && worker->sources_left)
		worker->tick = FAIR_TICK; /* the other sources come next */
	if (!task)
		task = pick_in_time(worker);
	worker->fair++;
	for (unsigned int i = 0; !task && i < NR_SOURCES; i++)
		task = source[(worker->fair + i) % NR_SOURCES](worker);
	return task ? task : pick_outside(worker);
}

static struct sley_task *steal_needlessly(struct worker *worker);

/* Is it time to look at everything? */
static inline bool is_fair_pick(struct worker *worker)
{
	/* relaxed: a request, obeyed sooner or later. */
	return ++worker->tick >= chaos_few(FAIR_TICK, 3) ||
	       load_relaxed(&worker->poke) || place_has_changed(worker);
}

/* Work of the default level or above, here or in the shared queue. */
static bool has_other_work(const struct worker *worker)
{
	return levels_waiting(worker) & ~BITS_LOW || has_local_work(worker);
}

/*
 * In place of a fair pick.  With nothing else to do the task stays in hand: in a
 * queue another worker would find the task, and a chain of short turns would go
 * to and fro.
 */
static noinline bool may_keep_fairly(struct worker *worker)
{
	look_after_all(worker);
	if (!has_other_work(worker) && !sources_wait(worker))
		return true;
	worker->tick = FAIR_TICK;
	return false;
}

bool worker_may_keep(struct worker *worker)
{
	if (unlikely(worker->step)) {
		worker->tick = FAIR_TICK;
		return false;
	}
	if (unlikely(is_fair_pick(worker)))
		return may_keep_fairly(worker);
	return push_list_empty(&worker->home) && !has_first(worker) &&
	       !chaos_says(CHAOS_STEAL);
}

struct sley_task *worker_pick_above(struct worker *worker, unsigned int level)
{
	uint64_t above = (1ull << level) - 1;

	if (likely(level <= LEVEL_DEFAULT))
		return take_most_urgent(worker, levels_waiting(worker) & above);
	if (has_other_work(worker))
		return worker_pick(worker);
	return level > LEVEL_DEFAULT + 1 ? worker_pick_low(worker, level - 1)
					 : NULL;
}

/* Tasks that other threads have left for this worker, or for all workers. */
static noinline struct sley_task *pick_farther(struct worker *worker)
{
	struct sley_task *task;

	if (picks_under_lock(worker))
		return NULL;
	task = pick_lane(worker);
	if (!task && !(task = pick_left_behind(worker)))
		task = pick_spill(worker);
	return task ? task : pick_outside(worker);
}

struct sley_task *worker_pick(struct worker *worker)
{
	struct sley_task *task;

	if (unlikely(worker->step)) {
		task = worker->step;
		worker->step = NULL;
		return task;
	}
	if (unlikely(is_fair_pick(worker)))
		return pick_fair(worker);
	if (unlikely(!push_list_empty(&worker->home)))
		place_arrivals(worker);
	if (unlikely(has_first(worker))) {
		task = pick_first(worker);
		if (task)
			return task;
	}
	if (chaos_says(CHAOS_STEAL) && (task = steal_needlessly(worker)))
		return task;
	if (worker->ready.bitmap & BIT_DEFAULT)
		return take_ready(worker);
	if ((task = pick_next(worker)) || (task = pick_fresh(worker)) ||
	    (task = pick_ring(worker)))
		return task;
	return pick_farther(worker);
}

/* ---- from other workers -------------------------------------------------- */

static struct sley_task *steal_from(struct worker *worker,
				    struct worker *victim)
{
	uint32_t changes = load_acquire(&victim->changes); /* P2 */
	struct sley_task *task = ring_steal_half(&victim->ring, &worker->ring);

	if (!task)
		task = take_lane(worker, victim);
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
	return only_default(worker, take_from_others(worker, fork_seize));
}

/* Chaos: although there is work here. */
static struct sley_task *steal_needlessly(struct worker *worker)
{
	return only_default(worker, steal(worker));
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
	if (!push_list_empty(&worker->home) || levels_waiting(worker) ||
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

static struct sley_task *look_once(struct worker *worker)
{
	struct sley_task *task = worker_pick(worker);

	if (!task)
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
static uint32_t spin_time(const struct worker *worker)
{
	uint32_t floor_ns = runtime_spin_floor(worker->rt);

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
	for (unsigned int round = 1; !task && !stopping(worker); round++) {
		bool look = searching && round % SPIN_ROUNDS_PER_LOOK == 0;

		if (round % SPIN_ROUNDS_PER_CLOCK == 0 &&
		    (now_ns = os_now()) >= until_ns)
			break;
		spin_hint(&worker->home);
		if (look || is_called(worker))
			task = look_once(worker);
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

static struct sley_task *search(struct worker *worker, bool searching)
{
	uint32_t spin_ns = SPINS ? spin_time(worker) : 0;
	struct sley_task *task;

	if (searching)
		/* relaxed: a hint for place_foreign(). */
		store_relaxed(&worker->rt->spinner, worker->index + 1);
	task = look_once(worker);
	return task || !spin_ns ? task : spin(worker, searching, spin_ns);
}

struct sley_task *worker_search(struct worker *worker)
{
	struct sley_task *task = look_once(worker);
	bool searching;

	if (likely(task)) {
		worker_expect_timers(worker);
		return task;
	}
	searching = idle_search_begin(&worker->rt->idle);
	for (;;) {
		if (unlikely(worker->wanders))
			victims_look_around(&worker->rt->victims,
					    worker->index);
		worker_fire_timers(worker);
		task = search(worker, searching);
		if (!task)
			task = seize(worker);
		if (task || stopping(worker))
			break;
		if (hooks_call_idle(worker))
			continue;
		searching = park(worker, searching);
	}
	if (searching)
		end_search(worker);
	worker_expect_timers(worker);
	sources_expect(worker->rt);
	return task;
}
