/* SPDX-License-Identifier: MIT */
/*
 * remote.h - pools of a daemon: the functions that stand in for a pool of this process.
 *
 * A pool of a client (ipc/client_pool.h) is a struct sley_pool without a router and
 * without containers, with a table of functions.  The calls of <sley/request.h> look
 * for the table first, and the request remembers its pool: so this folder knows nothing
 * of clients.
 *
 * request->remote is written before the request is accepted, and not changed until it is
 * complete.  A waiter may read it at any time; the flags it may not, since a worker
 * changes these while the request runs.
 */
#ifndef SLEY_ROUTE_REMOTE_H
#define SLEY_ROUTE_REMOTE_H

#include "route/pool.h"

#include <sley/request.h>

struct pool_remote {
	/*
	 * The first requests of @nr are accepted; at least 1: how many, or the
	 * error of the first.  They are filled (request_fill()), and each of @specs is
	 * a whole struct that was checked.
	 */
	ssize_t (*submit)(struct sley_pool *pool,
			  struct sley_request *const *requests,
			  const struct sley_request_spec *const *specs,
			  size_t nr);
	/* As sley_submit_and_forget(), with a spec that was checked. */
	int (*forget)(struct sley_pool *pool,
		      const struct sley_request_spec *spec);
	/* As sley_pool_call(), with a request that was filled. */
	int (*call)(struct sley_pool *pool, struct sley_request *request,
		    const struct sley_request_spec *spec);
	/* As sley_request_wait_any_until(): one of them at least is of a daemon. */
	int (*wait_any)(struct sley_request *const *requests, size_t nr,
			uint64_t deadline_ns);
	bool (*look)(const struct sley_request *request);
	void (*cancel)(struct sley_request *request);
	/* As sley_pool_close(). */
	void (*close)(struct sley_pool *pool);
};

/* The pool of a request to a daemon. */
static inline struct sley_pool *remote_pool(const struct sley_request *request)
{
	return request->series;
}

#endif
