/* SPDX-License-Identifier: MIT */
/*
 * fork_join.c - fork and join: the rare cases.
 *
 * The usual case is inline in <sley/fork_stack.h>: a few stores into the fork
 * stack of the current strand, and a call at the join.
 */
#include "core/sched/overtake.h"
#include "core/sched/steal.h"
#include "core/life/after_fork.h"
#include "core/wait/holder.h"
#include "core/sched/suspend.h"
#include "core/wait/wait.h"

#include <sley/fork_stack.h>

struct sley_forks *sley_forks_slow(void)
{
	return sley_forks_current;
}

/* ---- fork ------------------------------------------------------------------------- */

/*
 * A thread that runs no tasks has a stack of its own from its first fork on,
 * from which each child is taken again at once.  The child of the first fork is on
 * a stack that all such threads share: each thread that pushes there empties that
 * stack.
 */
static struct sley_forks *forks_of_thread(void)
{
	struct sley_forks *forks = holder_forks();

	/* relaxed: thieves know none of these stacks. */
	store_relaxed(&sley_forks_current->head, 0);
	sley_forks_current = forks;
	return forks;
}

/* A task may join @child after leaving the region, and this thread. */
static struct sley_forks *fork_in_thread(struct sley_forked *child)
{
	struct sley_forks *forks = forks_of_thread();
	struct strand *strand = sley__self.strand;

	if (!fork_give(sley__self.bound, strand, child))
		fork_mark(child, FORK_LOOSE);
	return strand ? &strand->forks : forks;
}

/* There is no memory for more: the newest child has to go, unless it is stolen. */
static void take_out(struct sley_forks *forks, struct sley_forked *child)
{
	uint32_t i = fork_head(forks) - 1;

	if (fork_stack_pop(forks, i) == FORK_POP_OWN)
		fork_mark(child, FORK_LOOSE);
	else if (i + 1 == fork_capacity(forks))
		sley_fatal("no memory for a forked child");
}

noinline struct sley_forks *sley_fork_slow(struct sley_forked *child)
{
	struct worker *worker = worker_current();
	struct sley_forks *forks;
	struct sley_task *urgent;

	if (!worker)
		return fork_in_thread(child);
	forks = &worker->strand->forks;
	if (unlikely(fork_stack_full(forks) && !fork_make_room(worker)))
		take_out(forks, child);
	fork_answer(worker);
	urgent = overtake_look(worker);
	if (unlikely(urgent))
		overtake_give_way(worker, urgent);
	return forks;
}

/* ---- join ------------------------------------------------------------------------- */

/* As a task: the worker goes on with other work. */
static void wait_as_task(struct worker *worker, struct sley_forked *child)
{
	worker->after.child = child;
	strand_suspend(worker, AFTER_FORK);
}

static void wait_as_thread(struct sley_forked *child)
{
	struct sley_task thread, *task = wait_thread(&thread);

	task_announce_wait(task);
	if (fork_await(child, task))
		(void)wait_announced(task, UINT64_MAX);
}

/* Another thread has @child: wait until @child has ended. */
static void wait_for(struct sley_forked *child)
{
	struct worker *worker = worker_current();

	if (fork_is_done(child))
		return;
	if (worker)
		wait_as_task(worker, child);
	else
		wait_as_thread(child);
}

/* Child @i of the task on @strand. */
static void join_nth(struct strand *strand, struct sley_forked *child,
		     uint32_t i)
{
	if (fork_take_back(strand, worker_current(), i) == FORK_POP_OWN) {
		fork_call(child);
		return;
	}
	wait_for(child);
	tree_keep(strand);
	fork_stack_forget(&strand->forks, i);
}

noinline void sley_fork_join_slow(struct sley_forked *child)
{
	struct strand *strand = strand_current();
	uint64_t state = fork_state(child);
	int64_t i = strand ? fork_stack_find(&strand->forks, child) : -1;

	if (i >= 0) {
		join_nth(strand, child, (uint32_t)i);
		return;
	}
	if (strand)
		fork_show(strand, worker_current(), 0);
	if (state == FORK_LOOSE) {
		fork_call(child);
	} else {
		sley_check(state <= FORK_GIVEN,
			   after_fork_rule(
				   "join a child once, in the task that "
				   "forked it"));
		wait_for(child);
		if (strand)
			tree_keep(strand);
	}
}
