/* SPDX-License-Identifier: MIT */
/*
 * task_state.h - the state of a task, and every way it changes.
 *
 * The state names the owner of the task:
 *
 *   FREE       nobody; memory of the caller
 *   READY      the queue that holds it (exactly one)
 *   RUNNING    the worker that runs it, or keeps it while it yields
 *   BLOCKED    the decider of its wait
 *   COMPLETED  the caller again, once the group is joined
 *
 *      FREE ──build──► READY ──claim──► RUNNING ──finish──► COMPLETED
 *                        ▲                │  ▲ (yield keeps it RUNNING)
 *                        │     park       ▼  │
 *                        └──decide──── BLOCKED
 *                        └──── park finds a verdict: requeue ────┘
 *
 *   FREE    -> READY      [task_build]   nobody else knows it yet
 *   READY   -> RUNNING    [task_claim]   by the worker that took it from a queue
 *   RUNNING -> BLOCKED    [task_park]    after the switch, on the next stack
 *   RUNNING -> READY      [task_park]    a verdict or a cancel came first: the
 *                                        parker queues it again
 *   BLOCKED -> READY      [task_decide]  the decider queues it
 *   RUNNING -> RUNNING    [task_decide]  the verdict waits for task_park
 *   BLOCKED -> READY      [task_cancel]  if the wait can be cancelled
 *   RUNNING -> COMPLETED  [task_finish]
 *   RUNNING -> COMPLETED  [task_drop]    cancelled before it started
 *
 * A task that runs in turns (core/task/turn.h) changes its state at the end of a
 * turn, by its worker, and otherwise by the one thread that may wake it:
 *
 *   RUNNING -> BLOCKED    [task_turn_park]    the waker is told that it has parked
 *   BLOCKED -> READY      [task_turn_ready]   by the waker; or by the worker, if no
 *                                             waker was told
 *   RUNNING -> READY      [task_turn_ready]   by the worker
 *   BLOCKED -> READY      [task_turn_unpark]  by the worker: the message came first
 *   RUNNING -> COMPLETED  [task_turn_end]     until it is made READY again
 *
 * A wait is decided once, by the compare-and-swap in task_decide() that changes
 * its verdict from NONE to WOKEN or TIMED_OUT, or the one in task_cancel_wait()
 * that changes it to CANCELLED.  Each decider holds the lock of a
 * structure the waiter is linked in, and the waiter leaves all of them before
 * it returns, so a decision never hits a later wait.  The exception is
 * task_cancel(), which is meant to hit whatever wait there is, unless that is
 * shielded.
 *
 * A waiter for a single object holds the lock of the object until the waiter is
 * BLOCKED, so no decision comes earlier.  A waiter for several objects, or with a
 * timer, can be decided as soon as the first object knows the waiter: such a waiter
 * says WAITING before.  The claim
 * takes that back.  From then on the verdict is out, though the waiter is
 * still linked here and there: a decider that finds the waiter there must lose.
 *
 * There are two words, because two kinds of threads write.  The state is written by
 * its owner, with plain stores wherever nobody else can own it; the flags are
 * written by anybody at any time, with read-modify-writes.  Only cancelling
 * needs both:
 *
 *   parker                              canceller
 *   1. state = BLOCKED                  1. flags |= CANCELLED
 *   2. (os_membarrier's cheap half)     2. os_membarrier()
 *   3. CANCELLED in flags: decide       3. state is BLOCKED: decide the wait
 *      the wait
 *
 * The barrier falls before or after the parker's store.  If after, the
 * canceller's step 3 sees BLOCKED; if before, the parker's step 3 comes later
 * and sees CANCELLED; if both see it, the compare-and-swap decides.  So parking
 * costs no locked instruction, and cancelling, which is rare, a system call.
 * Where membarrier is denied (TASK_NO_BARRIER), step 3 of the parker reads the
 * flags by a read-modify-write.  Step 1 of the canceller is one of the same
 * word, so one comes first.  If it is the canceller's, the parker sees
 * CANCELLED; if the parker's, the canceller acquires it and sees BLOCKED.  One
 * of the state, in step 1, would do on x86 only: elsewhere the load of step 3
 * may overtake its store.
 *
 * A plain thread waits with a state of its own (TASK_THREAD), on its stack.
 * Its decision keeps it BLOCKED; task_release_thread() lets it go.  So neither
 * kind of waiter can return, and free the object it waited for, before the
 * decider has let go of that object's lock.
 *
 * Edges:
 *
 *   T1  decide makes it READY -> claim sees the verdict : the waker's data; the
 *       queue in between orders it as well
 *   T2  park makes it BLOCKED -> decide finds it BLOCKED : the fiber has left
 *       its stack
 *   T3  cancel sets the flag -> a reader of the flag sees the canceller's data
 *   T4  finish, drop -> status reads COMPLETED : what the task did
 *   T5  release_thread -> the thread sees READY : the decider's data
 *   T6  parker's state, then flags <-> canceller's flags, then state
 *
 * Rejected: a verdict word of its own in each wait node.  It costs one more
 * read-modify-write and one more cache line per wake-up (2.3 ns and 80-280 ns),
 * and cancel would need a lock to find the node.  One word for state and
 * flags: claim and park must then be read-modify-writes, 4.6 ns per wake-up.
 */
