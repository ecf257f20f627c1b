/* SPDX-License-Identifier: MIT */
/*
 * timers_busy.c - row `timers-busy`: how late a task wakes that sleeps until a
 * deadline, while its worker is busy with tasks of 100 us, and of 1 ms.
 *
 * The metrics are what is left after the length of one task: the rest of the running
 * task has to be waited for.
 */
#include "rows.h"

struct busy {
	const struct measure *m;
	uint64_t task_ns;
	bool over;
	uint64_t *samples;
	uint64_t nr;
};

static void be_busy(void *arg)
{
	struct busy *busy = arg;
	uint64_t start = measure_now();

	while (measure_now() - start < busy->task_ns)
		measure_pause();
	if (!__atomic_load_n(&busy->over, __ATOMIC_RELAXED))
		MEASURE_CHECK(busy->m, sley_schedule(be_busy, busy) == 0);
}

static void sleep_often(void *arg)
{
	struct busy *busy = arg;

	for (uint64_t i = 0; i < busy->nr; i++) {
		/* 2 to 5 ms, in no order. */
		uint64_t until = sley_now() + 2 * SLEY_MSEC +
				 i * 2654435761u % 3000 * SLEY_USEC;
		uint64_t late;

		MEASURE_CHECK(busy->m, sley_sleep_until(until) == 0);
		late = sley_now() - until;
		busy->samples[i] = late > busy->task_ns ? late - busy->task_ns
							: 0;
	}
	__atomic_store_n(&busy->over, true, __ATOMIC_RELAXED);
}

static void root(void *arg)
{
	struct busy *busy = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	for (int i = 0; i < 2 * busy->m->workers; i++)
		MEASURE_CHECK(busy->m, sley_schedule(be_busy, busy) == 0);
	sley_spawn(&group, &task, sleep_often, busy);
	sley_join(&group);
}

static void measure_late(const struct measure *m, const char *name,
			 uint64_t task_ns)
{
	static uint64_t samples[TIMERS_BUSY_SAMPLES];
	struct busy busy = { .m = m,
			     .task_ns = task_ns,
			     .samples = samples,
			     .nr = m->quick ? 10 : TIMERS_BUSY_SAMPLES };

	row_run(m, root, &busy);
	measure_report_tail(name, samples, busy.nr);
}

void row_timers_busy(const struct measure *m)
{
	measure_late(m, "100us", 100 * SLEY_USEC);
	measure_late(m, "1ms", SLEY_MSEC);
}
