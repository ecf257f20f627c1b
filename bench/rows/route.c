/* SPDX-License-Identifier: MIT */
/*
 * route.c - rows `route` and `route-queued`: a request to a pool in the same process,
 * on the stack of the caller, and as a task of its own for which the caller waits.
 *
 * The row is measured under the policy that is asked nothing; policy_ns is the same
 * under "default".
 */
#include "rows.h"

enum { COUNT };

struct counter {
	uint64_t count;
};

static int create(void **self, const struct sley_container_info *info)
{
	static struct counter counter;

	(void)info;
	counter.count = 0;
	*self = &counter;
	return 0;
}

static int count(void *self, struct sley_request *request)
{
	struct counter *counter = self;

	(void)request;
	counter->count++;
	return 0;
}

static const struct sley_method methods[] = {
	[COUNT] = { .name = "count", .run = count },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("counter"),
	.methods = methods,
	.nr_methods = 1,
	.create = create,
};

struct series {
	const struct measure *m;
	const char *policy;
	const char *metric;
	bool queued;
};

static void run_requests(const struct series *series, struct sley_pool *pool)
{
	uint64_t nr = measure_size(series->m, ROUTE_TURNS);
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		int err =
			sley_pool_call(pool,
				       SLEY_REQUEST(.method = COUNT,
						    .query = sley_query_hash(i),
						    .enqueue = series->queued),
				       NULL);

		MEASURE_CHECK(series->m, err == 0);
	}
	measure_report_each(series->metric, start, nr);
}

static void root(void *arg)
{
	const struct series *series = arg;
	const struct measure *m = series->m;
	struct sley_router *router;
	struct sley_pool *pool;

	MEASURE_CHECK(
		m, sley_router_create(
			   sley_current(), &router,
			   SLEY_ROUTER_OPTIONS(.policy = series->policy)) == 0);
	MEASURE_CHECK(m, sley_router_add(router, &module) == 0);
	MEASURE_CHECK(m,
		      sley_pool_open(router, &pool, "counters",
				     SLEY_POOL_OPTIONS(.module = "counter",
						       .containers = 4)) == 0);
	run_requests(series, pool);
	sley_pool_close(pool);
	MEASURE_CHECK(m, sley_router_destroy(router) == 0);
}

static void run_both(const struct measure *m, bool queued)
{
	struct series none = { m, "none", "ns", queued };
	struct series with_policy = { m, "default", "policy_ns", queued };

	row_run(m, root, &none);
	row_run(m, root, &with_policy);
}

void row_route(const struct measure *m)
{
	run_both(m, false);
}

void row_route_queued(const struct measure *m)
{
	run_both(m, true);
}
