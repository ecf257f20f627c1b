/* SPDX-License-Identifier: MIT */
/*
 * create.c - row `create`: the whole life of a fiber that blocks once.
 *
 * A few fibers are alive at the same time, so that the stacks stay warm: spawn the
 * fibers, let each run until the fiber blocks, wake all, join all.
 */
#include "rows.h"

struct creating {
	const struct measure *m;
	struct sley_event gate;
	uint64_t started; /* by tasks of any worker, hence atomic */
	uint64_t ended;
};

static void block_once(void *arg)
{
	struct creating *c = arg;

	__atomic_fetch_add(&c->started, 1, __ATOMIC_RELAXED);
	(void)!sley_event_wait(&c->gate);
	__atomic_fetch_add(&c->ended, 1, __ATOMIC_RELAXED);
}

static void one_batch(struct creating *c, uint64_t already)
{
	struct sley_task tasks[CREATE_BATCH];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i < CREATE_BATCH; i++)
		sley_spawn(&group, &tasks[i], block_once, c);
	do {
		sley_yield();
	} while (__atomic_load_n(&c->started, __ATOMIC_RELAXED) <
		 already + CREATE_BATCH);
	sley_event_set(&c->gate);
	sley_join(&group);
	sley_event_clear(&c->gate);
}

static void root(void *arg)
{
	struct creating *c = arg;
	uint64_t batches = measure_size(c->m, CREATE_BATCHES);
	uint64_t nr = 0, start = measure_now();

	for (uint64_t i = 0; i < batches; i++, nr += CREATE_BATCH)
		one_batch(c, nr);
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(c->m, c->started == nr);
	MEASURE_CHECK(c->m, c->ended == nr);
}

void row_create(const struct measure *m)
{
	struct creating c = { .m = m, .gate = SLEY_EVENT_INIT };

	row_run(m, root, &c);
}
