/* SPDX-License-Identifier: MIT */
/*
 * blocked.c - row `blocked`: a million fibers, each with a guarded stack, all
 * blocked at the same time.
 *
 * `ns` is the time until a spawned fiber has blocked.  `bytes` is the resident
 * memory per fiber: the stack, the fiber and the struct sley_task.
 */
#include "rows.h"

#define BATCH 128 /* spawned before the spawner yields */

struct blocking {
	const struct measure *m;
	struct sley_event gate;
	size_t nr;
	uint64_t started; /* by tasks of any worker, hence atomic */
	uint64_t ended;
};

static void block(void *arg)
{
	struct blocking *b = arg;

	__atomic_fetch_add(&b->started, 1, __ATOMIC_RELAXED);
	(void)!sley_event_wait(&b->gate);
	__atomic_fetch_add(&b->ended, 1, __ATOMIC_RELAXED);
}

static void let_run(struct blocking *b, size_t nr)
{
	while (__atomic_load_n(&b->started, __ATOMIC_RELAXED) < nr)
		sley_yield();
}

static void root(void *arg)
{
	struct blocking *b = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t rss = measure_rss(), start = measure_now();
	struct sley_task *tasks = calloc(b->nr, sizeof(*tasks));

	MEASURE_CHECK(b->m, tasks != NULL);
	for (size_t i = 0; i < b->nr; i++) {
		sley_spawn(&group, &tasks[i], block, b);
		if (i % BATCH == BATCH - 1)
			let_run(b, i + 1);
	}
	let_run(b, b->nr);
	measure_report_each("ns", start, b->nr);
	measure_report("bytes", (double)(measure_rss() - rss) / (double)b->nr);
	MEASURE_CHECK(b->m, b->started == b->nr);
	MEASURE_CHECK(b->m, b->ended == 0);
	sley_event_set(&b->gate);
	sley_join(&group);
	MEASURE_CHECK(b->m, b->ended == b->nr);
	free(tasks);
}

void row_blocked(const struct measure *m)
{
	struct blocking b = {
		.m = m,
		.gate = SLEY_EVENT_INIT,
		.nr = m->quick ? BLOCKED_QUICK : BLOCKED_FIBERS,
	};

	MEASURE_CHECK(m, sley_run(SLEY_CONFIG(.workers = m->workers,
					      .stack_kib = BLOCKED_STACK_KIB),
				  root, &b) == 0);
}
