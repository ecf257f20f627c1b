/* SPDX-License-Identifier: MIT */
/*
 * monitor.h - a thread that helps where a worker is stuck in a long task.
 *
 * The monitor looks at all workers every MONITOR_PERIOD while any worker is awake,
 * and sleeps when all are parked.  A worker that wakes up nudges the monitor.  The
 * monitor asks a worker whose timers are overdue for a fair pick.  If a worker is
 * stuck in a long task, the monitor fires the timers of that worker, and sees to
 * it that another worker takes the work queued behind that task.  And the monitor
 * lets unused stacks go cold.
 *
 * The monitor's word publishes nothing else: the data that the monitor looks at has
 * orders of its own, or is advice.  I4 of core/sched/idle.h says why a worker with
 * work sees that the monitor is asleep.
 */
#ifndef SLEY_CORE_SCHED_MONITOR_H
#define SLEY_CORE_SCHED_MONITOR_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct sley;
struct worker;

#define MONITOR_PERIOD_NS 10000000ull

enum monitor_state {
	MONITOR_AWAKE,
	MONITOR_ASLEEP,
	MONITOR_STOPPED,
};

/* The counters of one worker at the monitor's last look. */
struct monitor_sight {
	uint64_t finished;
	uint64_t switches;
	uint64_t turns;
};

struct monitor {
	uint32_t word; /* enum monitor_state; the futex */
	pthread_t pthread;
	bool started;
};

must_check int monitor_start(struct sley *rt);
void monitor_stop(struct sley *rt);

/* By the monitor: look after the work behind a task that does not end. */
void monitor_look_after(struct worker *worker, uint64_t now_ns);

/* By the monitor: if all workers sleep, sleep, too, until a worker wakes up. */
void monitor_sleep(struct sley *rt);

void monitor_wake(struct monitor *monitor);

/* A worker has work again. */
static inline void monitor_nudge(struct monitor *monitor)
{
	/* relaxed: I4 of core/sched/idle.h orders the load. */
	if (unlikely(load_relaxed(&monitor->word) == MONITOR_ASLEEP))
		monitor_wake(monitor);
}

#endif
