/* SPDX-License-Identifier: MIT */
/*
 * 46_periodic.c - a request that runs again and again: it looks into a box each 2 ms,
 * and less often as long as the box stays empty.
 *
 *   cc 46_periodic.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>

enum { LETTERS = 5 };

static atomic_int box;

/* Ends the series with the code 1 when all letters are there. */
static int look(void *self, struct sley_request *request)
{
	int *taken = sley_request_out(request, &(size_t){ 0 });
	int found = atomic_exchange(&box, 0);

	(void)self;
	*taken += found;
	if (!found)
		sley_request_set_idle(request);
	return *taken == LETTERS;
}

static const struct sley_method methods[] = { { .name = "look", .run = look } };
static const struct sley_module module = { SLEY_MODULE_HEAD("postman"),
					   .methods = methods,
					   .nr_methods = 1 };

int main(void)
{
	struct sley_router *router;
	struct sley_request request;
	struct sley_pool *pool;
	struct sley *rt;
	int taken = 0;

	if (sley_create(&rt, NULL) || sley_router_create(rt, &router, NULL) ||
	    sley_router_add(router, &module) ||
	    sley_pool_open(router, &pool, "boxes",
			   SLEY_POOL_OPTIONS(.module = "postman")) ||
	    sley_submit(pool, &request,
			SLEY_REQUEST(.out = &taken, .out_size = sizeof(taken),
				     .period_ns = 2 * SLEY_MSEC)))
		return 1;
	for (int i = 0; i < LETTERS; i++) {
		atomic_fetch_add(&box, 1);
		if (sley_sleep(3 * SLEY_MSEC))
			return 1;
	}
	if (sley_request_wait(&request) || sley_request_code(&request) != 1)
		return 1;
	printf("%d letters taken\n", taken);
	sley_pool_close(pool);
	return sley_router_destroy(router) || sley_destroy(rt);
}
