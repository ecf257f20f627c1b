/* SPDX-License-Identifier: MIT */
/*
 * idle.c - row `idle`: CPU time of the whole process in 5 s, with a pool that
 * has nothing to do.
 */
#include "rows.h"

void row_idle(const struct measure *m)
{
	uint64_t ns = m->quick ? 50000000 : IDLE_NS, cpu;
	struct sley *rt;

	MEASURE_CHECK(m, sley_create(&rt, SLEY_CONFIG(.workers = m->workers)) ==
				 0);
	measure_sleep_until(measure_now() + 10000000);
	cpu = measure_cpu_now();
	measure_sleep_until(measure_now() + ns);
	measure_report("cpu_ms", (double)(measure_cpu_now() - cpu) / 1e6);
	sley_destroy(rt);
}