#ifndef SLEY_CORE_TASK_TASK_STATE_H
#define SLEY_CORE_TASK_TASK_STATE_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "os/membarrier.h"

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

/* In the state: */
#define TASK_STATE_MASK 0x7u
#define TASK_EARLY (1u << 3) /* decided before it was BLOCKED                */
#define TASK_VERDICT_SHIFT 4
#define TASK_VERDICT_MASK (3u << TASK_VERDICT_SHIFT)
#define TASK_SHIELDED (1u << 6) /* this wait ignores CANCELLED             */
#define TASK_WAITING (1u << 7)  /* can be decided before it is BLOCKED     */
#define TASK_THREAD (1u << 8)   /* a plain thread, not a task              */
#define TASK_DROPPED (1u << 9)  /* COMPLETED without having run            */
#define TASK_SPILLED (1u << 9)  /* READY, in the spill of core/sched/runq.h */
#define TASK_QUEUED_LEVEL_SHIFT                                                \
	10 /* in core/sched/runq.h: where, whatever its   */
#define TASK_QUEUED_LEVEL_BITS 6 /* level is by now; and in which: the    */
#define TASK_QUEUED_TAG_SHIFT 16 /* tag of that queue, 0 if in none       */
#define TASK_QUEUED_TAG_BITS 8
#define TASK_QUEUED_MASK                                                       \
	(((1u << (TASK_QUEUED_LEVEL_BITS + TASK_QUEUED_TAG_BITS)) - 1)         \
	 << TASK_QUEUED_LEVEL_SHIFT)
#define TASK_INDEX_SHIFT 24 /* which node of several was woken: 8 bits      */

/* In the flags: */
#define TASK_CANCELLED (1u << 0) /* asked to end                           */
#define TASK_PINNED (1u << 1)    /* may run on its own worker only         */
#define TASK_FORKED                                                            \
	(1u << 2) /* a stolen child, see core/sched/steal.h        */
#define TASK_NO_BARRIER (1u << 3) /* its runtime has no membarrier          */
#define TASK_MUST_RUN (1u << 4)   /* even if cancelled: others rely on it   */
#define TASK_MEMBER (1u << 5) /* of a scope: core/life/scope.h               */
#define TASK_FOR_GOOD (1u << 6) /* CANCELLED, not by its own scope only   */
#define TASK_SLOT (1u << 7) /* was spawned with a waker: core/task/slot.h  */
#define TASK_PROCESS                                                           \
	(1u << 16) /* of a process: actor/process/process.h          */
