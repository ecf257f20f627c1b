/* SPDX-License-Identifier: MIT */
/*
 * blocking.c - row `blocking`: a task calls an empty function on a thread of
 * the pool for blocking calls, and comes back.  The thread exists and is parked,
 * but for the first call.
 */
#include "rows.h"

static void count(void *arg)
{
	uint64_t *calls = arg;

	++*calls;
}

static void root(void *arg)
{
	static uint64_t samples[BLOCKING_SAMPLES];
	const struct measure *m = arg;
	uint64_t nr = m->quick ? 10 : BLOCKING_SAMPLES, calls = 0;

	MEASURE_CHECK(m, sley_blocking_call(count, &calls) == 0);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t start;

		sley_sleep(BLOCKING_PAUSE_NS);
		start = measure_now();
		MEASURE_CHECK(m, sley_blocking_call(count, &calls) == 0);
		samples[i] = measure_now() - start;
	}
	MEASURE_CHECK(m, calls == nr + 1);
	measure_report_percentiles(samples, nr);
}

void row_blocking(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
