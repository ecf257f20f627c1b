/* SPDX-License-Identifier: MIT */
/*
 * after_fork.h - the state of a runtime and its threads in a child of fork().
 *
 * fork() copies the memory, but only the thread that calls it.  A runtime in
 * the child has no workers, and its locks are in whatever state they were.  So
 * the child must not touch the runtime.  Each runtime remembers the number of forks
 * before its creation, and calls that name a runtime compare that number.
 *
 * The thread that forked goes on in the child as a plain thread of no runtime.
 * The thread remembers that it belonged to a runtime, for the error of later calls.
 * If the thread was in a task, it must not return from that task: below is the
 * loop of a worker that is gone.  A cleanup (core/task/cleanup.h) on the strand
 * says so; a blocking call that returns is told at once.
 *
 * State that all runtimes share is made whole: os/at_fork.h lists all of it.  The
 * tags of lost runtimes stay taken, since tasks that carry such a tag are still
 * there.  But such a tag leads to no queue: the queue's lock may be taken for ever.
 *
 * Rejected: making the old runtime work in the child with new threads.  The
 * stacks of tasks that ran elsewhere are in the middle of something.
 */
#ifndef SLEY_CORE_LIFE_AFTER_FORK_H
#define SLEY_CORE_LIFE_AFTER_FORK_H

#include "core/sched/worker.h"
#include "os/at_fork.h"

#define FORKED_RULE                                                            \
	"a runtime does not survive fork(): the child must create its own"

/* @rt is being created: @rt remembers where it belongs. */
void after_fork_begin(struct sley *rt);

/* Was @rt created before this process was forked off? */
static inline bool runtime_is_lost(const struct sley *rt)
{
	return rt->generation != os_fork_generation();
}

/* A task, or a blocking call, has returned in the child: says so and aborts. */
cold noreturn_fn void after_fork_returns(void);

/*
 * The runtime of the calling task, or the runtime that the calling thread is
 * bound to.  0, or the reason why there is none.
 */
must_check int runtime_of_caller(struct sley **rt);

/* Why the calling thread has no runtime: SLEY_ENORUNTIME or SLEY_EFORKED. */
int after_fork_error(void);

/*
 * The same for callers that cannot return an error: @rule, or the rule of fork().
 */
const char *after_fork_rule(const char *rule);

#endif