#define TASK_TURNS (1u << 17)      /* its function returns many times: turn.h */
#define TASK_FPU (1u << 18)        /* begins with the usual rounding mode    */
#define TASK_MIGRATABLE (1u << 19) /* may resume on any worker: task_moves() */
#define TASK_BASE_SHIFT 20         /* with TASK_LENT: its own level, 6 bits  */
#define TASK_BASE_MASK (0x3fu << TASK_BASE_SHIFT)
#define TASK_LENT (1u << 26) /* its level is a waiter's: core/wait/loan.h */
#define TASK_OWES (1u << 27) /* a waiter may lend it its level: the same  */
#define TASK_LEVEL_SHIFT 8
#define TASK_LEVEL_MASK (0xffu << TASK_LEVEL_SHIFT)

#define TASK_CANCEL (TASK_CANCELLED | TASK_FOR_GOOD)

#define NR_LEVELS 64
#define LEVEL_DEFAULT 32 /* level = priority + 32: 0 is the most urgent */

static inline enum task_state task_state_of(uint32_t state)
{
	return (enum task_state)(state & TASK_STATE_MASK);
}

static inline enum task_verdict task_verdict_of(uint32_t state)
{
	return (enum task_verdict)((state & TASK_VERDICT_MASK) >>
				   TASK_VERDICT_SHIFT);
}

static inline unsigned int task_index_of(uint32_t state)
{
	return state >> TASK_INDEX_SHIFT;
}

static inline uint32_t task_with_verdict(enum task_verdict verdict,
					 unsigned int index)
{
	return (uint32_t)verdict << TASK_VERDICT_SHIFT |
	       (uint32_t)index << TASK_INDEX_SHIFT;
}

static inline uint32_t task_load(const struct sley_task *task)
{
	/* relaxed: the owner's own, or a guess that a CAS checks. */
	return load_relaxed(&task->state);
}

static inline uint32_t task_flags(const struct sley_task *task)
{
	/* relaxed: constant bits, or under a lock, or a hint. */
	return load_relaxed(&task->flags);
}

/* For a reader that asks for CANCELLED, and perhaps for more. */
static inline uint32_t task_flags_acquire(const struct sley_task *task)
{
	return load_acquire(&task->flags); /* T3 */
}

/*
 * May a task with these flags resume on another worker than the worker on which it
 * was suspended?  TASK_PINNED wins.  Both bits are constant.
 */
static inline bool task_moves(uint32_t flags)
{
	return (flags & (TASK_MIGRATABLE | TASK_PINNED)) == TASK_MIGRATABLE;
}

static inline bool task_is_cancelled(const struct sley_task *task)
{
	return task_flags_acquire(task) & TASK_CANCELLED;
}

/* ---- the owner ------------------------------------------------------------ */

/* The queue that gets @task publishes the fields. */
static inline void task_build(struct sley_task *task, unsigned int level,
			      uint32_t flags)
{
	/* relaxed: no other thread knows @task yet. */
	store_relaxed(&task->state, TASK_READY);
	/* relaxed: as above. */
	store_relaxed(&task->flags, flags | level << TASK_LEVEL_SHIFT);
}

/* A task that runs already and was never queued: of a plain or a bound thread. */
static inline void task_build_running(struct sley_task *task, uint32_t thread,
				      uint32_t flags)
{
	task_build(task, LEVEL_DEFAULT, flags);
	/* relaxed: no other thread knows @task yet. */
	store_relaxed(&task->state, TASK_RUNNING | thread);
}

/*
 * By the worker that took it from its queue.  Returns the state as it was: its
 * verdict is that of the wait that ended.
 */
static inline uint32_t task_claim(struct sley_task *task)
{
	uint32_t old = load_acquire(&task->state); /* T1 */

	sley_assert(task_state_of(old) == TASK_READY);
	/* relaxed: no other thread owns @task; a late decider's CAS fails. */
	store_relaxed(&task->state, TASK_RUNNING);
	return old;
}

