/* SPDX-License-Identifier: MIT */
/*
 * once.c - row `once`: calls after the first call.
 */
#include "rows.h"

static void count(void *arg)
{
	uint64_t *times = arg;

	++*times;
}

static void root(void *arg)
{
	const struct measure *m = arg;
	struct sley_once_flag once = SLEY_ONCE_INIT;
	uint64_t nr = measure_size(m, ONCE_TURNS), times = 0;
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		sley_once(&once, count, &times);
		/* Each turn reads again: the compiler must not hoist the load. */
		__asm__ volatile("" : : : "memory");
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, times == 1);
}

void row_once(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
