/* SPDX-License-Identifier: MIT */
/*
 * outside.c - row `outside`: see problems/outside.h.
 */
#include "../problems/outside.h"
#include "rows.h"

struct object_pool {
	const struct measure *m;
	struct sley *rt;
	bool over;
};

static bool is_over(const struct object_pool *pool)
{
	return __atomic_load_n(&pool->over, __ATOMIC_RELAXED);
}

static void short_task(void *arg)
{
	struct object_pool *pool = arg;

	outside_work(OUTSIDE_TASK_NS);
	if (!is_over(pool))
		MEASURE_CHECK(pool->m, sley_schedule(short_task, pool) == 0);
}

static void fork_leaves(void *arg)
{
	unsigned int depth = *(unsigned int *)arg, below = depth - 1;
	struct sley_forked child;

	if (!depth) {
		outside_work(OUTSIDE_LEAF_NS);
		return;
	}
	sley_fork(&child, fork_leaves, &below);
	fork_leaves(&below);
	sley_fork_join(&child);
}

static void root_task(void *arg)
{
	unsigned int depth = OUTSIDE_DEPTH;
	struct object_pool *pool = arg;

	fork_leaves(&depth);
	if (!is_over(pool))
		MEASURE_CHECK(pool->m, sley_schedule(root_task, pool) == 0);
}

static void arrive(void *arg)
{
	outside_arrive(arg);
}

static void submit(void *arg, struct outside_sample *sample)
{
	struct object_pool *pool = arg;

	MEASURE_CHECK(pool->m,
		      sley_schedule_on(pool->rt, arrive, sample, NULL) == 0);
}

/* Tasks that are local: a task of the runtime queues them. */
static void begin_short(void *arg)
{
	struct object_pool *pool = arg;

	for (int i = 0; i < 2 * pool->m->workers; i++)
		MEASURE_CHECK(pool->m, sley_schedule(short_task, pool) == 0);
}

static void begin_roots(void *arg)
{
	struct object_pool *pool = arg;

	for (int i = 0; i < 2 * pool->m->workers; i++)
		MEASURE_CHECK(pool->m, sley_schedule(root_task, pool) == 0);
}

static void measure_beside(const struct measure *m, const char *name,
			   sley_fn *begin)
{
	struct object_pool pool = { .m = m };
	const struct outside_pool from_outside = { submit, &pool };

	MEASURE_CHECK(m, sley_create(&pool.rt,
				     SLEY_CONFIG(.workers = m->workers)) == 0);
	MEASURE_CHECK(m, sley_schedule_on(pool.rt, begin, &pool, NULL) == 0);
	outside_run(m, name, &from_outside);
	__atomic_store_n(&pool.over, true, __ATOMIC_RELAXED);
	sley_destroy(pool.rt);
}

void row_outside(const struct measure *m)
{
	measure_beside(m, "task", begin_short);
	measure_beside(m, "root", begin_roots);
}
