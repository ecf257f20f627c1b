/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - who keeps the alarms (core/timer.h) of those that do not wait.
 */
#ifndef SLEY_CORE_ALARM_H
#define SLEY_CORE_ALARM_H

#include "core/worker.h"

/*
 * A worker that fires the timers of the caller's runtime; @strand is the caller's,
 * or NULL.  NULL: there is none.
 */
struct worker *alarm_keeper(const struct strand *strand);

/* An alarm was started there: it may sleep until a later time. */
void alarm_announce(struct worker *worker);

#endif
