/* SPDX-License-Identifier: MIT */
/*
 * suspend.h - a task leaves its stack, and comes back to it later.
 *
 * Each kind of suspension is a request to the next stack (enum after_kind), and all
 * kinds have these steps in common, in this order:
 *
 *   1. The task says where its stack is: a thread that makes the task ready, even
 *      before the worker has left, finds the strand.
 *   2. The children that the task has forked go where thieves look.  Thieves look
 *      at the strand that a worker is on, and the worker is about to be on another;
 *      the task may wait for a thing that only its child will do.
 *   3. The worker picks the next task, and switches.  The pick comes after 2: the
 *      worker itself may take a child.
 *   4. Back on its stack, the task takes the children that are left out of that
 *      list, before it forks or joins.
 *
 * strand_suspend() is all four.  A yield, an overtaken task and a blocking region call
 * the halves: a yield that finds no other task stays, an overtaken task knows the next
 * task, and a region comes back from a thread that is not a worker.
 *
 * All of this is inline; see core/sched/switch.h for the reason.
 */
#ifndef SLEY_CORE_SCHED_SUSPEND_H
#define SLEY_CORE_SCHED_SUSPEND_H

#include "core/sched/steal.h"
#include "core/sched/switch.h"

/* Steps 1 and 2, for the task on the current strand of @worker. */
static inline __attribute__((always_inline)) void
suspend_begin(struct worker *worker)
{
	struct strand *strand = worker->strand;

	task_set_strand(strand->task, strand);
	if (unlikely(!fork_stack_empty(&strand->forks)))
		fork_leave_behind(worker);
}

/* Step 4, by the task on @strand. */
static inline __attribute__((always_inline)) void
suspend_end(struct strand *strand)
{
	if (unlikely(strand->parents_home))
		fork_come_back(strand);
}

/*
 * Suspend the task on the current strand of @worker.  The fields of worker->after
 * that @kind needs are filled in by the caller before.  Returns when a worker has
 * resumed the task.
 */
static inline __attribute__((always_inline)) void
strand_suspend(struct worker *worker, enum after_kind kind)
{
	struct strand *strand = worker->strand;

	suspend_begin(worker);
	worker->after.kind = kind;
	(void)worker_switch_away(worker);
	suspend_end(strand);
}

#endif
