/* SPDX-License-Identifier: MIT */
/*
 * monitor.h - a thread that looks after workers that are held up.
 *
 * It looks at all workers every MONITOR_PERIOD while any of them works, and
 * sleeps when all are parked.  A worker that wakes up nudges it.  It asks a
 * worker whose timers are overdue for a fair pick, fires the timers of one that
 * is stuck in a long task, and sees to it that the work queued behind such a
 * task is taken by another worker.  And it lets stacks go cold that nobody
 * needs any more.
 *
 * Its word tells nothing but itself: what it looks at has orders of its own, or
 * is advice.  That a worker with work sees it asleep is I4 of core/sched/idle.h.
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

/* What it saw of one worker at its last look. */
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

/* Its own thread: see to what waits behind a task that does not end. */
void monitor_look_after(struct worker *worker, uint64_t now_ns);

/* Its own thread: if all workers sleep, sleep, too, until one wakes up. */
void monitor_sleep(struct sley *rt);

void monitor_wake(struct monitor *monitor);

/* A worker has work again. */
static inline void monitor_nudge(struct monitor *monitor)
{
	/* relaxed: I4 of core/sched/idle.h orders it. */
	if (unlikely(load_relaxed(&monitor->word) == MONITOR_ASLEEP))
		monitor_wake(monitor);
}

#endif
