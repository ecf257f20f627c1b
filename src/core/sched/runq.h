/* SPDX-License-Identifier: MIT */
/*
 * runq.h - the ready tasks that any worker may take and that are not in a ring: all
 * priorities but the default, tasks of the default from outside (core/sched/outside.h),
 * and apart from those the *spill*: tasks of the default for which a ring had no room.
 *
 * One structure for the whole runtime under one small lock, so that the order
 * between levels is exact and a queued task can change its level in O(1).  The
 * bitmap is mirrored in a word of its own that dispatchers read without the
 * lock: a program with one priority and small bursts never takes the lock.
 *
 * Edges:
 *
 *   Q1  a push stores a hint -> dispatchers load it : there is work.  Only a
 *       hint: a dispatcher that follows it takes the lock and looks again.
 *       core/sched/idle.h sees to it that no task is forgotten.
 */
#ifndef SLEY_CORE_SCHED_RUNQ_H
#define SLEY_CORE_SCHED_RUNQ_H

#include "core/sched/levels.h"
#include "lf/spin.h"

/* Tasks that are queued here carry the tag.  RUNQ_NO_TAG names none: runq.c. */
#define RUNQ_NO_TAG 0u

/* In place of a level. */
#define RUNQ_SPILL NR_LEVELS

struct runq {
	/* Hints, readable without the lock: */
	uint64_t hint; /* the bitmap, with the spill at the default level */
	uint32_t has_first; /* RUNQ_FIRST, RUNQ_LOOKS                         */
	struct spinlock lock;
	unsigned int tag; /* unlike the tag of any other queue, or NO_TAG */
	struct task_fifo spill; /* under lock */
	struct levels levels;   /* under lock */
	uint64_t *mirror; /* under lock: the hint for other processes; or NULL */
	bool looks;       /* under lock: the picks of workers look at peers */
	/* Written under lock, see runq_pushed(). */
	uint32_t pushed[NR_LEVELS + 1];
	uint32_t taken[NR_LEVELS + 1];
} cache_aligned;

#define RUNQ_FIRST 1u /* urgent tasks, or tasks from outside            */
#define RUNQ_LOOKS 2u /* each pick looks at peers: core/sched/lease.h   */

/* All of the process. */
extern struct runqs {
	struct spinlock lock;
	unsigned int last; /* the highest tag that was ever given (lock) */
	struct runq *by_tag[1u << TASK_QUEUED_TAG_BITS]; /* under lock */
} sley__runqs;

static inline uint64_t runq_hint(const struct runq *runq)
{
	/* relaxed: Q1 is a hint. */
	return load_relaxed(&runq->hint);
}

/*
 * Is there something to do before a worker's own tasks: RUNQ_FIRST, RUNQ_LOOKS?  A bool
 * would cost the pick two instructions.
 */
static inline uint32_t runq_is_first(const struct runq *runq)
{
	/* relaxed: Q1 is a hint. */
	return load_relaxed(&runq->has_first);
}

/* Are there tasks that go before a worker's own: of the default level, or above? */
static inline bool runq_has_first(const struct runq *runq)
{
	return runq_is_first(runq) & RUNQ_FIRST;
}

static inline bool runq_has_looks(const struct runq *runq)
{
	return unlikely(runq_is_first(runq) & RUNQ_LOOKS);
}

/*
 * The place behind the last task of @level, or of RUNQ_SPILL.  The place has been
 * reached when all tasks that are there now have been taken, by any worker; or a
 * little later, if the level of such a task is changed.
 */
static inline uint32_t runq_pushed(const struct runq *runq, unsigned int level)
{
	/* relaxed: tasks that the caller knows to be there are counted. */
	return load_relaxed(&runq->pushed[level]);
}

static inline bool runq_reached(const struct runq *runq, unsigned int level,
				uint32_t place)
{
	/* relaxed: an older count makes the caller look once more. */
	return (int32_t)(load_relaxed(&runq->taken[level]) - place) >= 0;
}

static inline bool runq_has_spill(const struct runq *runq)
{
	return !runq_reached(runq, RUNQ_SPILL, runq_pushed(runq, RUNQ_SPILL));
}

/* How many tasks of @level are there: exact if no thread pushes or takes. */
static inline uint32_t runq_length(const struct runq *runq, unsigned int level)
{
	/* relaxed: a hint. */
	uint32_t taken = load_relaxed(&runq->taken[level]);
	uint32_t nr = runq_pushed(runq, level) - taken;

	return (int32_t)nr > 0 ? nr : 0;
}

/* All zero, but for a tag of its own; fini returns the tag. */
void runq_init(struct runq *runq);
void runq_fini(struct runq *runq);

/* Do picks look at peers? */
void runq_set_looks(struct runq *runq, bool looks);

/*
 * From now on the hint is written to *@mirror, too, which other processes may read.  NULL:
 * to none; when this returns, the old mirror is written no more.
 */
void runq_set_mirror(struct runq *runq, uint64_t *mirror);

void runq_push(struct runq *runq, struct sley_task *task);

/* A chain linked by ->next, kept in order. */
void runq_push_chain(struct runq *runq, struct sley_task *chain);

/* The same; tasks of the default level join the spill. */
void runq_spill_chain(struct runq *runq, struct sley_task *chain);

/* The first task of @level, or NULL. */
struct sley_task *runq_take(struct runq *runq, unsigned int level);

/* Up to @max tasks of @level into @out; returns how many. */
unsigned int runq_take_batch(struct runq *runq, unsigned int level,
			     struct sley_task **out, unsigned int max);

/* The same from the spill. */
unsigned int runq_take_spill(struct runq *runq, struct sley_task **out,
			     unsigned int max);

/*
 * If @task is queued in one of these queues, change its level and move it to the
 * tail there.  False: @task is in none of them, and nothing was done.  Any
 * thread.
 */
bool runq_move(struct sley_task *task, unsigned int level);

/*
 * A thread that is queueing a task in one of these queues has done so when this
 * returns; a thread that begins later sees the caller's earlier stores.
 */
void runq_settle(void);

#endif
