/* SPDX-License-Identifier: MIT */
/*
 * fork.c - fork and join of one child: the plain form.
 *
 * Forking is a few stores into the fork stack of the current strand.  Where
 * there is another worker, the child is made public at once: the parent may
 * never call us again, and its child must not wait for that.
 */
#include "core/fork.h"
#include "core/forked.h"
#include "core/leave.h"

#include <sley/fork.h>

/* Marks a child that never got into the fork stack: no memory. */
#define FORK_AT_JOIN 2u

void sley_fork(struct sley_fork *child, sley_fn *fn, void *arg)
{
	struct worker *worker = worker_current();
	struct fork_stack *forks;

	sley_check(worker && worker->strand->task,
		   forked_rule("only a task forks, outside of blocking "
			       "regions; elsewhere, spawn"));
	forks = &worker->strand->forks;
	child->fn = fn;
	child->arg = arg;
	if (unlikely(fork_stack_full(forks) && !fork_make_room(worker))) {
		child->state = FORK_AT_JOIN;
		return;
	}
	fork_stack_push(forks, child);
	if (worker->rt->nr_workers > 1)
		fork_publish(worker);
}

/* Somebody else has it: wait until it has ended. */
static noinline void join_stolen(struct worker *worker, struct sley_fork *child)
{
	struct strand *strand = worker->strand;

	if (!fork_is_done(child)) {
		strand->task->fiber = strand;
		fork_leave_behind(worker);
		worker->after.kind = AFTER_FORK;
		worker->after.child = child;
		(void)worker_leave(worker);
		if (strand->parents_home)
			fork_come_back(strand);
	}
	tree_keep(strand);
	fork_stack_forget(&strand->forks);
}

void sley_fork_join(struct sley_fork *child)
{
	struct worker *worker = worker_current();
	struct fork_stack *forks;

	sley_check(worker && worker->strand->task,
		   forked_rule("join a child in the task that forked it"));
	forks = &worker->strand->forks;
	/* relaxed: only the owner ever sets it so. */
	if (unlikely(load_relaxed(&child->state) == FORK_AT_JOIN)) {
		child->fn(child->arg);
		return;
	}
	sley_check(!fork_stack_empty(forks) &&
			   fork_storage(forks)->slot[forks->head - 1] == child,
		   "join the newest child first");
	if (likely(fork_stack_pop(forks) == FORK_POP_OWN))
		child->fn(child->arg);
	else
		join_stolen(worker, child);
}
