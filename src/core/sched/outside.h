/* SPDX-License-Identifier: MIT */
/*
 * outside.h - how a worker shares its time between local tasks and tasks from outside.
 *
 * A *task from outside* was made ready by a thread that is no worker of the runtime,
 * and waits at the default level of the shared queue (core/sched/runq.h).  All other
 * tasks of the default level are *local*.  While tasks of both kinds wait, each kind
 * gets half of the worker's time, whatever one task takes: a burst of empty tasks from
 * outside is not served one task for each local task of a millisecond, and a stream of
 * long tasks from outside does not leave one short local task each.
 *
 * The worker keeps a balance: the time that local tasks had beyond the time that tasks
 * from outside had.  If the balance is not negative, a task from outside is next.  The
 * balance never exceeds a tick (config.tick_us), in either direction: neither kind of
 * task pays for more than a tick of its past.  All time without tasks from outside is
 * time of local tasks, so after a quiet tick a burst is served at once, for a tick.
 *
 * The clock is read at picks where both kinds wait, and at a pick after the last task
 * from outside: the next pick, or the next fair pick if another worker took that task.
 * A worker without local tasks reads no clock, and forgets the balance.
 *
 * All of it is the worker's own.
 *
 * Rejected: docs/adr/0027-work-from-outside-has-half-of-the-time.md.
 */
#ifndef SLEY_CORE_SCHED_OUTSIDE_H
#define SLEY_CORE_SCHED_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct outside {
	uint64_t since_ns;  /* when the balance was drawn; 0: never          */
	int64_t balance_ns; /* of local tasks, beyond tasks from outside     */
	bool runs;          /* since then a task from outside has the worker */
};

static inline void outside_forget(struct outside *outside)
{
	*outside = (struct outside){ .runs = false };
}

/* Draws the balance at @now_ns.  Is a task from outside next? */
static inline bool outside_is_next(struct outside *outside, uint64_t now_ns,
				   uint64_t tick_ns)
{
	const int64_t most = (int64_t)tick_ns;

	if (outside->since_ns) {
		uint64_t past_ns = now_ns - outside->since_ns;
		/* More would not count: twice the most goes from end to end. */
		int64_t took = past_ns < 2 * tick_ns ? (int64_t)past_ns
						     : 2 * most;

		outside->balance_ns += outside->runs ? -took : took;
		if (outside->balance_ns > most)
			outside->balance_ns = most;
		if (outside->balance_ns < -most)
			outside->balance_ns = -most;
	}
	outside->since_ns = now_ns;
	outside->runs = false;
	return outside->balance_ns >= 0;
}

#endif
