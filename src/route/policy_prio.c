/* SPDX-License-Identifier: MIT */
/*
 * policy_prio.c - the policy "prio": urgent requests have workers of their own.
 *
 *   workers 0 .. N/2-1      urgent requests: of a priority below 0
 *   workers N/2 .. N-2      the rest
 *   worker N-1              the network
 *
 * With two workers the rest goes to the worker of the network; with one worker, that one
 * plays all roles.  Within a role requests go round.
 *
 * Requests of a priority other than the default wait in the queue that all workers
 * share, by level: of these, the chosen worker is the one that is woken.
 */
#include "route/policy.h"

#include <errno.h>

/* Workers that go round. */
struct round {
	uint32_t first;
	uint32_t nr;
	cache_aligned uint32_t next;
};

struct halves {
	struct mem *mem;
	struct round urgent;
	struct round rest;
};

static int create(void **self, struct sley_router *router)
{
	uint32_t nr = sley_router_nr_workers(router);
	struct mem *mem = &router->rt->mem;
	struct halves *halves = mem_alloc(mem, sizeof(*halves));
	uint32_t half = nr > 1 ? nr / 2 : 1;

	if (!halves)
		return -ENOMEM;
	halves->mem = mem;
	halves->urgent = (struct round){ .first = 0, .nr = half };
	if (half < nr - 1)
		halves->rest = (struct round){ half, nr - 1 - half, 0 };
	else
		halves->rest = (struct round){ nr - 1, 1, 0 };
	*self = halves;
	return 0;
}

static void destroy(void *self)
{
	struct halves *halves = self;

	mem_free(halves->mem, halves, sizeof(*halves));
}

static int divide_workers(void *self, struct sley_router *router)
{
	(void)self;
	return sley_router_set_network_worker(
		router, sley_router_nr_workers(router) - 1);
}

static uint32_t next_of(struct round *round)
{
	/* relaxed: a number; nothing is published. */
	return round->first + add_relaxed(&round->next, 1) % round->nr;
}

static uint32_t runtime_map(void *self, const struct sley_route *route)
{
	struct halves *halves = self;
	uint32_t worker;

	if (sley_route_method_flags(route) & SLEY_METHOD_NETWORK)
		worker = sley_router_network_worker(route->router);
	else
		worker = next_of(sley_route_priority(route) < 0
					 ? &halves->urgent
					 : &halves->rest);
	return sley_route_keep_group(route, worker);
}

const struct sley_policy policy_prio = {
	SLEY_POLICY_HEAD("prio"),   .create = create,
	.destroy = destroy,         .divide_workers = divide_workers,
	.runtime_map = runtime_map,
};
