/* SPDX-License-Identifier: MIT */
/*
 * policy_default.c - the policy "default": workers with roles.
 *
 *   worker 0           metadata, and requests below SLEY_IO_LARGE bytes
 *   workers 1 .. N-2   larger requests, in turn
 *   worker N-2         GPUs, too; if there are more than two workers
 *   worker N-1         the network
 *
 * With one worker, that one plays all roles but that of the GPU; with two, large requests
 * have no worker of their own, and are as small ones.  All roles are preferences: a
 * worker without work takes what it finds (core/sched/place.h, place_toward).
 *
 * The first request of a group is placed by its size; the group then stays there.
 */
#include "route/policy.h"

#include <errno.h>

struct roles {
	struct mem *mem;
	uint32_t first_io; /* of the workers for large requests */
	uint32_t nr_io;    /* 0: there is none                  */
	cache_aligned uint32_t next_io;
};

static int create(void **self, struct sley_router *router)
{
	uint32_t nr = sley_router_nr_workers(router);
	struct mem *mem = &router->rt->mem;
	struct roles *roles = mem_alloc(mem, sizeof(*roles));

	if (!roles)
		return -ENOMEM;
	roles->mem = mem;
	roles->first_io = 1;
	roles->nr_io = nr > 2 ? nr - 2 : 0;
	*self = roles;
	return 0;
}

static void destroy(void *self)
{
	struct roles *roles = self;

	mem_free(roles->mem, roles, sizeof(*roles));
}

static int divide_workers(void *self, struct sley_router *router)
{
	uint32_t nr = sley_router_nr_workers(router);
	int err = sley_router_set_client_lanes(router, 1);

	(void)self;
	if (!err)
		err = sley_router_set_network_worker(router, nr - 1);
	if (!err && nr > 2)
		err = sley_router_set_gpu_worker(router, nr - 2);
	return err;
}

static uint32_t by_size(struct roles *roles, const struct sley_route *route)
{
	if (!roles->nr_io || sley_route_io_size(route) < SLEY_IO_LARGE)
		return 0;
	/* relaxed: a number; nothing is published. */
	return roles->first_io + add_relaxed(&roles->next_io, 1) % roles->nr_io;
}

static uint32_t runtime_map(void *self, const struct sley_route *route)
{
	uint32_t worker = by_size(self, route);

	if (likely(sley_route_group(route) == SLEY_NO_GROUP))
		return worker;
	return sley_route_keep_group(route, worker);
}

const struct sley_policy policy_default = {
	SLEY_POLICY_HEAD("default"), .create = create,
	.destroy = destroy,          .divide_workers = divide_workers,
	.runtime_map = runtime_map,
};
