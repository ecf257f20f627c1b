/* SPDX-License-Identifier: MIT */
/*
 * task_state.h - the state word of a task, and every way it changes.
 *
 * The word says who owns the task:
 *
 *   FREE       nobody; memory of the caller
 *   READY      the queue that holds it (exactly one)
 *   RUNNING    the worker that runs it, or keeps it while it yields
 *   BLOCKED    whoever decides its wait
 *   COMPLETED  the caller again, once the group is joined
 *
 *      FREE ──build──► READY ──claim──► RUNNING ──finish──► COMPLETED
 *                        ▲                │  ▲ (yield keeps it RUNNING)
 *                        │     park       ▼  │
 *                        └──decide──── BLOCKED
 *                        └──── park finds a verdict: requeue ────┘
 *
 *   FREE    -> READY      [task_build]   plain store: nobody else knows it yet
 *   READY   -> RUNNING    [task_claim]   by the worker that took it from a queue
 *   RUNNING -> BLOCKED    [task_park]    after the switch, on the next stack
 *   RUNNING -> READY      [task_park]    a verdict or a cancel came first: the
 *                                        parker queues it again
 *   BLOCKED -> READY      [task_decide]  the decider queues it
 *   RUNNING -> RUNNING    [task_decide]  the verdict waits for task_park
 *   any     -> any        [task_cancel]  sets CANCELLED; decides a wait that can
 *                                        be cancelled
 *   RUNNING -> COMPLETED  [task_finish]
 *   READY   -> COMPLETED  [task_drop]    cancelled before it started
 *
 * A wait is decided once, by the compare-and-swap in task_decide() that changes
 * its verdict from NONE to WOKEN, TIMED_OUT or CANCELLED.  Everybody who may
 * decide holds the lock of a structure the waiter is linked in, and the waiter
 * leaves all of them before it returns, so a decision never hits a later wait.
 * The exception is task_cancel(), which is meant to hit whatever wait there is.
 *
 * Who waits for one object alone holds its lock until it is BLOCKED, so nobody
 * can decide earlier.  Who waits for several, or has a timer, can be decided
 * as soon as the first of them knows it: it says WAITING before.  The claim
 * takes that back.  From then on the verdict is out, though the waiter is
 * still linked here and there: whoever finds it there must lose.
 *
 * A plain thread waits with a task word of its own (TASK_THREAD), on its stack.
 * Its decision keeps it BLOCKED; task_release_thread() lets it go.  So neither
 * kind of waiter can return, and free the object it waited for, before the
 * decider has let go of that object's lock.
 *
 * Edges (who publishes what to whom):
 *
 *   T1  build/decide/park make it READY (and a queue hands it over) ->
 *       claim : the waker's data, the suspended stack
 *   T2  park makes it BLOCKED -> decide finds it BLOCKED : the fiber has left
 *       its stack
 *   T3  cancel sets the flag -> park, claim see it : the canceller's data
 *   T4  finish, drop -> status reads COMPLETED : what the task did
 *   T5  release_thread -> the thread sees READY : the decider's data
 *
 * Rejected: a verdict word of its own in each wait node.  It costs one more
 * read-modify-write and one more cache line per wake-up (2.3 ns and 80-280 ns),
 * and cancel would need a lock to find the node.
 */
#ifndef SLEY_CORE_TASK_STATE_H
#define SLEY_CORE_TASK_STATE_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"

#include <sley/task.h>

enum task_state {
	TASK_FREE = 0,
	TASK_READY = 1,
	TASK_RUNNING = 2,
	TASK_BLOCKED = 3,
	TASK_COMPLETED = 4,
};

enum task_verdict {
	VERDICT_NONE = 0,
	VERDICT_WOKEN = 1,
	VERDICT_TIMED_OUT = 2,
	VERDICT_CANCELLED = 3,
};

/*
 *  63        32 31    24 23    16 15  13 12       8 7 6 5       4 3     0
 *  ┌───────────┬────────┬────────┬──────┬──────────┬───┬─────────┬───────┐
 *  │ (unused)  │ index  │ level  │      │  flags   │   │ verdict │ state │
 *  └───────────┴────────┴────────┴──────┴──────────┴───┴─────────┴───────┘
 * A plain thread sleeps on the low half.
 */
