/* SPDX-License-Identifier: MIT */
/*
 * 51_schedule.c - a module says where its requests run: a key by its hash, a count in all.
 *
 *   cc 51_schedule.c $(pkg-config --cflags --libs sley)
 */
#include "44_pool.h"

#include <stdio.h>

enum { KEYS = 500 };

/* Asked for dynamic queries only, and once for each. */
static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	size_t size;
	const uint64_t *key = sley_request_in(request, &size);

	(void)self;
	if (sley_request_method(request) == STORE_SET)
		return sley_query_hash(*key);
	return sley_query_broadcast();
}

static const struct sley_method methods[] = {
	[STORE_SET] = { .name = "set", .run = set },
	[STORE_COUNT] = { .name = "count", .run = count, .combine = add },
};
static const struct sley_module module = {
	SLEY_MODULE_HEAD("store"), .methods = methods,   .nr_methods = 2,
	.create = create,          .schedule = schedule,
};

int main(void)
{
	struct sley_request_spec spec = { .size = sizeof(spec),
					  .query = sley_query_dynamic() };
	uint64_t pair[] = { 0, 7 }, nr = 0; /* a key and its value */
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley *rt;

	if (sley_create(&rt, NULL) || sley_router_create(rt, &router, NULL) ||
	    sley_router_add(router, &module) ||
	    sley_pool_open(router, &pool, "keys",
			   SLEY_POOL_OPTIONS(.module = "store",
					     .containers = CONTAINERS)))
		return 1;
	spec.method = STORE_SET, spec.in = pair, spec.in_size = sizeof(pair);
	for (; pair[0] < KEYS; pair[0]++)
		if (sley_pool_call(pool, &spec, NULL))
			return 1;
	spec.method = STORE_COUNT, spec.out = &nr, spec.out_size = sizeof(nr);
	if (sley_pool_call(pool, &spec, NULL) || nr != KEYS)
		return 1;
	printf("%d keys, %d in container 3\n", (int)nr, (int)stores[3].nr);
	sley_pool_close(pool);
	return sley_router_destroy(router) || sley_destroy(rt);
}
