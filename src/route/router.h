/* SPDX-License-Identifier: MIT */
/*
 * router.h - a router: a policy, modules and pools of one runtime.
 *
 * The lists of modules and pools are under a mutex: they are used when a pool is opened,
 * destroyed or closed, and never by a request.  The counters are one cache line for
 * each worker, written by that worker alone, and one line for all other threads.
 */
#ifndef SLEY_ROUTE_ROUTER_H
#define SLEY_ROUTE_ROUTER_H

#include "base/hash.h"
#include "base/list.h"
#include "core/life/idle_call.h"
#include "core/sched/worker.h"
#include "route/module.h"

#include <sley/policy.h>
#include <sley/pool.h>
#include <sley/sync.h>

enum route_count {
	COUNT_SUBMITTED,
	COUNT_COMPLETED,
	COUNT_INLINED,
	COUNT_MOVED,
	COUNT_REFUSED,
	COUNT_STOLEN,
	NR_ROUTE_COUNTS,
};

struct route_counts {
	cache_aligned uint64_t of[NR_ROUTE_COUNTS];
};

/* A module that was added. */
struct router_module {
	struct list link;
	const struct sley_module *module;
};

struct sley_router {
	/* Constant once created. */
	struct sley *rt;
	const struct sley_policy *policy;
	void *policy_self;
	uint32_t log_level;
	uint32_t learning_rate; /* cost.h                                    */
	uint32_t nr_workers; /* 1 if threads are bound                       */
	uint32_t client_lanes;
	uint32_t network_worker;
	uint32_t gpu_worker;
	struct route_counts *counts; /* of each worker, then of others       */
	struct route_load *load; /* of each worker: cost.h; NULL: not counted */
	char *directories;       /* for load.h; or NULL                      */
	int pid;
	struct neighbour *neighbour; /* of the other machines; or NULL       */

	cache_aligned uint64_t warn_again_ns; /* router_may_warn()            */
	struct sley_mutex lock;
	struct list modules;   /* (lock) */
	struct list libraries; /* that were loaded (lock)                    */
	struct list pools; /* with a name (lock)                           */
	uint32_t nr_pools; /* pools that are not freed (lock)              */
	struct idle_call idle_call; /* rebalance.h; without fn: none         */
};

/* One request in so many is measured: cost.h. */
#define ROUTER_SAMPLE_BITS 6

/* The caller, if it is a worker of the router's runtime; or NULL. */
static inline struct worker *router_worker(const struct sley_router *router)
{
	struct worker *worker = worker_current();

	return worker && worker->rt == router->rt ? worker : NULL;
}

/* One more of @what, by the caller: @worker, or a thread that is none. */
static inline void router_count(struct sley_router *router,
				const struct worker *worker,
				enum route_count what)
{
	uint32_t others = router->nr_workers;

	if (likely(worker && worker->index < others))
		count_own64(&router->counts[worker->index].of[what], 1);
	else
		/* relaxed: statistics. */
		(void)add_relaxed(&router->counts[others].of[what], 1);
}

/*
 * How many of @what were counted by @worker, or by all other threads together: then
 * @worker is the number of workers.
 */
static inline uint64_t router_counted(const struct sley_router *router,
				      uint32_t worker, enum route_count what)
{
	return counter_read(&router->counts[worker].of[what]);
}

/*
 * Is the request that the caller has counted last to be measured?  The number of the
 * request is hashed, so that requests which come in turns are measured all the same.
 */
static inline bool router_samples(const struct sley_router *router,
				  const struct worker *worker)
{
	uint32_t others = router->nr_workers;
	uint32_t index = likely(worker && worker->index < others)
				 ? worker->index
				 : others;

	return !hash_slot(hash_word(counter_read(
				  &router->counts[index].of[COUNT_SUBMITTED])),
			  ROUTER_SAMPLE_BITS);
}

/* May the caller warn of the policy?  One caller may, and then none for some time. */
must_check bool router_may_warn(struct sley_router *router);

/* The newest version of the module with that name, or NULL.  With the lock. */
const struct sley_module *router_find_module(struct sley_router *router,
					     const char *name);

#endif
