/* SPDX-License-Identifier: MIT */
/*
 * blocking.c - <sley/blocking.h>: blocking code of a task runs on a thread of a
 * pool; the blocking code of any other caller runs in place.
 */
#include <sley/blocking.h>

#include "core/wait/blocking.h"
#include "core/life/after_fork.h"
#include "core/wait/region.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"

#include <errno.h>

struct user_call {
	sley_fn *fn;
	void *arg;
};

/* On a thread of the pool, which has no place in a child of fork(). */
static void call_user(void *arg)
{
	const struct user_call *call = arg;

	call->fn(call->arg);
	if (unlikely(sley__self.forked))
		after_fork_returns();
}

int sley_blocking_call_until(sley_fn *fn, void *arg, uint64_t deadline_ns)
{
	struct worker *worker = worker_current();
	struct user_call call = { fn, arg };

	sley_check_fn(fn);
	if (!worker) {
		int err = wait_refused(deadline_ns);

		if (!err)
			fn(arg);
		return err;
	}
	return blocking_call(&worker->rt->blocking,
			     &(const struct blocking_work){
				     .fn = call_user,
				     .arg = &call,
				     .strand = worker->strand,
			     },
			     deadline_ns);
}

int sley_blocking_call(sley_fn *fn, void *arg)
{
	sley_check_fn(fn);
	return sley_blocking_call_until(fn, arg, UINT64_MAX);
}

/* ---- in place -------------------------------------------------------------------- */

/* On a worker: the strand of the task, NULL for the code of a bound thread. */
static struct strand *strand_in_task(struct worker *worker)
{
	return worker->strand == &worker->base ? NULL : worker->strand;
}

/* On another thread: the strand that is in a region here, or NULL. */
static struct strand *strand_in_region(void)
{
	struct strand *strand = sley__self.strand;

	return strand && strand->region ? strand : NULL;
}

int sley_blocking_begin(void)
{
	struct worker *worker = worker_current();
	struct strand *strand = worker ? strand_in_task(worker)
				       : strand_in_region();

	if (!strand)
		return 0;
	if (strand->regions++)
		return worker ? -EAGAIN : 0; /* as the outermost */
	/* On another thread from here on. */
	return region_enter(worker);
}

void sley_blocking_end(void)
{
	struct worker *worker = worker_current();
	struct strand *strand = worker ? strand_in_task(worker)
				       : strand_in_region();

	if (!strand)
		return;
	sley_check(strand->regions,
		   "there is no blocking region: call sley_blocking_begin() "
		   "first");
	if (--strand->regions == 0 && !worker)
		region_leave(strand);
}
