/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - row `rwlock`: read lock and unlock; one task per worker, all on
 * the same lock, no writer around.
 */
#include "rows.h"

#define READERS_MAX 64

struct reading {
	const struct measure *m;
	struct sley_rwlock lock;
	uint64_t nr;   /* of one task */
	uint64_t done; /* tasks       */
};

static void read_often(void *arg)
{
	struct reading *r = arg;

	for (uint64_t i = 0; i < r->nr; i++) {
		sley_rwlock_read_lock(&r->lock);
		sley_rwlock_read_unlock(&r->lock);
	}
	__atomic_fetch_add(&r->done, 1, __ATOMIC_RELAXED);
}

static void root(void *arg)
{
	struct reading *r = arg;
	struct sley_task tasks[READERS_MAX];
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t workers = (uint64_t)r->m->workers, start = measure_now();

	for (uint64_t i = 1; i < workers; i++)
		sley_spawn(&group, &tasks[i], read_often, r);
	read_often(r);
	sley_join(&group);
	measure_report_each("ns", start, workers * r->nr);
	MEASURE_CHECK(r->m, r->done == workers);
	/* All readers have unlocked. */
	MEASURE_CHECK(r->m, sley_rwlock_try_write_lock(&r->lock));
	sley_rwlock_write_unlock(&r->lock);
}

void row_rwlock(const struct measure *m)
{
	struct reading r = {
		.m = m,
		.lock = SLEY_RWLOCK_INIT,
		.nr = measure_size(m, RWLOCK_TURNS),
	};

	MEASURE_CHECK(m, m->workers <= READERS_MAX);
	row_run(m, root, &r);
}
