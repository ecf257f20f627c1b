/* SPDX-License-Identifier: MIT */
/*
 * self.h - the role of the calling thread: a worker, bound to a runtime, or neither.
 */
#ifndef SLEY_CORE_SCHED_SELF_H
#define SLEY_CORE_SCHED_SELF_H

#include "core/life/scope.h"
#include "lf/fork_stack.h"

#include <stdbool.h>
#include <stdint.h>

struct cleanup;
struct sley;
struct strand;
struct worker;

struct self {
	struct worker *worker; /* NULL: not a worker                     */
	struct sley *bound;    /* NULL: belongs to no runtime            */
	uint64_t tree;         /* of the thread, see core/task/tree.h         */
	bool forked; /* belonged to one, before fork(): core/life/after_fork.h */
	bool ringing;          /* fires timers, see core/wait/timer.h         */
	struct strand *strand; /* of core/wait/blocking.h: of the served task */
	struct opener opener;  /* of a thread that serves no task             */
	uint64_t holder;       /* of a thread, see core/wait/holder.h         */
	struct cleanup *serving; /* of a plain thread: route/serving.h        */
};

/*
 * Never read sley__self after a switch in the same function: the thread may be
 * another thread, and compilers keep the address.  The return value of the switch
 * names the thread.
 */
#ifndef SLEY_MODEL
extern _Thread_local struct self sley__self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else /* the threads of a model share one thread of the system */
struct self *model_self(void);
#define sley__self (*model_self())
#endif

/* The forks of threads that run no tasks: every fork is slow there. */
extern struct sley_forks sley__no_forks __attribute__((visibility("hidden")));

static inline struct worker *worker_current(void)
{
	return sley__self.worker;
}

/* The same where a switch may lie behind: no address is kept across this call. */
#ifndef SLEY_MODEL
struct worker *worker_now(void);
#else
#define worker_now() worker_current()
#endif

#endif
