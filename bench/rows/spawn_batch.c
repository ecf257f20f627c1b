/* SPDX-License-Identifier: MIT */
/*
 * spawn_batch.c - row `spawn-batch`: a task forks empty children in batches and
 * joins each batch; typed and plain.
 */
#include "rows.h"

#include "../tally.h"

static void empty(int nth);
SLEY_FORKABLE_VOID(empty, int, nth)

static void empty(int nth)
{
	(void)nth;
	tally_one();
}

static void inline_batches(uint64_t batches)
{
	static struct empty_fork child[SPAWN_BATCH];

	for (uint64_t i = 0; i < batches; i++) {
		for (int j = 0; j < SPAWN_BATCH; j++)
			empty_fork(&child[j], j);
		for (int j = SPAWN_BATCH; j-- > 0;)
			empty_join(&child[j]);
	}
}

static void plain_empty(void *arg)
{
	(void)arg;
	tally_one();
}

static void plain_batches(uint64_t batches)
{
	static struct sley_forked child[SPAWN_BATCH];

	for (uint64_t i = 0; i < batches; i++) {
		for (int j = 0; j < SPAWN_BATCH; j++)
			sley_fork(&child[j], plain_empty, NULL);
		for (int j = SPAWN_BATCH; j-- > 0;)
			sley_fork_join(&child[j]);
	}
}

static void measure_form(const struct measure *m, const char *metric,
			 void (*run)(uint64_t batches))
{
	uint64_t batches = measure_size(m, SPAWN_BATCHES);
	uint64_t warm = batches / 10, before = tally_sum(), start;

	run(warm);
	start = measure_now();
	run(batches);
	measure_report_each(metric, start, batches * SPAWN_BATCH);
	MEASURE_CHECK(m,
		      tally_sum() - before == (warm + batches) * SPAWN_BATCH);
}

static void root(void *arg)
{
	const struct measure *m = arg;

	measure_form(m, "ns", inline_batches);
	measure_form(m, "plain_ns", plain_batches);
}

void row_spawn_batch(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
