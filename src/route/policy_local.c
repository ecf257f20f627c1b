/* SPDX-License-Identifier: MIT */
/*
 * policy_local.c - the policies "local" and "none": requests stay where they are.
 *
 * Under "local" a thread from outside always has the same worker, and different threads
 * have different workers as far as the hash of their numbers tells.  With more than two
 * workers the last but one is for GPUs: what is submitted there is dealt to the other
 * workers in turn, so that it is free for the GPU.
 */
#include "base/hash.h"
#include "route/policy.h"

#include <errno.h>

struct dealer {
	struct mem *mem;
	cache_aligned uint32_t next;
};

static int create(void **self, struct sley_router *router)
{
	struct mem *mem = &router->rt->mem;
	struct dealer *dealer = mem_alloc(mem, sizeof(*dealer));

	if (!dealer)
		return -ENOMEM;
	dealer->mem = mem;
	*self = dealer;
	return 0;
}

static void destroy(void *self)
{
	struct dealer *dealer = self;

	mem_free(dealer->mem, dealer, sizeof(*dealer));
}

static int divide_workers(void *self, struct sley_router *router)
{
	uint32_t nr = sley_router_nr_workers(router);
	int err = sley_router_set_client_lanes(router, nr);

	(void)self;
	if (!err)
		err = sley_router_set_network_worker(router, nr - 1);
	if (!err && nr > 2)
		err = sley_router_set_gpu_worker(router, nr - 2);
	return err;
}

uint32_t policy_lane_of_thread(void *self, const struct sley_route *route)
{
	uint64_t thread = (uint64_t)sley_route_process(route) << 32 |
			  (uint32_t)sley_route_thread(route);
	uint32_t nr = sley_router_client_lanes(route->router);

	(void)self;
	return (uint32_t)((hash_word(thread) >> 32) * nr >> 32);
}

/* A worker that is not @here, in turn. */
static uint32_t deal(struct dealer *dealer, const struct sley_router *router,
		     uint32_t here)
{
	/* relaxed: a number; nothing is published. */
	uint32_t turn = add_relaxed(&dealer->next, 1);
	uint32_t nr = sley_router_nr_workers(router);

	return (here + 1 + turn % (nr - 1)) % nr;
}

static uint32_t stay_or_deal(void *self, const struct sley_route *route)
{
	uint32_t here = route->here;

	if (unlikely(here == sley_router_gpu_worker(route->router) &&
		     here != SLEY_NO_WORKER))
		return deal(self, route->router, here);
	return here;
}

static uint32_t stay(void *self, const struct sley_route *route)
{
	(void)self;
	return route->here;
}

const struct sley_policy policy_local = {
	SLEY_POLICY_HEAD("local"),
	.create = create,
	.destroy = destroy,
	.divide_workers = divide_workers,
	.client_map = policy_lane_of_thread,
	.runtime_map = stay_or_deal,
};

const struct sley_policy policy_none = {
	SLEY_POLICY_HEAD("none"),
	.runtime_map = stay,
};
