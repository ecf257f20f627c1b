/* SPDX-License-Identifier: MIT */
/*
 * 44_pool.c - a store in 8 containers: a hash leads to one, a broadcast to all.
 *
 *   cc 44_pool.c $(pkg-config --cflags --libs sley)
 */
#include "44_pool.h"

#include <stdio.h>

enum { KEYS = 500 }; /* each is set twice */

static const struct sley_method methods[] = {
	[STORE_SET] = { .name = "set", .run = set },
	[STORE_COUNT] = { .name = "count", .run = count, .combine = add },
};

static const struct sley_module module = { SLEY_MODULE_HEAD("store"),
					   .methods = methods, .nr_methods = 2,
					   .create = create };

static int fill(struct sley_pool *pool)
{
	uint64_t pair[] = { 0, 7 }; /* a key and its value */
	const struct sley_request_spec *spec;
	int err = 0;

	for (uint64_t i = 0; i < 2 * KEYS && !err; i++) {
		pair[0] = i % KEYS;
		spec = SLEY_REQUEST(.method = STORE_SET, .in = pair,
				    .in_size = sizeof(pair),
				    .query = sley_query_hash(pair[0]));
		err = sley_pool_call(pool, spec, NULL);
	}
	return err;
}

int main(void)
{
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley *rt;
	uint64_t nr = 0;

	if (sley_create(&rt, NULL) || sley_router_create(rt, &router, NULL) ||
	    sley_router_add(router, &module) ||
	    sley_pool_open(router, &pool, "keys",
			   SLEY_POOL_OPTIONS(.module = "store",
					     .containers = CONTAINERS)) ||
	    fill(pool) ||
	    sley_pool_call(pool,
			   SLEY_REQUEST(.method = STORE_COUNT, .out = &nr,
					.out_size = sizeof(nr),
					.query = sley_query_broadcast()),
			   NULL))
		return 1;
	printf("%d keys in %d containers\n", (int)nr, CONTAINERS);
	sley_pool_close(pool);
	return sley_router_destroy(router) || sley_destroy(rt) || nr != KEYS;
}