/*
 * The wait that begins can be decided before the task is BLOCKED.  Once it was
 * announced others may write the state, so the second time changes nothing.
 */
static inline void task_announce_wait(struct sley_task *task)
{
	uint32_t state = task_load(task);

	/* relaxed: published by the locks under which the task is then linked. */
	if (!(state & TASK_WAITING))
		store_relaxed(&task->state, state | TASK_WAITING);
}

/* BLOCKED, unless a verdict is there: then READY, and false. */
static inline bool task_park_announced(struct sley_task *task, uint32_t shield)
{
	uint32_t old = task_load(task);
	uint32_t state;

	do {
		bool decided = old & TASK_VERDICT_MASK;

		state = (old & ~TASK_STATE_MASK) |
			(decided ? TASK_READY | TASK_EARLY
				 : TASK_BLOCKED | shield);
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_acq_rel(&task->state, &old, state)); /* T1 T2 */
	return !(state & TASK_VERDICT_MASK);
}

/*
 * Step 3 of both: true if the wait is decided by this, as cancelled.  Each try
 * looks at SHIELDED, not the first one alone: the task may have gone on to
 * another wait since, as one that takes its mutex again after a condition.
 */
static inline bool task_cancel_wait(struct sley_task *task)
{
	uint32_t old = task_load(task);
	uint32_t state;

	do {
		if (task_state_of(old) != TASK_BLOCKED ||
		    (old & (TASK_VERDICT_MASK | TASK_SHIELDED)))
			return false;
		state = (old & ~TASK_STATE_MASK) | TASK_READY |
			task_with_verdict(VERDICT_CANCELLED, 0);
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_acq_rel(&task->state, &old, state)); /* T1 T2 */
	return true;
}

/* Step 2 and 3 of the parker: is the task cancelled? */
static inline bool task_parked_cancelled(struct sley_task *task)
{
	uint32_t flags;

	compiler_barrier();
	flags = load_acquire(&task->flags); /* T3 */
	if (likely(!(flags & (TASK_CANCELLED | TASK_NO_BARRIER))))
		return false;
	if (flags & TASK_NO_BARRIER)
		flags = add_acq_rel(&task->flags, 0); /* T3 T6 */
	return flags & TASK_CANCELLED;
}

/*
 * On behalf of a task that has left its stack.  @shield is TASK_SHIELDED or 0.
 * False: the wait was decided meanwhile, or the task is cancelled; the task is
 * READY and the caller must queue it.
 */
static inline must_check bool task_park(struct sley_task *task, uint32_t shield)
{
	uint32_t state = task_load(task);

	sley_assert(task_state_of(state) == TASK_RUNNING);
	if (unlikely(state & TASK_WAITING)) {
		if (!task_park_announced(task, shield))
			return false;
	} else {
		state = (state & TASK_THREAD) | TASK_BLOCKED | shield;
		store_release(&task->state, state); /* T2 */
	}
	if (shield || likely(!task_parked_cancelled(task)))
		return true;
	return !task_cancel_wait(task);
}

/*
 * A plain store: no other thread decides or owns the task any more.
 * Nothing of the task may be touched afterwards but its group.
 */
static inline void task_finish(struct sley_task *task)
{
	store_release(&task->state, TASK_COMPLETED); /* T4 */
}

static inline void task_drop(struct sley_task *task)
{
	store_release(&task->state, TASK_COMPLETED | TASK_DROPPED); /* T4 */
}

/* ---- others ----------------------------------------------------------------- */

enum task_decision {
	DECIDED_LOST,  /* another decider was first                        */
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
	uint32_t old = task_load(task);

