/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - row `spawn`: a task spawns empty tasks and joins them.
 */
#include "rows.h"

#include "../tally.h"

static void empty(void *arg)
{
	(void)arg;
	tally_one();
}

static void spawn_batches(uint64_t batches)
{
	static struct sley_task tasks[SPAWN_BATCH];
	struct sley_group group = SLEY_GROUP_INIT;

	for (uint64_t i = 0; i < batches; i++) {
		for (int j = 0; j < SPAWN_BATCH; j++)
			sley_spawn(&group, &tasks[j], empty, NULL);
		sley_join(&group);
	}
}

static void root(void *arg)
{
	const struct measure *m = arg;
	uint64_t batches = measure_size(m, SPAWN_BATCHES);
	uint64_t warm = batches / 10, start;

	spawn_batches(warm);
	start = measure_now();
	spawn_batches(batches);
	measure_report_each("ns", start, batches * SPAWN_BATCH);
	MEASURE_CHECK(m, tally_sum() == (warm + batches) * SPAWN_BATCH);
}

void row_spawn(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
