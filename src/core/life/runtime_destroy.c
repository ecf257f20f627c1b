/* SPDX-License-Identifier: MIT */
/*
 * runtime_destroy.c - the end of a runtime, in its order.
 *
 * The gate is shut, the destroyer waits for everything, the stop hooks run, and
 * the destroyer waits once more.  A destroyer that gives up leaves the gate shut
 * and lets another destroyer try.
 *
 * Edges:
 *
 *   RD1  one destroyer gives up -> the next destroyer may begin : what the first
 *       did, its messages, and that it no longer listens
 */
#include "core/life/drain.h"
#include "core/life/hooks.h"
#include "core/life/runtime.h"
#include "os/thread.h"

#include <errno.h>

static int destroy(struct sley *rt, uint64_t deadline_ns)
{
	uint32_t destroying = 0;
	int err;

	if (!cas_acquire(&rt->destroying, &destroying, 1)) /* RD1 */
		return -EBUSY;
	gate_shut(rt);
	err = drain_wait(rt, deadline_ns);
	if (!err && hooks_queue_stop(rt))
		err = drain_wait(rt, deadline_ns);
	if (err) {
		drain_report(rt);
		store_release(&rt->destroying, 0); /* RD1 */
		return err;
	}
	/* A canceller may still be on the way out of sley_cancel_all(). */
	gate_shut(rt);
	runtime_free(rt);
	return 0;
}

/* Thread cancellation is off: pthread_join() could end the thread halfway. */
int runtime_destroy(struct sley *rt, uint64_t deadline_ns)
{
	int state = os_thread_no_cancel();
	int err = destroy(rt, deadline_ns);

	os_thread_cancel_again(state);
	return err;
}
