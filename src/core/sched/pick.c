/* SPDX-License-Identifier: MIT */
/*
 * pick.c - which of the tasks at hand a worker takes next.
 *
 * Level first, source second.  Within the default level: tasks that may run
 * here only (they are woken, and resuming goes before starting: each started
 * task may need a stack), the next slot, the ring, the lane, children of forks
 * whose parents are suspended here, and the spill of the shared queue.  Tasks from
 * outside have half of the time: see core/sched/outside.h.  The other workers come
 * last: see search.c.
 *
 * A task that has yielded goes behind the tasks in the sources after its own: see
 * core/sched/yielded.h.  Tasks from outside go before it, too, but have half of the time
 * only: meanwhile the worker runs the local tasks that are behind the task.
 *
 * No queue may starve another: a fair pick looks at the timers, at the sources outside
 * of the scheduler (core/sched/source.h), and then at the default level's queues in
 * rotating order.  Every FAIR_TICK-th pick is fair, or more of them where tasks are
 * long: see core/sched/pace.h.  The next slot is passed over every NEXT_STREAK-th time.
 *
 * Edges:
 *
 *   P3  see core/sched/worker.h
 */
#include "core/sched/place.h"
#include "core/sched/worker.h"

#include "core/life/runtime.h"
#include "core/sched/source.h"
#include "core/sched/stack_shortage.h"
#include "core/sched/steal.h"
#include "core/sched/yielded.h"
#include "os/clock.h"

#define FAIR_TICK 61
#define NR_SOURCES 6 /* of a fair pick */
#define TICK_NS(worker) ((worker)->rt->config.tick_us * 1000ull)
#define NEXT_STREAK 16
#define SPILL_BATCH 16
#define LOOK_BEHIND 16 /* tasks that have yielded */

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

static struct sley_task *pick_lane(struct worker *worker)
{
	return place_rob_lane(worker, worker);
}

/*
 * Can a child start at once?  The loop at the bottom of an idle strand calls the child;
 * a task that is about to leave its stack, and limbo, need another strand.
 */
static bool can_start(struct worker *worker)
{
	const struct strand *strand = worker->strand;

	if (strand != worker->limbo &&
	    (!strand->task || likely(worker_has_spare_strand(worker))))
		return true;
	stack_shortage_note(worker);
	return false;
}

/*
 * A child of a parent that is suspended here.  Where there is no stack for the child,
 * its parent keeps it, and can call it on its own stack.  A child that was taken would
 * wait for a stack, and its parent for the child; and the tasks that have all stacks
 * may wait for the parent.
 */
static struct sley_task *pick_left_behind(struct worker *worker)
{
	/* relaxed: a glance; the lock comes later. */
	if (likely(!load_relaxed(&worker->nr_parents)))
		return NULL;
	if (unlikely(!can_start(worker)))
		return NULL;
	return place_other_levels(worker, fork_steal(worker, worker));
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
	struct sley_task *task = NULL;

	if (runq_has_first(runq) && (task = runq_take(runq, LEVEL_DEFAULT)))
		worker->outside.runs = true;
	return task;
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
	if (level == LEVEL_DEFAULT)
		place_chain(worker, place_take_lane(worker));
	*line = (struct line){
		.state = LINE_DRAWN + level,
		.ring = (uint32_t)ring_tail(&worker->ring),
		.shared = runq_pushed(&worker->rt->runq, level),
		.spill = runq_pushed(&worker->rt->runq, RUNQ_SPILL),
		.child = true,
	};
}

/* Are there tasks before @line in the shared queue, at @level? */
static bool line_is_in_shared(const struct worker *worker,
			      const struct line *line, unsigned int level)
{
	const struct runq *runq = &worker->rt->runq;

	return runq_hint(runq) & 1ull << level &&
	       !runq_reached(runq, level, line->shared);
}

/*
 * A task that goes before the task whose @line is drawn; or NULL.  Not a task from
 * outside: such a task comes in its turn, or when there is no local task.
 */
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
	if (!task && level != LEVEL_DEFAULT &&
	    line_is_in_shared(worker, line, level))
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

/* The first local task behind the first task, which has yielded; or NULL. */
static struct sley_task *take_behind_yielded(struct worker *worker)
{
	struct levels *ready = &worker->ready;
	struct sley_task *task = ready->fifo[LEVEL_DEFAULT].first->next;

	for (int i = 0; task && i < LOOK_BEHIND; i++, task = task->next) {
		if (yielded_strand(task))
			continue;
		levels_remove(ready, task, LEVEL_DEFAULT);
		return task;
	}
	return NULL;
}

/*
 * A task there may have yielded.  NULL: only tasks from outside go before it, and it is
 * not their turn.
 */
