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
#include "core/sched/source.h"
#include "os/clock.h"
#include "os/thread.h"

#include <errno.h>

/*
 * How long the sources are shut: time for the last tasks of a source to end, if they
 * do not wait for the source.  Twice as long each time.
 */
#define SHUT_NS_MIN 1000000ull
#define SHUT_NS_MAX 100000000ull
#define OPEN_TIMES 10 /* and are open so many times as long in between */

static uint64_t sooner(uint64_t deadline_ns, uint64_t in_ns)
{
	uint64_t soon_ns = os_now() + in_ns;

	return soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

/* Sources are asked as long as tasks are left: core/sched/source.h. */
static int drain_with_sources(struct sley *rt, uint64_t deadline_ns)
{
	uint64_t shut_ns = SHUT_NS_MIN;

	for (;;) {
		uint64_t until_ns = deadline_ns;
		int err;

		if (sources_were_used(rt))
			until_ns = sooner(deadline_ns, OPEN_TIMES * shut_ns);
		err = drain_wait(rt, until_ns);
		if (err && deadline_ns <= os_now())
			return err;
		if (!sources_shut(rt))
			return 0;
		if (!drain_wait(rt, sooner(deadline_ns, shut_ns)))
			return 0;
		sources_open(rt);
		if (shut_ns < SHUT_NS_MAX)
			shut_ns *= 2;
	}
}

static int destroy(struct sley *rt, uint64_t deadline_ns)
{
	uint32_t destroying = 0;
	int err;

	if (!cas_acquire(&rt->destroying, &destroying, 1)) /* RD1 */
		return -EBUSY;
	gate_shut(rt);
	err = drain_with_sources(rt, deadline_ns);
	if (!err && hooks_queue_stop(rt))
		err = drain_wait(rt, deadline_ns);
	if (err) {
		drain_report(rt);
		store_release(&rt->destroying, 0); /* RD1 */
		return err;
	}
	/* A canceller may still be on the way out of sley_cancel_all(). */
	gate_shut(rt);
	/* A worker that waits for a core of the domain could not leave. */
	if (rt->leave_domain)
		rt->leave_domain(rt);
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
