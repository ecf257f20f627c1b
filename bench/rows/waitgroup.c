/* SPDX-License-Identifier: MIT */
/*
 * waitgroup.c - row `waitgroup`: add 1 and subtract 1, uncontended.
 */
#include "rows.h"

static void root(void *arg)
{
	const struct measure *m = arg;
	uint64_t nr = measure_size(m, WAITGROUP_TURNS), zero = 0;
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		sley_waitgroup_add(&wg, 1);
		zero += sley_waitgroup_done(&wg);
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, zero == nr && sley_waitgroup_wait(&wg) == 0);
}

void row_waitgroup(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