static inline __attribute__((always_inline)) struct sley_task *
take_in_turn(struct worker *worker, unsigned int level)
{
	struct sley_task *task = worker->ready.fifo[level].first;
	struct strand *strand;

	if (unlikely(has_elsewhere(worker, level)) &&
	    (strand = yielded_strand(task))) {
		if ((task = take_before(worker, strand, level)))
			return task;
		if (level == LEVEL_DEFAULT &&
		    line_is_in_shared(worker, &strand->line, level))
			return take_behind_yielded(worker);
	}
	return yielded_take(worker, level);
}

static struct sley_task *pick_ready(struct worker *worker)
{
	if (!(worker->ready.bitmap & BIT_DEFAULT))
		return NULL;
	if (unlikely(worker->yielded))
		return take_in_turn(worker, LEVEL_DEFAULT);
	return levels_take(&worker->ready, LEVEL_DEFAULT);
}

/* Nothing else is there: tasks from outside, and then the task that let them pass. */
static struct sley_task *pick_last(struct worker *worker)
{
	struct sley_task *task = pick_outside(worker);

	if (!task && unlikely(worker->ready.bitmap & BIT_DEFAULT))
		task = yielded_take(worker, LEVEL_DEFAULT);
	return task;
}

/* ---- by level ---------------------------------------------------------------- */

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

		if (task) {
			worker_publish_levels(worker);
			return task;
		}
	}
	return NULL;
}

/* ---- for peers: core/sched/lease.h ------------------------------------------- */

/* The most urgent level of a task that is at hand, if it is not below the default. */
static unsigned int level_at_hand(const struct worker *worker)
{
	return (unsigned int)bits_first(worker_levels_waiting(worker) |
					BIT_DEFAULT);
}

static struct sley_task *pick_urgent(struct worker *worker)
{
	return take_most_urgent(worker,
				worker_levels_waiting(worker) & BITS_URGENT);
}

/* The levels from the most urgent one to @lowest. */
static uint64_t bits_down_to(unsigned int lowest)
{
	return ~0ull >> (NR_LEVELS - 1 - lowest);
}

/* Less urgent than the default: only if there is nothing else anywhere. */
struct sley_task *worker_pick_low(struct worker *worker, unsigned int lowest)
{
	uint64_t bits = bits_down_to(lowest) & BITS_LOW &
			worker_levels_waiting(worker);
	struct sley_task *task;