#define TASK_STATE_MASK 0xfull
#define TASK_VERDICT_SHIFT 4
#define TASK_VERDICT_MASK (3ull << TASK_VERDICT_SHIFT)
#define TASK_CANCELLED (1ull << 8) /* asked to end                          */
#define TASK_SHIELDED (1ull << 9)  /* this wait ignores CANCELLED           */
#define TASK_PINNED (1ull << 10)   /* may run on its own worker only        */
#define TASK_THREAD (1ull << 11)   /* a plain thread, not a task            */
#define TASK_DROPPED (1ull << 12)  /* COMPLETED without having run          */
#define TASK_LEVELLED (1ull << 13) /* queued in core/runq.h, and movable    */
#define TASK_WAITING (1ull << 14)  /* can be decided before it is BLOCKED   */
#define TASK_LEVEL_SHIFT 16
#define TASK_LEVEL_MASK (0xffull << TASK_LEVEL_SHIFT)
#define TASK_INDEX_SHIFT 24
#define TASK_INDEX_MASK (0xffull << TASK_INDEX_SHIFT)

#define NR_LEVELS 64
#define LEVEL_DEFAULT 32 /* level = priority + 32: 0 is the most urgent */

static inline enum task_state task_state_of(uint64_t word)
{
	return (enum task_state)(word & TASK_STATE_MASK);
}

static inline enum task_verdict task_verdict_of(uint64_t word)
{
	return (enum task_verdict)((word & TASK_VERDICT_MASK) >>
				   TASK_VERDICT_SHIFT);
}

static inline unsigned int task_level_of(uint64_t word)
{
	return (unsigned int)((word & TASK_LEVEL_MASK) >> TASK_LEVEL_SHIFT);
}

static inline unsigned int task_index_of(uint64_t word)
{
	return (unsigned int)((word & TASK_INDEX_MASK) >> TASK_INDEX_SHIFT);
}

static inline uint64_t task_load(const struct sley_task *task)
{
	/* relaxed: a hint; whoever acts on it does so by a CAS. */
	return load_relaxed(&task->state);
}

static inline unsigned int task_level(const struct sley_task *task)
{
	return task_level_of(task_load(task));
}

/* FREE -> READY.  The queue it is pushed on publishes it. */
static inline void task_build(struct sley_task *task, unsigned int level,
			      uint64_t flags)
{
	/* relaxed: T1 by way of the queue. */
	store_relaxed(&task->state,
		      TASK_READY | flags | (uint64_t)level << TASK_LEVEL_SHIFT);
}

/* A plain thread, or the code of a bound thread, as something that waits. */
static inline void task_build_running(struct sley_task *task, uint64_t flags)
{
	/* relaxed: nobody else knows it yet. */
	store_relaxed(&task->state,
		      TASK_RUNNING | flags |
			      (uint64_t)LEVEL_DEFAULT << TASK_LEVEL_SHIFT);
}

/*
 * READY -> RUNNING, by the worker that took it from its queue.  Returns the
 * word as it was: its verdict is that of the wait that ended, and is cleared;
 * CANCELLED means a task that has not started must be dropped.
 */
static inline must_check uint64_t task_claim(struct sley_task *task)
{
	const uint64_t clear = TASK_VERDICT_MASK | TASK_INDEX_MASK |
			       TASK_SHIELDED | TASK_WAITING;
	uint64_t old = task_load(task);

	for (;;) {
		uint64_t word = (old & ~(TASK_STATE_MASK | clear)) |
				TASK_RUNNING;

		sley_assert(task_state_of(old) == TASK_READY);
		if (cas_acq_rel(&task->state, &old, word)) /* T1 T3 */
			return old;
	}
}

/* The wait that begins can be decided before the task is BLOCKED. */
static inline void task_announce_wait(struct sley_task *task)
{
	/* relaxed: the locks it is then linked under publish it. */
	(void)or_relaxed(&task->state, TASK_WAITING);
}

/*
 * RUNNING -> BLOCKED, on behalf of a task that has left its stack.  False: the
 * wait was decided meanwhile, or the task is cancelled and @shield does not
 * protect it; the task is READY and the caller must queue it.
 */
static inline must_check bool task_park(struct sley_task *task, uint64_t shield)
{
	uint64_t old = task_load(task);

	for (;;) {
		uint64_t word = old & ~TASK_STATE_MASK;
		bool blocked = false;

		sley_assert(task_state_of(old) == TASK_RUNNING);
		if (old & TASK_VERDICT_MASK) {
			word |= TASK_READY;
		} else if ((old & TASK_CANCELLED) && !shield) {
			word |= TASK_READY | (uint64_t)VERDICT_CANCELLED
						     << TASK_VERDICT_SHIFT;
		} else {
			word |= TASK_BLOCKED | shield;
			blocked = true;
		}
		if (cas_acq_rel(&task->state, &old, word)) /* T1 T2 T3 */
			return blocked;
	}
}

