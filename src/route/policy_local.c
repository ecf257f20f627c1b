/* SPDX-License-Identifier: MIT */
/*
 * policy_local.c - the policies "local" and "none": requests stay where they are.
 *
 * Under "local" a thread from outside always has the same worker, and different threads
 * have different workers as far as the hash of their numbers tells.
 */
#include "base/hash.h"
#include "os/thread.h"
#include "route/policy.h"

static int divide_workers(void *self, struct sley_router *router)
{
	(void)self;
	return sley_router_set_client_lanes(router,
					    sley_router_nr_workers(router));
}

static uint32_t client_map(void *self, const struct sley_route *route)
{
	uint64_t hash = hash_word((uint64_t)os_thread_id());

	(void)self;
	return (uint32_t)((hash >> 32) *
				  sley_router_client_lanes(route->router) >>
			  32);
}

static uint32_t stay(void *self, const struct sley_route *route)
{
	(void)self;
	return route->here;
}

const struct sley_policy policy_local = {
	SLEY_POLICY_HEAD("local"),
	.divide_workers = divide_workers,
	.client_map = client_map,
	.runtime_map = stay,
};

const struct sley_policy policy_none = {
	SLEY_POLICY_HEAD("none"),
	.runtime_map = stay,
};
