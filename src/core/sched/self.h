/* SPDX-License-Identifier: MIT */
/*
 * self.h - what the calling thread is: a worker, bound to a runtime, or neither.
 */
#ifndef SLEY_CORE_SCHED_SELF_H
#define SLEY_CORE_SCHED_SELF_H

#include "core/life/scope.h"
#include "lf/fork_stack.h"

#include <stdbool.h>
#include <stdint.h>

struct sley;
struct strand;
struct worker;

struct self {
	struct worker *worker; /* NULL: not a worker                     */
	struct sley *bound;    /* NULL: belongs to no runtime            */
	uint64_t tree;         /* of the thread, see core/task/tree.h         */
	bool forked;  /* it did, before fork(): core/life/after_fork.h   */
	bool ringing; /* it fires timers, see core/wait/timer.h      */
	struct strand *strand; /* of core/wait/blocking.h: whose task it serves */
	struct opener opener; /* of a thread that serves none           */
	uint64_t holder;      /* of a thread, see core/wait/holder.h         */
};

/*
 * Never read it after a switch in the same function: the thread may be another
 * one, and compilers keep the address.  What comes back from a switch tells.
 */
#ifndef SLEY_MODEL
extern _Thread_local struct self sley__self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else /* the threads of a model share one thread of the system */
struct self *model_self(void);
#define sley__self (*model_self())
#endif

/* Those of threads that run no tasks: every fork is slow there. */
extern struct sley_forks sley__no_forks __attribute__((visibility("hidden")));

static inline struct worker *worker_current(void)
{
	return sley__self.worker;
}

/* The same where a switch may lie behind: a call that nothing is kept across. */
#ifndef SLEY_MODEL
struct worker *worker_now(void);
#else
#define worker_now() worker_current()
#endif

#endif
