/* SPDX-License-Identifier: MIT */
/*
 * policy_steal.c - the policy "steal": requests stay, and workers that have none help.
 *
 * Requests stay on the worker of their submitter; a thread from outside always has the
 * same worker.  Requests of a group are pinned to the worker of the first: no worker
 * takes them from there.
 *
 * rebalance(): a worker whose queue is empty takes one request from the first of the
 * others that has some.  A worker that is about to sleep has looked there already, so
 * this is for a worker that runs a long request after the other.
 */
#include "route/policy.h"

static int divide_workers(void *self, struct sley_router *router)
{
	int err = sley_router_set_client_lanes(router,
					       sley_router_nr_workers(router));

	(void)self;
	return err ? err : sley_router_count_load(router);
}

static uint32_t keep(const struct sley_route *route, uint32_t worker)
{
	if (likely(sley_route_group(route) == SLEY_NO_GROUP))
		return worker;
	worker = sley_route_keep_group(route, worker);
	sley_route_pin(route);
	return worker;
}

static uint32_t client_map(void *self, const struct sley_route *route)
{
	return keep(route, policy_lane_of_thread(self, route));
}

static uint32_t runtime_map(void *self, const struct sley_route *route)
{
	(void)self;
	return keep(route, route->here);
}

static void rebalance(void *self, struct sley_router *router, uint32_t worker)
{
	uint32_t nr = sley_router_nr_workers(router);

	(void)self;
	if (sley_router_depth(router, worker))
		return;
	for (uint32_t i = 1; i < nr; i++) {
		uint32_t victim = (worker + i) % nr;

		if (sley_router_depth(router, victim) &&
		    sley_router_steal(router, victim, worker) > 0)
			return;
	}
}

const struct sley_policy policy_steal = {
	SLEY_POLICY_HEAD("steal"), .divide_workers = divide_workers,
	.client_map = client_map,  .runtime_map = runtime_map,
	.rebalance = rebalance,
};
