/* SPDX-License-Identifier: MIT */
/*
 * sley/fork.h - fork and join at the price of a call.
 *
 * A task forks a child, does something else meanwhile, and joins the child:
 *
 *	struct half left = { .n = n / 2 };
 *	struct sley_forked child;
 *
 *	sley_fork(&child, sum, &left);
 *	...the other half...
 *	sley_fork_join(&child);
 *
 * A forked child waits in its parent's own stack of forks, which costs a few
 * stores.  An idle worker may take children from there, the oldest first, also
 * while the parent computes and never calls sley.  If no worker takes the
 * child, the join is a plain call.  If a worker took the child and the child
 * has not ended, the parent is suspended, and its worker goes on with other
 * work.  A child may block in any call, and may fork and open scopes itself, at
 * any depth.
 *
 * Every child is joined once, by the task that forked it, before the function
 * that has the struct sley_forked returns.  The fast order is the newest child
 * first: count a loop of joins downwards.  Other orders are allowed, but such a
 * join is linear: it looks for its child among the children that were forked
 * later, and moves them.  (With 10,000 children joined oldest first that is 5
 * us for each.)
 *
 * If a more urgent task is ready, a fork of a task lets it run first.  Then the
 * forking task goes on, as a rule before other tasks of its own priority.  So a
 * long computation holds no urgent task up.  If sley_set_priority() lowers the
 * priority of a computation that runs, ready tasks that are then more urgent may
 * have to wait until it blocks or ends.
 *
 * A child has the priority of its parent, and sley_cancelled() is true in the
 * child if the parent is cancelled; <sley/scope.h> says what else a child
 * inherits.
 *
 * A thread that is no task may fork, too.  On a plain thread that is bound to a
 * runtime each child becomes a task of that runtime, which costs about as much
 * as sley_spawn(); likewise in a blocking region.  On a thread without a
 * runtime the child is called at the join.
 *
 * This is the plain form, for functions of one pointer.  For functions of any
 * type, and faster still, see <sley/forkable.h>.
 */
#ifndef SLEY_FORK_H
#define SLEY_FORK_H

#include <sley/fork_stack.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/*
 * sley_fork - let @fn(@arg) run beside the caller.
 *
 * Context:  any thread
 * Blocks:   the fiber, while more urgent tasks run
 * Owner:    @child is borrowed until sley_fork_join() returns.
 * Order:    everything before the call happens before @fn.
 * Errors:   none; where memory for the stack of forks is short, @fn runs at
 *           the join.  @fn must not be NULL; only compilers check that, since a
 *           check in the call would cost a tenth of the call.
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER
	__attribute__((nonnull(1, 2))) static inline void
	sley_fork(struct sley_forked *child, sley_fn *fn, void *arg)
{
	(void)sley_fork_fast(child, fn, arg);
}

/*
 * sley_fork_join - wait for a child, or call it.
 *
 * Cancelling the caller does not cut the wait short: the child may live in the
 * frame of the caller.
 *
 * Context:  the task or thread that forked @child
 * Blocks:   the fiber, if another worker runs @child; a plain thread sleeps
 * Order:    everything in the child happens before the return.
 * Errors:   none; joining a child twice, or a child of another task, is misuse
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_fork_join(struct sley_forked *child)
{
	if (sley_fork_pop_fast(sley_forks_fast(), child))
		sley_fork_call_fast(child);
	else
		sley_fork_join_slow(child);
}

SLEY_END_DECLS
#endif
