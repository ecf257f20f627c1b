/* SPDX-License-Identifier: MIT */
/*
 * policy_default.c - the policy "default": workers with roles.
 *
 *   worker 0           metadata, and requests below SLEY_IO_LARGE bytes
 *   workers 1 .. N-2   larger requests, in turn
 *   worker N-2         GPUs, too; if there are more than two workers
 *   worker N-1         the network
 *
 * A single worker plays all roles but the role of the GPU.  With two workers, large
 * requests are treated as small requests.  All roles are preferences: a
 * worker without work takes what it finds (core/sched/place.h, place_toward).
 *
 * A worker that is held by a task which does not yield is passed over, for the worker
 * behind.  A large request passes the next worker in turn over, too, if the worker
 * behind has less than half of the load.
 *
 * The first request of a group is placed by its role; the group then stays there.
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
	return err ? err : sley_router_count_load(router);
}

/* The next I/O worker in turn, or the worker behind. */
static uint32_t next_io(struct roles *roles, const struct sley_router *router)
{
	/* relaxed: a number; nothing is published. */
	uint32_t turn = add_relaxed(&roles->next_io, 1);
	uint32_t first = roles->first_io + turn % roles->nr_io;
	uint32_t second = roles->first_io + (turn + 1) % roles->nr_io;

	return sley_router_load(router, first) / 2 >
			       sley_router_load(router, second)
		       ? second
		       : first;
}

static uint32_t by_role(struct roles *roles, const struct sley_route *route)
{
	const struct sley_router *router = route->router;
	uint32_t flags = sley_route_method_flags(route);

	if (unlikely(flags & SLEY_METHOD_NETWORK))
		return sley_router_network_worker(router);
	if (unlikely(flags & SLEY_METHOD_GPU) &&
	    sley_router_gpu_worker(router) != SLEY_NO_WORKER)
		return sley_router_gpu_worker(router);
	if (!roles->nr_io || sley_route_io_size(route) < SLEY_IO_LARGE)
		return 0;
	return next_io(roles, router);
}

/* @worker is held: the next worker that is not, or @worker if all are. */
static noinline uint32_t pass_over(const struct sley_router *router,
				   uint32_t worker)
{
	uint32_t nr = sley_router_nr_workers(router);

	for (uint32_t i = 1; i < nr; i++) {
		uint32_t other = (worker + i) % nr;

		if (!sley_router_is_held(router, other))
			return other;
	}
	return worker;
}

static uint32_t runtime_map(void *self, const struct sley_route *route)
{
	uint32_t worker = by_role(self, route);

	if (unlikely(sley_router_is_held(route->router, worker)))
		worker = pass_over(route->router, worker);
	if (likely(sley_route_group(route) == SLEY_NO_GROUP))
		return worker;
	return sley_route_keep_group(route, worker);
}

const struct sley_policy policy_default = {
	SLEY_POLICY_HEAD("default"), .create = create,
	.destroy = destroy,          .divide_workers = divide_workers,
	.runtime_map = runtime_map,
};
