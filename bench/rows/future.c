/* SPDX-License-Identifier: MIT */
/*
 * future.c - row `future`: a task is spawned to complete a future, and the spawner
 * waits for the value.
 */
#include "rows.h"

struct promise {
	struct sley_future future;
	uint64_t value;
};

static void keep(void *arg)
{
	struct promise *p = arg;

	(void)!sley_future_set(&p->future, &p->value);
}

static void root(void *arg)
{
	const struct measure *m = arg;
	uint64_t nr = measure_size(m, FUTURE_TURNS), sum = 0;
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		struct promise p = { SLEY_FUTURE_INIT, i };
		struct sley_task task;
		void *value = NULL;

		sley_spawn(&group, &task, keep, &p);
		MEASURE_CHECK(m, sley_future_wait(&p.future) == 0);
		MEASURE_CHECK(m, sley_future_get(&p.future, &value) == 0);
		sum += *(uint64_t *)value;
		sley_join(&group);
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, sum == nr * (nr - 1) / 2);
}

void row_future(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
