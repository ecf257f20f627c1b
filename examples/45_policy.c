/* SPDX-License-Identifier: MIT */
/*
 * 45_policy.c - a policy: large requests go round the workers, small ones to worker 0.
 *
 *   cc 45_policy.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_uint next, sent[4]; /* to each worker */

/* Called by any worker and thread, and several at a time. */
static uint32_t pick(void *self, const struct sley_route *route)
{
	uint32_t nr = sley_router_nr_workers(route->router), to = 0;

	(void)self;
	if (sley_route_io_size(route) >= SLEY_IO_LARGE && nr > 1)
		to = 1 + atomic_fetch_add(&next, 1) % (nr - 1);
	atomic_fetch_add(&sent[to], 1);
	return to;
}

static const struct sley_policy by_size = { SLEY_POLICY_HEAD("by size"),
					    .runtime_map = pick };

static int move(void *self, struct sley_request *request)
{
	(void)self, (void)request;
	return 0;
}

static const struct sley_method method = { .name = "move", .run = move };
static const struct sley_module module = { SLEY_MODULE_HEAD("m"),
					   .methods = &method,
					   .nr_methods = 1 };

int main(void)
{
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley *rt;
	const struct sley_request_spec *small = SLEY_REQUEST(.io_size = 64);
	const struct sley_request_spec *large = SLEY_REQUEST(.io_size = 8192);

	if (sley_create(&rt, SLEY_CONFIG(.workers = 4)) ||
	    sley_router_create(rt, &router,
			       SLEY_ROUTER_OPTIONS(.own_policy = &by_size)) ||
	    sley_router_add(router, &module) ||
	    sley_pool_open(router, &pool, "p",
			   SLEY_POOL_OPTIONS(.module = "m")))
		return 1;
	for (int i = 0; i < 10; i++)
		if (sley_pool_call(pool, i < 6 ? large : small, NULL))
			return 1;
	printf("%u small, %u at worker 1\n", sent[0], sent[1]);
	sley_pool_close(pool);
	return sent[1] != 2 || sley_router_destroy(router) || sley_destroy(rt);
}
