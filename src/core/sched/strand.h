/* SPDX-License-Identifier: MIT */
/*
 * strand.h - a strand: a fiber with the worker's loop at its bottom.
 *
 * core/sched/worker.h tells how strands and workers belong together.
 *
 * Two fields are read by other threads, by reports, cancellers and thieves: the task
 * on the strand, and the worker that runs the strand.  Only the functions below
 * reach the two fields.  Both are relaxed: a strand is published to other threads by
 * the task that is on it (core/task/task_state.h), by edge S1 of
 * core/sched/worker.h, or under a lock; and a reader without any of these takes the
 * value as a hint.
 */
#ifndef SLEY_CORE_SCHED_STRAND_H
#define SLEY_CORE_SCHED_STRAND_H

#include "base/list.h"
#include "core/life/scope.h"
#include "core/task/cleanup.h"
#include "core/task/task_fields.h"
#include "core/task/tree.h"
#include "fiber/fiber.h"
#include "lf/fork_stack.h"
#include "lf/spin.h"

#include <sley/task.h>

struct sley;
struct worker;

/* The tasks that go before a task that has yielded: core/sched/yielded.h. */
enum line_state {
	LINE_NEVER, /* the task has not yielded      */
	LINE_NONE,  /* it has, and no line is drawn  */
	LINE_DRAWN, /* + the level                   */
};

struct line {
	uint32_t ring;   /* as far as this in the ring               */
	uint32_t shared; /* and as far as this in the shared queue   */
	uint32_t spill;  /* and as far as this in its spill          */
	uint16_t state;  /* enum line_state                          */
	bool child;      /* and one forked child                     */
};

/*
 * A blocked task costs a page of stack and a strand, so the size of a strand counts:
 * each cache line is 1.4 % of a blocked task.  (The row `blocked` of bench has a bar.)
 *
 * By cache lines: what the owner of the forks writes; what thieves look at or change,
 * and rare things; what a switch saves and loads; and the task with what is its own.
 */
struct strand {
	cache_aligned struct sley_forks forks; /* children the task has forked */
	struct list parents;         /* in worker.parents while suspended     */
	struct worker *parents_home; /* has that list; NULL: in no list       */
	struct region *region;       /* core/wait/region.h; NULL: on a worker */
	struct trace_scopes *scopes; /* core/trace/trace_scope.h              */
	struct fiber fiber;
	struct worker *home;      /* strand_home()                            */
	struct sley_task *task;   /* strand_task()                            */
	uint32_t claimed;         /* the task's state when last claimed       */
	uint32_t regions;         /* blocking regions the task is in, nested  */
	struct line line;         /* of a task that has yielded               */
	struct cleanup *cleanups; /* of the task                              */
	struct locals *locals;    /* of the task: core/task/local.c           */
	const struct how *within; /* parallel/how.h: the piece that it runs   */
	struct tree tree;         /* of the task                              */
	struct opener opener;     /* of scopes                                */
	union {
		struct member
			member; /* of a scope: only a task is linked there */
		struct strand *next; /* idle: in the worker's cache             */
	};
	struct spinlock end_lock; /* if it moves: a cancel and the task's end */
};

_Static_assert(sizeof(struct fiber) > 120 ||
		       sizeof(struct strand) == 7 * CACHE_LINE,
	       "a strand has grown: see bench, row `blocked`");

/* Was @strand made for one task, with a stack that is not from the pool? */
static inline bool strand_has_own_stack(const struct strand *strand)
{
	return !strand->fiber.stack.slot;
}

/* The task on @strand; NULL: @strand is idle. */
static inline struct sley_task *strand_task(const struct strand *strand)
{
	/* relaxed: see above. */
	return load_relaxed(&strand->task);
}

static inline void strand_set_task(struct strand *strand,
				   struct sley_task *task)
{
	/* relaxed: see above. */
	store_relaxed(&strand->task, task);
}

/* The worker that runs @strand, or ran @strand last. */
static inline struct worker *strand_home(const struct strand *strand)
{
	/* relaxed: see above. */
	return load_relaxed(&strand->home);
}

static inline void strand_set_home(struct strand *strand, struct worker *home)
{
	/* relaxed: see above. */
	store_relaxed(&strand->home, home);
}

/* An idle strand: from the cache, or new; NULL: no memory. */
struct strand *strand_get(struct worker *worker);

/* A strand with a stack of its own size, outside of any cache. */
struct strand *strand_create(struct sley *rt, size_t stack_size,
			     fiber_entry *entry, struct sley_task *task);

/* The worker has left @strand: cache it or free it. */
void strand_put(struct worker *worker, struct strand *strand);
void strand_free(struct sley *rt, struct strand *strand);

#endif
