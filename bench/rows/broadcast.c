/* SPDX-License-Identifier: MIT */
/*
 * broadcast.c - row `broadcast`: a request that runs in all containers of a pool, and
 * `broadcast-tasks`, the reference: as many plain tasks, spawned and joined.
 *
 * An operation is one container, or one task.  The metrics are the number of
 * containers: `one_ns`, `4_ns`, `16_ns`, `64_ns`.
 */
#include "rows.h"

#include "../tally.h"

#define CONTAINERS_MOST 64

static const struct size {
	uint32_t nr; /* containers, or tasks */
	const char *metric;
} sizes[] = {
	{ 1, "one_ns" },
	{ 4, "4_ns" },
	{ 16, "16_ns" },
	{ CONTAINERS_MOST, "64_ns" },
};

#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* ---- the pool ---------------------------------------------------------------------- */

static int count(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	tally_one();
	return 0;
}

static const struct sley_method methods[] = {
	{ .name = "count", .run = count },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("counter"),
	.methods = methods,
	.nr_methods = 1,
};

static void broadcast(const struct measure *m, struct sley_pool *pool)
{
	MEASURE_CHECK(
		m, sley_pool_call(pool,
				  SLEY_REQUEST(.query = sley_query_broadcast()),
				  NULL) == 0);
}

/* ---- tasks ------------------------------------------------------------------------- */

static void count_task(void *arg)
{
	(void)arg;
	tally_one();
}

static void spawn_and_join(uint32_t nr)
{
	static struct sley_task tasks[CONTAINERS_MOST];
	struct sley_group group = SLEY_GROUP_INIT;

	for (uint32_t i = 0; i < nr; i++)
		sley_spawn(&group, &tasks[i], count_task, NULL);
	sley_join(&group);
}

/* ---- the series -------------------------------------------------------------------- */

/* Without a pool: plain tasks.  Returns how many operations were done. */
static uint64_t run_size(const struct measure *m, const struct size *size,
			 struct sley_pool *pool)
{
	uint64_t nr = measure_size(m, BROADCAST_PARTS) / size->nr + 1;
	uint64_t warm = nr / 10, start = 0;

	for (uint64_t i = 0; i < warm + nr; i++) {
		if (i == warm)
			start = measure_now();
		if (pool)
			broadcast(m, pool);
		else
			spawn_and_join(size->nr);
	}
	measure_report_each(size->metric, start, nr * size->nr);
	return (warm + nr) * size->nr;
}

static struct sley_pool *open_pool(const struct measure *m,
				   struct sley_router *router, uint32_t nr)
{
	struct sley_pool *pool;
	char name[16];

	snprintf(name, sizeof(name), "%u", nr);
	MEASURE_CHECK(m,
		      sley_pool_open(router, &pool, name,
				     SLEY_POOL_OPTIONS(.module = "counter",
						       .containers = nr)) == 0);
	return pool;
}

static void run_pools(void *arg)
{
	const struct measure *m = arg;
	struct sley_router *router;
	uint64_t done = 0;

	MEASURE_CHECK(m, sley_router_create(
				 sley_current(), &router,
				 SLEY_ROUTER_OPTIONS(.policy = "none")) == 0);
	MEASURE_CHECK(m, sley_router_add(router, &module) == 0);
	for (size_t i = 0; i < NR_SIZES; i++) {
		struct sley_pool *pool = open_pool(m, router, sizes[i].nr);

		done += run_size(m, &sizes[i], pool);
		sley_pool_close(pool);
	}
	MEASURE_CHECK(m, tally_sum() == done);
	MEASURE_CHECK(m, sley_router_destroy(router) == 0);
}

static void run_tasks(void *arg)
{
	const struct measure *m = arg;
	uint64_t done = 0;

	for (size_t i = 0; i < NR_SIZES; i++)
		done += run_size(m, &sizes[i], NULL);
	MEASURE_CHECK(m, tally_sum() == done);
}

void row_broadcast(const struct measure *m)
{
	row_run(m, run_pools, (void *)m);
}

void row_broadcast_tasks(const struct measure *m)
{
	row_run(m, run_tasks, (void *)m);
}
