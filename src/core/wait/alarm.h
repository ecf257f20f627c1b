/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - the worker that keeps the alarms (core/wait/timer.h) of callers that do
 * not wait.
 */
#ifndef SLEY_CORE_WAIT_ALARM_H
#define SLEY_CORE_WAIT_ALARM_H

#include "core/sched/worker.h"

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

#endif
