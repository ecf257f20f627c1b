/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - chooses the worker that fires an alarm (core/wait/timer.h), the keeper,
 * and wakes the keeper if the new alarm is its earliest.
 */
#ifndef SLEY_CORE_WAIT_ALARM_H
#define SLEY_CORE_WAIT_ALARM_H

#include "core/sched/worker.h"
#include "os/clock.h"

/*
 * A worker that fires the timers of the caller's runtime; @strand is the
 * caller's, or NULL.  NULL: there is no worker.
 */
struct worker *alarm_keeper(const struct strand *strand);

/*
 * The earliest alarm of @worker was started, see alarm_start(): @worker may sleep
 * until a later time.  An alarm that is not the earliest needs no announcement:
 * the starter of the earliest made it.
 */
void alarm_announce(struct worker *worker);

/*
 * For an alarm that rings each @interval_ns, and was due at @due_ns: when it is due next.
 * Times that are past are left out.
 */
static inline uint64_t alarm_next_time(uint64_t due_ns, uint64_t interval_ns)
{
	uint64_t now_ns = os_now();

	if (due_ns < now_ns)
		due_ns += (now_ns - due_ns) / interval_ns * interval_ns;
	return due_ns > UINT64_MAX - interval_ns ? UINT64_MAX
						 : due_ns + interval_ns;
}

#endif
