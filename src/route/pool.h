/* SPDX-License-Identifier: MIT */
/*
 * pool.h - a pool: a name, a module, and containers.
 *
 *      MAKING ──all containers are created──► LIVE ──destroy──► GONE
 *         └──one of them failed─────────────────────────────────► GONE
 *
 * A MAKING or LIVE pool is in the list of its router, under its name.  An opener that
 * finds a pool in the making waits for the maker.  Handles are counted: a GONE pool is
 * freed with the last handle.  A LIVE pool counts as one handle more, so that a pool
 * without users stays.
 *
 * Phase and count are under the lock of the router.  Requests look at neither.  A
 * request goes to a container, and the containers of a GONE pool are shut.  The
 * submitter of a request has a handle, except for a forgotten request.  So the pool
 * counts the requests that wait to enter a container, or for their parts (`waiting`),
 * behind a door that is shut at the end.  Keepers that upgrade a container are there, too.
 *
 * A pool of a daemon has a table of functions in place of all that (route/remote.h).
 */
#ifndef SLEY_ROUTE_POOL_H
#define SLEY_ROUTE_POOL_H

#include "base/list.h"
#include "core/life/after_fork.h"
#include "route/container.h"
#include "route/router.h"
#include "route/series.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/pool.h>
#include <sley/sync.h>

enum pool_phase {
	POOL_MAKING,
	POOL_LIVE,
	POOL_GONE,
};

struct pool_remote; /* route/remote.h */

struct sley_pool {
	/* Constant once made. */
	struct sley_router *router;       /* NULL: of a daemon                */
	const struct pool_remote *remote; /* not NULL: of a daemon            */
	const struct sley_module *module;
	struct isolation *isolation; /* NULL: containers of this process     */
	struct sley_container *container;
	struct method_cost *costs; /* of all containers                      */
	uint32_t nr_containers;
	bool permanent; /* ends with its router, and is never drained         */
	char name[SLEY_POOL_NAME_MAX + 1];

	cache_aligned struct door waiting; /* requests in no container       */
	struct series_set series;          /* periodic requests              */
	struct sley_mutex lock; /* of the keepers of its containers          */
	struct list link;       /* in its router (lock of the router)        */
	uint32_t phase;         /* enum pool_phase (lock of the router)      */
	uint32_t nr_handles;    /* (lock of the router)                      */
	int making_failed;      /* why (lock of the router)                  */
	struct sley_event made; /* LIVE or GONE                              */
};

/* Why a call that is for pools of this process is refused; or 0. */
static inline must_check int pool_refuses(const struct sley_pool *pool)
{
	if (unlikely(pool->remote))
		return -EOPNOTSUPP;
	return runtime_is_lost(pool->router->rt) ? SLEY_EFORKED : 0;
}

/* A pool that no list has, with containers that are shut; NULL: no memory. */
must_check struct sley_pool *pool_alloc(struct sley_router *router,
					const struct sley_module *module,
					const char *name, uint32_t nr);

/* sley_pool_destroy(), also of a permanent pool: its router ends. */
must_check int pool_destroy(struct sley_pool *pool);

/* All requests end, and the containers are destroyed.  No lock is held. */
void pool_end(struct sley_pool *pool);

#endif
