/* SPDX-License-Identifier: MIT */
/*
 * monitor.h - a thread that helps where a worker is stuck in a long task.
 *
 * The monitor looks at all workers every MONITOR_PERIOD while any worker is awake,
 * and sleeps when all are parked.  A worker that wakes up nudges the monitor.  The
 * monitor asks a worker whose timers are overdue, or that may have left tasks in a
 * remote queue behind its own tasks, for a fair pick.  If a worker is
 * stuck in a long task, the monitor fires the timers of that worker, and sees to
 * it that another worker takes the work queued behind that task.  And the monitor
 * lets unused stacks go cold.
 *
 * A timer that is due before the period is over makes the monitor look then, but
 * not within a tick (config.tick_us) of its last look.  So a timer of a busy worker
 * is noticed a tick late at most.  Without such a timer nothing ticks.  A thread
 * that starts a timer, and goes on with other work, *hastens* the monitor if the
 * monitor means to look later than that:
 *
 *   starter of a timer                   monitor
 *   1. puts the timer in, under the      1. plans for the end of the period
 *      lock of the timers                2. reads each earliest deadline, under
 *   2. reads the plan: more than a          the lock of the timers
 *      tick behind the deadline?         3. plans for the earliest, and sleeps
 *      Then it wakes the monitor
 *
 * The lock decides: the monitor finds the timer in step 2, or the starter finds the
 * plan of step 1 or 3.  A worker that sleeps wakes up for its own timers, and is left
 * out; when it wakes up and gets a task, it reads the plan (I5 of core/sched/idle.h).
 *
 * The monitor looks after sources, too (core/sched/source.h): while a source is due, the
 * monitor looks once in a tick, and asks each worker that is awake for a fair pick.
 *
 * The monitor's word publishes nothing else: the data that the monitor looks at has
 * orders of its own, or is advice.  I4 of core/sched/idle.h says why a worker with
 * work sees that the monitor is asleep.
 *
 * Rejected: a tick of a millisecond whenever a timer is pending (a timer that is an
 * hour away would wake the monitor 3.6 million times); a timer of the kernel for
 * each worker (a system call for each earliest deadline).
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
	MONITOR_HASTENED, /* awake, to look at once    */
	MONITOR_ASLEEP,   /* until a worker wakes up   */
	MONITOR_STOPPED,
};

/* The counters of one worker at the monitor's last look. */
struct monitor_sight {
	uint64_t finished;
	uint64_t switches;
	uint64_t turns;
};

struct monitor {
	uint32_t word;    /* enum monitor_state; the futex                   */
	uint64_t late_ns; /* the next look, less a tick; 0: at first         */
	uint64_t aged_ns; /* when stacks were aged last                      */
	pthread_t pthread;
	bool started;
};

must_check int monitor_start(struct sley *rt);
void monitor_stop(struct sley *rt);

/*
 * By the monitor: has @worker done nothing since the last call?  Then a task holds
 * the worker.  A hastened look comes so soon that this may be a task like any other:
 * no harm.
 */
bool monitor_is_held(struct worker *worker);

/* By the monitor: look after the work behind a task that does not end. */
void monitor_look_after(struct worker *worker, uint64_t now_ns);

/* By the monitor: if all workers sleep, sleep, too, until a worker wakes up. */
void monitor_sleep(struct sley *rt);

/* By the monitor at @now_ns, which a thread has @hastened: the time of the next look. */
uint64_t monitor_plan(struct sley *rt, uint64_t now_ns, bool hastened);

void monitor_wake(struct monitor *monitor);
void monitor_hasten(struct monitor *monitor);

/*
 * A worker has work, and @deadline_ns is the earliest deadline there.  Called with
 * nothing locked: it may wake the monitor.
 */
static inline void monitor_expect(struct monitor *monitor, uint64_t deadline_ns)
{
	/*
	 * relaxed: the lock of the timers, or I5 of core/sched/idle.h, orders the
	 * load: see above.
	 */
	if (unlikely(deadline_ns < load_relaxed(&monitor->late_ns)))
		monitor_hasten(monitor);
}

/* A worker has work again. */
static inline void monitor_nudge(struct monitor *monitor)
{
	/* relaxed: I4 of core/sched/idle.h orders the load. */
	if (unlikely(load_relaxed(&monitor->word) == MONITOR_ASLEEP))
		monitor_wake(monitor);
}

#endif
