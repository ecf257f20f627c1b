/* SPDX-License-Identifier: MIT */
/*
 * blocking.c - <sley/blocking.h>: who calls, and what that means.
 */
#include <sley/blocking.h>

#include "core/blocking.h"
#include "core/wait.h"
#include "core/worker.h"

#include <errno.h>

int sley_blocking_call_until(sley_fn *fn, void *arg, uint64_t deadline_ns)
{
	struct worker *worker = worker_current();

	if (!worker) {
		int err = wait_refused(deadline_ns);

		if (!err)
			fn(arg);
		return err;
	}
	return blocking_call(&worker->rt->blocking,
			     &(const struct blocking_work){
				     .fn = fn,
				     .arg = arg,
				     .strand = worker->strand,
			     },
			     deadline_ns);
}

int sley_blocking_call(sley_fn *fn, void *arg)
{
	return sley_blocking_call_until(fn, arg, UINT64_MAX);
}