	for (;;) {
		bool blocked = task_state_of(old) == TASK_BLOCKED;
		uint32_t state = old | task_with_verdict(verdict, index);

		if (!(blocked || (old & TASK_WAITING)) ||
		    (old & TASK_VERDICT_MASK))
			return DECIDED_LOST;
		if (blocked && !(old & TASK_THREAD))
			state = (state & ~TASK_STATE_MASK) | TASK_READY;
		if (!chaos_says(CHAOS_LOSE) &&
		    cas_acq_rel(&task->state, &old, state)) /* T1 T2 */
			return blocked ? DECIDED_QUEUE : DECIDED_EARLY;
	}
}

/* Step 1 of the canceller alone: @bits are TASK_CANCEL or TASK_CANCELLED. */
static inline uint32_t task_mark_cancelled(struct sley_task *task,
					   uint32_t bits)
{
	return or_acq_rel(&task->flags, bits); /* T3 T6 */
}

/*
 * Take TASK_CANCELLED back, unless it is for good.  A thread that may set that flag
 * alone is kept out by the caller.
 */
static inline void task_uncancel(struct sley_task *task)
{
	uint32_t old = task_flags(task);

	do {
		if (old & TASK_FOR_GOOD)
			return;
		/* relaxed: no reader relies on the order. */
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_relaxed(&task->flags, &old, old & ~TASK_CANCELLED));
}

/*
 * Ask @task to end.  True: its wait was decided by this, and the caller must
 * hand it to task_enqueue().
 */
static inline must_check bool task_cancel(struct sley_task *task)
{
	uint32_t flags = task_mark_cancelled(task, TASK_CANCEL);

	if (!(flags & TASK_NO_BARRIER))
		os_membarrier();
	return task_cancel_wait(task);
}

/* The same by the thread that parks it, when it parks at all: no barrier. */
static inline must_check bool task_cancel_parked(struct sley_task *task)
{
	(void)or_release(&task->flags, TASK_CANCEL); /* T3 */
	return task_cancel_wait(task);
}

/* The same before @task is queued: the worker that takes @task drops @task. */
static inline void task_cancel_unqueued(struct sley_task *task)
{
	(void)or_release(&task->flags, TASK_CANCEL); /* T3 */
}

static inline uint32_t task_observe(const struct sley_task *task)
{
	return load_acquire(&task->state); /* T4 */
}

/* ---- the level ---------------------------------------------------------------- */

/* A turn is over, and the task waits for its waker, which is told afterwards. */
static inline void task_turn_park(struct sley_task *task)
{
	/* relaxed: published with the message to the waker; no cancel comes. */
	store_relaxed(&task->state, TASK_BLOCKED | TASK_SHIELDED);
}

/* Before @task is queued, by the waker or by the worker. */
static inline void task_turn_ready(struct sley_task *task)
{
	/* relaxed: the queue publishes it. */
	store_relaxed(&task->state, TASK_READY);
}

/* @task was parked, and no waker was told: the awaited message is there. */
static inline void task_turn_unpark(struct sley_task *task)
{
	/* relaxed: no other thread may touch it. */
	store_relaxed(&task->state, TASK_READY | TASK_EARLY);
}

/* A canceller of all tasks that run need not look at it any more. */
static inline void task_turn_end(struct sley_task *task)
{
	/* relaxed: it tells no other thread anything but that. */
	store_relaxed(&task->state, TASK_COMPLETED);
}

/* Between two runs of a step of a plan: the flags that it was recorded with. */
static inline void task_turn_reset_flags(struct sley_task *task, uint32_t flags)
{
	/* relaxed: it is in no queue; the queue publishes it. */
	store_relaxed(&task->flags, flags);
}

static inline unsigned int task_level_of(uint32_t flags)
{
	return (flags & TASK_LEVEL_MASK) >> TASK_LEVEL_SHIFT;
}

static inline unsigned int task_level(const struct sley_task *task)
{
	return task_level_of(task_flags(task));
}

/* Its own level, whatever is lent to it. */
static inline unsigned int task_base_level(uint32_t flags)
{
	if (flags & TASK_LENT)
		return (flags & TASK_BASE_MASK) >> TASK_BASE_SHIFT;
	return task_level_of(flags);
}