	if (unlikely(bits &&
		     worker_gives_core(worker, (unsigned int)bits_first(bits))))
		return NULL;
	task = take_most_urgent(worker, bits);
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

/*
 * The worker shall come to its loop, which looks after the core.  Or the worker overtakes, and
 * has a right to what is as urgent as the task for which it did.
 */
static noinline struct sley_task *pick_asked(struct worker *worker)
{
	worker->tick = FAIR_TICK; /* the next pick comes here, too */
	if (lease_is_called(&worker->lease))
		return NULL;
	if (!picks_under_lock(worker))
		lease_try(worker);
	return take_most_urgent(worker,
				worker_levels_waiting(worker) &
					bits_down_to(lease_lowest(worker)));
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
	worker_publish_levels(worker);
}

/* Is there more to do at a fair pick than to take a task that is at hand? */
static bool would_take_long(struct worker *worker)
{
	uint64_t next_ns = timers_next(&worker->timers);

	return !push_list_empty(&worker->home) ||
	       !push_list_empty(&worker->lane) || place_has_changed(worker) ||
	       place_was_lent(worker) || runq_hint(&worker->rt->runq) ||
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

uint64_t worker_look_after(struct worker *worker)
{
	look_after_all(worker);
	return worker->ready.bitmap |
	       (has_local_work(worker) ? BIT_DEFAULT : 0);
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
	/* After the last of them a fair pick draws the balance. */
	if (task && !runq_has_first(runq))
		worker->tick = FAIR_TICK;
	return task;
}

/* Before all others: the urgent, and tasks from outside in their turn. */
static noinline struct sley_task *pick_first(struct worker *worker)
{
	struct sley_task *task;

	if (unlikely(worker_gives_core(worker, level_at_hand(worker))))
		return pick_asked(worker);
	task = pick_urgent(worker);
	return task ? task : pick_in_time(worker);
}

/* May there be such a task, or does a peer want the core? */
static inline bool has_first(const struct worker *worker)
{
	return (uint32_t)(worker->ready.bitmap & BITS_URGENT) |
	       runq_is_first(&worker->rt->runq);
}

/*
 * A task that look_after_all() has made ready, as after its deadline, has waited for a
 * fair pick.  The task need not wait for its turn among the sources, too, unless the
 * last fair pick took such a task: no source may starve.
 */
static struct sley_task *pick_noticed(struct worker *worker, bool was_ready)
{
	struct sley_task *task = NULL;

	if (!was_ready && !worker->took_noticed)
		task = pick_ready(worker);
	worker->took_noticed = task;
	return task;
}

static noinline struct sley_task *pick_fair(struct worker *worker)
{
	static struct sley_task *(*const source[NR_SOURCES])(
		struct worker *) = {
		pick_spill, pick_left_behind, pick_ring,
		take_next,  pick_fresh,       pick_ready,
	};
	bool was_ready = worker->ready.bitmap & BIT_DEFAULT;
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
	if (unlikely(lease_is_asked(&worker->lease) ||
		     worker_gives_core(worker, level_at_hand(worker))))
		return pick_asked(worker);
	task = pick_urgent(worker);
	if (!task && (task = source_pick(worker)) && worker->sources_left)
		worker->tick = FAIR_TICK; /* the other sources come next */
	if (!task)
		task = pick_in_time(worker);
	if (!task)
		task = pick_noticed(worker, was_ready);
	worker->fair++;
	for (unsigned int i = 0; !task && i < NR_SOURCES; i++)
		task = source[(worker->fair + i) % NR_SOURCES](worker);
	return task ? task : pick_last(worker);
}

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
	return worker_levels_waiting(worker) & ~BITS_LOW ||
	       has_local_work(worker);
}

/*
 * In place of a fair pick.  With nothing else to do the task stays in hand: in a
 * queue another worker would find the task, and a chain of short turns would go
 * to and fro.
 */
static noinline bool may_keep_fairly(struct worker *worker)
{
	look_after_all(worker);
	if (!has_other_work(worker) && !sources_have(worker) &&
	    !lease_is_asked(&worker->lease) &&
	    !worker_gives_core(worker, LEVEL_DEFAULT))
		return true;
	worker->tick = FAIR_TICK;
	return false;
}

/* No task goes before the task in hand, and no peer wants the core for such a task. */
static noinline bool may_keep_first(struct worker *worker)
{
	if (worker->ready.bitmap & BITS_URGENT ||
	    runq_has_first(&worker->rt->runq))
		return false;
	if (likely(!worker_gives_core(worker, LEVEL_DEFAULT)))
		return true;
	worker->tick = FAIR_TICK;
	return false;
}

bool worker_may_keep(struct worker *worker)
{
	if (unlikely(worker_step_task(worker))) {
		worker->tick = FAIR_TICK;
		return false;
	}
	if (unlikely(is_fair_pick(worker)))
		return may_keep_fairly(worker);
	return push_list_empty(&worker->home) &&
	       (likely(!has_first(worker)) || may_keep_first(worker)) &&
	       !chaos_says(CHAOS_STEAL);
}

struct sley_task *worker_pick_above(struct worker *worker, unsigned int level)
{
	uint64_t above = (1ull << level) - 1;

	if (likely(level <= LEVEL_DEFAULT))
		return take_most_urgent(worker,
					worker_levels_waiting(worker) & above);
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

/*
 * Some tasks in the ready list of the default level may have yielded.  If the first of
 * them waits for tasks from outside, the worker looks at all other sources.
 */
static noinline struct sley_task *pick_with_yielded(struct worker *worker)
{
	struct sley_task *task = take_in_turn(worker, LEVEL_DEFAULT);

	return likely(task) ? task : pick_fair(worker);
}

/*
 * A step runs one task.  A worker that keeps its search gets no task here, so that its loop
 * calls worker_search() next.  If a lock is held, the loop of another strand does so, once
 * the lock is released.  A taker that waits or yields gives way to another task in the
 * middle of its take: then the search is over.
 */
static noinline struct sley_task *pick_step(struct worker *worker)
{
	const struct strand *strand = worker->strand;
	struct sley_task *task = worker_step_task(worker);

	if (task != WORKER_SEARCHES) {
		worker_set_step(worker, NULL);
		return task;
	}
	if (picks_under_lock(worker) ||
	    (!strand->task && strand != worker->limbo))
		return NULL;
	worker_end_kept_search(worker);
	return worker_pick(worker);
}

struct sley_task *worker_pick(struct worker *worker)
{
	struct sley_task *task;

	if (unlikely(worker_step_task(worker)))
		return pick_step(worker);
	if (unlikely(is_fair_pick(worker)))
		return pick_fair(worker);
	if (unlikely(!push_list_empty(&worker->home)))
		place_arrivals(worker);
	if (unlikely(has_first(worker))) {
		task = pick_first(worker);
		if (task || lease_is_asked(&worker->lease))
			return task;
	}
	if (chaos_says(CHAOS_STEAL) && (task = worker_steal_needlessly(worker)))
		return task;
	if (worker->ready.bitmap & BIT_DEFAULT) {
		if (unlikely(worker->yielded))
			return pick_with_yielded(worker);
		return levels_take(&worker->ready, LEVEL_DEFAULT);
	}
	if ((task = pick_next(worker)) || (task = pick_fresh(worker)) ||
	    (task = pick_ring(worker)))
		return task;
	return pick_farther(worker);
}
