/* SPDX-License-Identifier: MIT */
/*
 * inspect.h - the figures of workers, containers and pools, unchecked; see inspect.c.
 */
#ifndef SLEY_ROUTE_INSPECT_H
#define SLEY_ROUTE_INSPECT_H

#include "route/pool.h"
#include "route/router.h"

#include <sley/pool_inspect.h>

/* Of a worker, or of all other threads: then @worker is the number of workers. */
must_check struct sley_router_worker_stats
inspect_worker(const struct sley_router *router, uint32_t worker);

must_check struct sley_container_stats
inspect_container(struct sley_container *container);

/* With the lock of the router. */
must_check struct sley_pool_stats inspect_pool(struct sley_pool *pool);

#endif