/* The next four: under the lock of core/wait/loan.h. */
static inline void task_keep_base(struct sley_task *task, unsigned int base)
{
	uint32_t old = task_flags(task);
	uint32_t flags;

	do {
		flags = (old & ~TASK_BASE_MASK) | base << TASK_BASE_SHIFT |
			TASK_LENT;
		/* relaxed: read under the same lock. */
	} while (!cas_relaxed(&task->flags, &old, flags));
}

static inline void task_forget_base(struct sley_task *task)
{
	/* relaxed: read under the same lock. */
	if (task_flags(task) & TASK_LENT)
		(void)and_relaxed(&task->flags, ~(TASK_LENT | TASK_BASE_MASK));
}

static inline void task_mark_owing(struct sley_task *task)
{
	/* relaxed: read under the same lock, or by the task itself as a hint. */
	if (!(task_flags(task) & TASK_OWES))
		(void)or_relaxed(&task->flags, TASK_OWES);
}

static inline void task_mark_clear(struct sley_task *task)
{
	/* relaxed: as above. */
	(void)and_relaxed(&task->flags, ~TASK_OWES);
}

/* Says nothing to the queue it may be in: see place_set_level(). */
static inline void task_set_level(struct sley_task *task, unsigned int level)
{
	uint32_t old = task_flags(task);
	uint32_t flags;

	do {
		flags = (old & ~TASK_LEVEL_MASK) | level << TASK_LEVEL_SHIFT;
		/* relaxed: the level orders nothing but queues. */
	} while (!cas_relaxed(&task->flags, &old, flags));
}

/*
 * A READY task belongs to its queue, and so does its state: that of core/sched/runq.h
 * writes there, under its lock and with plain stores, that it has the task.
 * The level cannot tell, since anybody may change it at any time.
 */
static inline void task_mark_queued(struct sley_task *task, unsigned int level,
				    unsigned int tag)
{
	/* relaxed: read under the same lock, or as a hint. */
	store_relaxed(&task->state, task_load(task) |
					    level << TASK_QUEUED_LEVEL_SHIFT |
					    tag << TASK_QUEUED_TAG_SHIFT);
}

static inline void task_clear_queued(struct sley_task *task)
{
	/* relaxed: as above. */
	store_relaxed(&task->state,
		      task_load(task) & ~(TASK_QUEUED_MASK | TASK_SPILLED));
}

/* Of a task that is marked as queued, and under the same lock. */
static inline void task_mark_spilled(struct sley_task *task)
{
	/* relaxed: as above. */
	store_relaxed(&task->state, task_load(task) | TASK_SPILLED);
}

static inline bool task_is_spilled(const struct sley_task *task)
{
	return task_load(task) & TASK_SPILLED;
}

/* 0: in none.  Exact under the lock of the queue, elsewhere a hint. */
static inline unsigned int task_queued_tag(const struct sley_task *task)
{
	return task_load(task) >> TASK_QUEUED_TAG_SHIFT &
	       ((1u << TASK_QUEUED_TAG_BITS) - 1);
}

static inline unsigned int task_queued_level(const struct sley_task *task)
{
	return task_load(task) >> TASK_QUEUED_LEVEL_SHIFT & (NR_LEVELS - 1);
}

/* ---- plain threads ------------------------------------------------------------- */

/* BLOCKED -> READY: nothing of the thread's may be touched afterwards. */
static inline void task_release_thread(struct sley_task *task)
{
	uint32_t state = task_load(task);

	state = (state & ~TASK_STATE_MASK) | TASK_READY;
	store_release(&task->state, state); /* T5 */
}

/* True once the decider has let the thread go. */
static inline bool task_thread_released(const struct sley_task *task)
{
	return task_state_of(load_acquire(&task->state)) == /* T5 */
	       TASK_READY;
}

#endif