enum task_decision {
	DECIDED_LOST,  /* somebody else was first                          */
	DECIDED_EARLY, /* it has not left its stack; task_park() sees it   */
	DECIDED_QUEUE, /* the caller must hand it to task_enqueue()        */
};

/*
 * Decide the wait of @task.  The caller holds the lock of the structure it
 * found the waiter in.  @index tells the waiter which of its nodes it was.
 */
static inline must_check enum task_decision
task_decide(struct sley_task *task, enum task_verdict verdict,
	    unsigned int index)
{
	uint64_t old = task_load(task);

	for (;;) {
		bool blocked = task_state_of(old) == TASK_BLOCKED;
		bool undecided = blocked || (old & TASK_WAITING);
		uint64_t word = old | (uint64_t)verdict << TASK_VERDICT_SHIFT |
				(uint64_t)index << TASK_INDEX_SHIFT;

		if (!undecided || (old & TASK_VERDICT_MASK))
			return DECIDED_LOST;
		sley_assert(blocked || task_state_of(old) == TASK_RUNNING);
		if (blocked && !(old & TASK_THREAD))
			word = (word & ~TASK_STATE_MASK) | TASK_READY;
		if (cas_acq_rel(&task->state, &old, word)) /* T1 T2 */
			return blocked ? DECIDED_QUEUE : DECIDED_EARLY;
	}
}

/*
 * Ask @task to end.  True: its wait was decided by this, and the caller must
 * hand it to task_enqueue().
 */
static inline must_check bool task_cancel(struct sley_task *task)
{
	uint64_t old = task_load(task);

	for (;;) {
		uint64_t word = old | TASK_CANCELLED;
		bool decides = task_state_of(old) == TASK_BLOCKED &&
			       !(old & (TASK_SHIELDED | TASK_VERDICT_MASK));

		if (decides)
			word = (word & ~TASK_STATE_MASK) | TASK_READY |
			       (uint64_t)VERDICT_CANCELLED
				       << TASK_VERDICT_SHIFT;
		/* Even if nothing changes it publishes: see T3. */
		if (cas_acq_rel(&task->state, &old, word)) /* T1 T3 */
			return decides;
	}
}

/*
 * RUNNING -> COMPLETED.  A plain store: whatever flag it overwrites, cancel or
 * priority, is of no use to a task that has ended.
 */
static inline void task_finish(struct sley_task *task)
{
	store_release(&task->state, TASK_COMPLETED); /* T4 */
}

/* RUNNING (just claimed) -> COMPLETED without having run. */
static inline void task_drop(struct sley_task *task)
{
	store_release(&task->state, TASK_COMPLETED | TASK_DROPPED); /* T4 */
}

static inline uint64_t task_observe(const struct sley_task *task)
{
	return load_acquire(&task->state); /* T4 T3 */
}

/* The level counts from the next time the task is queued.  Returns the old. */
static inline uint64_t task_set_level(struct sley_task *task,
				      unsigned int level)
{
	uint64_t old = task_load(task);
	uint64_t word;

	do {
		word = (old & ~TASK_LEVEL_MASK) | (uint64_t)level
							  << TASK_LEVEL_SHIFT;
		/* relaxed: the level orders nothing but queues. */
	} while (!cas_relaxed(&task->state, &old, word));
	return old;
}

/* LEVELLED is set and cleared under the lock of core/runq.h only. */
static inline void task_mark_levelled(struct sley_task *task)
{
	/* relaxed: read under the same lock. */
	(void)or_relaxed(&task->state, TASK_LEVELLED);
}

static inline void task_clear_levelled(struct sley_task *task)
{
	/* relaxed: read under the same lock. */
	(void)and_relaxed(&task->state, ~TASK_LEVELLED);
}

/* ---- plain threads ------------------------------------------------------ */

static inline const uint32_t *task_futex(const struct sley_task *task)
{
	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		       "the low half comes first");
	return (const uint32_t *)&task->state;
}

/* BLOCKED -> READY: nothing of the thread's may be touched afterwards. */
static inline void task_release_thread(struct sley_task *task)
{
	uint64_t word = task_load(task);

	word = (word & ~TASK_STATE_MASK) | TASK_READY;
	store_release(&task->state, word); /* T5 */
}

/* True once the decider has let the thread go. */
static inline bool task_thread_released(const struct sley_task *task)
{
	return task_state_of(load_acquire(&task->state)) == /* T5 */
	       TASK_READY;
}

#endif
