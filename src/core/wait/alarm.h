/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - who keeps the alarms (core/wait/timer.h) of those that do not wait.
 */
#ifndef SLEY_CORE_WAIT_ALARM_H
#define SLEY_CORE_WAIT_ALARM_H

#include "core/sched/worker.h"

/*
 * A worker that fires the timers of the caller's runtime; @strand is the caller's,
 * or NULL.  NULL: there is none.
 */
struct worker *alarm_keeper(const struct strand *strand);

/*
 * The earliest alarm there was started, see alarm_start(): @worker may sleep until a
 * later time.  For one that is not the earliest whoever started that has said so.
 */
void alarm_announce(struct worker *worker);

#endif
