/* SPDX-License-Identifier: MIT */
/*
 * pace.h - how many picks from one fair pick of a worker to the next.
 *
 * A fair pick gives a turn to one of the sources of work in rotating order.  Each
 * source is to have its turn within a tick, so where tasks are long there are fewer
 * picks in between.  How long tasks are is known from the picks since the last fair
 * pick: the clock is read at fair picks only.
 *
 * The worker counts picks in a *tick*, up to a fixed limit.  A *head start* of the tick
 * makes the way to the limit shorter, so that a pick compares the tick with a constant.
 *
 * If tasks become longer all at once, the fair pick comes late, once; the monitor asks
 * for an earlier one (core/sched/monitor.h).
 *
 * Rejected: the clock at each pick (25 ns); a tick of the monitor while tasks wait in
 * any source (there are always some on a busy worker).
 */
#ifndef SLEY_CORE_SCHED_PACE_H
#define SLEY_CORE_SCHED_PACE_H

#include <stdint.h>

struct pace {
	uint32_t head_start;
	uint64_t since_ns; /* when the last fair pick was */
};

/*
 * At a fair pick at @now_ns, when the tick has come to @tick: the next tick begins with
 * the result.  A turn is to take @turn_ns.  A tick beyond @limit says that a pick that
 * could not be fair has put it off to this one.
 */
static inline uint32_t pace_next(struct pace *pace, uint32_t tick,
				 uint32_t limit, uint64_t now_ns,
				 uint64_t turn_ns)
{
	/* At most twice as many: one short task among long tasks says little. */
	uint32_t most = 2 * (limit - pace->head_start);
	uint64_t took_ns = now_ns - pace->since_ns, nr;

	pace->since_ns = now_ns;
	if (tick > limit)
		return pace->head_start;
	if (most > limit)
		most = limit;
	nr = turn_ns * (tick - pace->head_start);
	nr = nr < took_ns * most ? nr / took_ns : most;
	pace->head_start = limit - (nr ? (uint32_t)nr : 1);
	return pace->head_start;
}

#endif
