/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - says when a long task holds up tasks that only its worker may run.
 *
 * A woken fiber resumes on its own worker (docs/adr/0004), a pinned task starts there.
 * If a task holds that worker, they wait, although other workers are idle.  The
 * monitor sees that a worker is held (core/sched/monitor.h).  If that lasts for
 * config.watchdog_ms, and there are such tasks, the watchdog reports it in a sentence:
 * once for each task (the watchdog looks whether the task is still on its strand), and
 * at most WATCHDOG_LINES lines in a WATCHDOG_WINDOW.  Work that other workers can take,
 * in the ring, the lane and the next slot, does not count: the monitor wakes a worker
 * for it.
 *
 * Where work may come from outside (core/sched/source.h), a task is also reported if tasks
 * have held all workers for ten times as long: then no worker looks for that work.
 *
 * The workers do nothing for the watchdog.  How many tasks wait is in their gauges
 * (core/sched/gauge.h).  The rest is in memory that belongs to the held worker, and
 * may change at any moment, or be freed with a task:
 *
 *   - the strand that the worker is on.  Strands are never unmapped while the runtime
 *     lives, and the monitor ends before the runtime.
 *   - the name of the task.  holder_describe() reads as a debugger does, by the
 *     kernel, which does not mind memory that is gone.  Where the kernel refuses such
 *     reads, the report does without the name.
 *
 * After all of this the watchdog looks at the counters of the worker once more.  A
 * worker that takes another task counts a switch, or the end of a task, before that
 * task runs and can end.  So if the counters have not changed, the task that was read
 * here has not ended meanwhile.  If they have changed, nothing is reported: the task
 * does not hold the worker any more.  An order that a weak memory might show otherwise
 * could only spoil a name or a number in a report.
 *
 * The single-threaded mode has no monitor, and no watchdog.
 *
 * Rejected: a timer for each task; a report by the worker itself after the task, which
 * never comes if the task never ends; to walk the lists of the held worker as a
 * debugger does (it works only where the kernel permits it).
 */
#ifndef SLEY_CORE_SCHED_WATCHDOG_H
#define SLEY_CORE_SCHED_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct sley_config;
struct strand;
struct worker;

#define WATCHDOG_LINES 4
#define WATCHDOG_WINDOW_NS 10000000000ull

/* Of a runtime; the monitor's own but for the count. */
struct watchdog {
	uint64_t patience_ns; /* config.watchdog_ms; UINT64_MAX: off        */
	uint64_t nr_found;    /* long tasks so far                          */
	uint64_t window_ns;   /* the time of the first line of this window  */
	uint32_t nr_lines;    /* in this window                             */
	uint32_t nr_left_out; /* tasks without a line, since the last line  */
};

/* Of a worker; the monitor's own. */
struct watchdog_sight {
	uint64_t since_ns; /* the last look at which it was not held; 0: none */
	const struct strand *strand; /* of the last task that was reported    */
	const void *task; /* that task, an address only; NULL: it has ended   */
	bool told;        /* while it has been held                           */
};

void watchdog_init(struct watchdog *watchdog, const struct sley_config *config);

/* By the monitor, at each look. */
void watchdog_look(struct worker *worker, bool held, uint64_t now_ns);

/* The number of long tasks so far; from any thread. */
uint64_t watchdog_found(const struct watchdog *watchdog);

#endif
