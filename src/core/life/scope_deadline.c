/* SPDX-License-Identifier: MIT */
/*
 * scope_deadline.c - the alarm of a scope; see scope.h.
 *
 * Edges:
 *
 *   XD1  an alarm is over -> the close sees so : no alarm touches the scope
 */
#include "core/life/scope.h"

#include "core/wait/alarm.h"
#include "os/clock.h"

#include <errno.h>

_Static_assert(sizeof(struct alarm) <=
		       sizeof(((struct sley_scope *)NULL)->alarm),
	       "a scope has room for its alarm");

static struct sley_scope *scope_of_alarm(struct alarm *alarm)
{
	return container_of((void *)alarm, struct sley_scope, alarm);
}

enum { ALARM_NONE, ALARM_SET, ALARM_RINGS, ALARM_OVER };

static void hold(struct alarm *alarm)
{
	/* relaxed: under the lock of the timers. */
	store_relaxed(&scope_of_alarm(alarm)->alarmed, ALARM_RINGS);
}

static void ring(struct alarm *alarm)
{
	struct sley_scope *scope = scope_of_alarm(alarm);

	scope_cancel(scope, -ETIMEDOUT);
	store_release(&scope->alarmed, ALARM_OVER); /* XD1 */
	spin_done(&scope->alarmed);
}

static bool rings(const void *alarmed)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)alarmed) == ALARM_RINGS;
}

void scope_deadline_stop(struct sley_scope *scope)
{
	uint32_t nr_looks = 0;

	(void)timer_stop(&((struct alarm *)(void *)scope->alarm)->timer);
	while (load_acquire(&scope->alarmed) == ALARM_RINGS) { /* XD1 */
		spin_hint(&scope->alarmed);
		spin_wait(&scope->alarmed, rings, nr_looks++);
	}
}

static void set_alarm(struct sley_scope *scope, struct worker *worker)
{
	struct alarm *alarm = (struct alarm *)(void *)scope->alarm;

	alarm->hold = hold;
	alarm->ring = ring;
	/* relaxed: the lock of the timers publishes the store. */
	store_relaxed(&scope->alarmed, ALARM_SET);
	if (alarm_start(&worker->timers, alarm, scope->deadline_ns))
		alarm_announce(worker);
}

void scope_deadline_set(struct sley_scope *scope, const struct strand *strand)
{
	struct worker *worker = alarm_keeper(strand);

	if (scope->deadline_ns <= os_now())
		scope_cancel(scope, -ETIMEDOUT);
	else if (worker)
		set_alarm(scope, worker);
}
