/* SPDX-License-Identifier: MIT */
/*
 * sley/fork.h - fork and join at the price of a call.
 *
 * The plain form.  A forked child waits on its parent's own stack of forks: an
 * idle worker may take it; if none does, the join simply calls it.  If one
 * did, the join suspends the parent, and its worker goes on with other work.
 *
 * A child must be joined by the task that forked it, in the opposite order of
 * the forks, before the function that holds it returns.
 */
#ifndef SLEY_FORK_H
#define SLEY_FORK_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/* A forked child.  The fields are private; needs no initialisation. */
struct sley_fork {
	sley_fn *fn;
	void *arg;
	uint64_t state; /* src/lf/fork_stack.h            */
	void *parent;   /* once stolen: src/core/fork.c   */
};

/*
 * sley_fork - let @fn(@arg) run beside the caller.
 *
 * Context:  a task
 * Blocks:   never
 * Owner:    @child is borrowed until sley_fork_join() returns.
 * Order:    everything before the call happens before @fn.
 * Errors:   none; where memory for the stack of forks is short, @fn runs at
 *           the join
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void
sley_fork(struct sley_fork *child, sley_fn *fn, void *arg);

/*
 * sley_fork_join - wait for the child that was forked last, or call it.
 *
 * Context:  the task that forked @child
 * Blocks:   the fiber, if another worker runs @child
 * Order:    everything in the child happens before the return.
 * Errors:   none; joining any but the newest unjoined child is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER void
sley_fork_join(struct sley_fork *child);

SLEY_END_DECLS
#endif
