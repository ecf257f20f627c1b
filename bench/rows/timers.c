/* SPDX-License-Identifier: MIT */
/*
 * timers.c - row `timers`: 100,000 tasks wait for an event, each with a different
 * deadline hours away; the event is set, and all deadlines are removed.  Time from
 * the first spawn to the last end, per task, in the second round: the first round
 * gets the memory.
 */
#include "rows.h"

struct waits {
	const struct measure *m;
	struct sley_task *tasks;
	struct sley_event event;
	uint64_t nr;
	uint64_t armed;
	uint64_t woken;
};

static void wait_long(void *arg)
{
	struct waits *w = arg;
	uint64_t nth = __atomic_fetch_add(&w->armed, 1, __ATOMIC_RELAXED);
	/* Spread over hours, in no order. */
	uint64_t away =
		3600 * SLEY_SEC + nth * 2654435761u % 1000003 * SLEY_MSEC;

	if (sley_event_wait_until(&w->event, sley_now() + away) == 0)
		__atomic_fetch_add(&w->woken, 1, __ATOMIC_RELAXED);
}

static void arm_and_cancel(struct waits *w)
{
	struct sley_group group = SLEY_GROUP_INIT;

	w->armed = 0;
	w->woken = 0;
	sley_event_clear(&w->event);
	for (uint64_t i = 0; i < w->nr; i++)
		sley_spawn(&group, &w->tasks[i], wait_long, w);
	while (__atomic_load_n(&w->armed, __ATOMIC_RELAXED) < w->nr)
		sley_yield();
	sley_event_set(&w->event);
	sley_join(&group);
	MEASURE_CHECK(w->m, w->woken == w->nr);
}

static void root(void *arg)
{
	struct waits *w = arg;
	uint64_t start;

	arm_and_cancel(w);
	start = measure_now();
	arm_and_cancel(w);
	measure_report_each("ns", start, w->nr);
}

void row_timers(const struct measure *m)
{
	struct waits w = {
		.m = m,
		.event = SLEY_EVENT_INIT,
		.nr = measure_size(m, TIMERS),
	};

	w.tasks = calloc(w.nr, sizeof(*w.tasks));
	MEASURE_CHECK(m, w.tasks != NULL);
	MEASURE_CHECK(m, sley_run(SLEY_CONFIG(.workers = m->workers,
					      .stack_kib = TIMERS_STACK_KIB),
				  root, &w) == 0);
	free(w.tasks);
}
