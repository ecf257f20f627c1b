/* SPDX-License-Identifier: MIT */
/*
 * requests.h - requests to a pool of counters, for the rows `route` and `policy`.
 */
#ifndef BENCH_ROWS_REQUESTS_H
#define BENCH_ROWS_REQUESTS_H

#include "rows.h"

#define REQUESTS_COUNTERS 4

/* How the requests are sent. */
struct requests {
	const struct measure *m;
	const char *policy;
	const char *metric; /* NULL: nothing is reported                     */
	uint64_t nr;
	bool queued; /* as tasks; else on the stack of the caller            */
};

static inline int requests_create(void **self,
				  const struct sley_container_info *info)
{
	static uint64_t counters[REQUESTS_COUNTERS];

	counters[info->id] = 0;
	*self = &counters[info->id];
	return 0;
}

static inline int requests_count(void *self, struct sley_request *request)
{
	uint64_t *counter = self;

	(void)request;
	++*counter;
	return 0;
}

static const struct sley_method requests_methods[] = {
	{ .name = "count", .run = requests_count },
};

static const struct sley_module requests_module = {
	SLEY_MODULE_HEAD("counter"),
	.methods = requests_methods,
	.nr_methods = 1,
	.create = requests_create,
};

static inline void requests_send(const struct requests *requests,
				 struct sley_pool *pool)
{
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < requests->nr; i++) {
		int err = sley_pool_call(
			pool,
			SLEY_REQUEST(.query = sley_query_hash(i),
				     .enqueue = requests->queued),
			NULL);

		MEASURE_CHECK(requests->m, err == 0);
	}
	if (requests->metric != NULL)
		measure_report_each(requests->metric, start, requests->nr);
}

static inline void requests_root(void *arg)
{
	const struct requests *requests = arg;
	const struct measure *m = requests->m;
	struct sley_router *router;
	struct sley_pool *pool;

	MEASURE_CHECK(
		m,
		sley_router_create(
			sley_current(), &router,
			SLEY_ROUTER_OPTIONS(.policy = requests->policy)) == 0);
	MEASURE_CHECK(m, sley_router_add(router, &requests_module) == 0);
	MEASURE_CHECK(
		m, sley_pool_open(
			   router, &pool, "counters",
			   SLEY_POOL_OPTIONS(.module = "counter",
					     .containers =
						     REQUESTS_COUNTERS)) == 0);
	requests_send(requests, pool);
	sley_pool_close(pool);
	MEASURE_CHECK(m, sley_router_destroy(router) == 0);
}

/* Sends the requests in a runtime of their own. */
static inline void requests_run(const struct requests *requests)
{
	row_run(requests->m, requests_root, (void *)requests);
}

#endif
