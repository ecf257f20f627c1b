/* SPDX-License-Identifier: MIT */
/*
 * idle.c - row `idle`: what a pool costs that has nothing, or next to
 * nothing, to do.
 *
 * cpu_ms    CPU time of the whole process in 5 s of idleness
 * busy_pct  percent of a core at one empty task per millisecond, less what
 *           the same loop costs without the task
 * raw_pct   the same with the loop's own sleep and wake-up included
 */
#include "rows.h"

static void count(void *arg)
{
	uint32_t *ran = arg;

	__atomic_fetch_add(ran, 1, __ATOMIC_RELEASE);
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u),
			       (long)(ns % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Percent of a core; @rt NULL: without the tasks. */
static double tick(const struct measure *m, struct sley *rt, uint64_t ticks)
{
	uint64_t cpu = measure_cpu_now(), start = measure_now();
	uint32_t ran = 0;
	double percent;

	for (uint64_t i = 1; i <= ticks; i++) {
		sleep_until(start + i * IDLE_TASK_NS);
		if (rt != NULL)
			MEASURE_CHECK(m, sley_schedule_on(rt, count, &ran,
							  NULL) == 0);
	}
	percent = (double)(measure_cpu_now() - cpu) * 100.0 /
		  (double)(measure_now() - start);
	if (rt != NULL)
		measure_await(m, &ran, ticks);
	return percent;
}

void row_idle(const struct measure *m)
{
	uint64_t ns = m->quick ? 50000000 : IDLE_NS, cpu;
	double bare, busy;
	struct sley *rt;

	MEASURE_CHECK(m, sley_create(&rt, SLEY_CONFIG(.workers = m->workers)) ==
				 0);
	sleep_until(measure_now() + 10000000);
	cpu = measure_cpu_now();
	sleep_until(measure_now() + ns);
	measure_report("cpu_ms", (double)(measure_cpu_now() - cpu) / 1e6);
	bare = tick(m, NULL, ns / IDLE_TASK_NS);
	busy = tick(m, rt, ns / IDLE_TASK_NS);
	measure_report("busy_pct", busy - bare);
	measure_report("raw_pct", busy);
	sley_destroy(rt);
}
