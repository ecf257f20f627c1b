/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - from a query to containers.
 */
#ifndef SLEY_ROUTE_RESOLVE_H
#define SLEY_ROUTE_RESOLVE_H

#include "base/compiler.h"

#include <sley/pool.h>
#include <sley/request.h>

/* The containers of a request: @nr, from @first on. */
struct targets {
	uint32_t first;
	uint32_t nr;
};

/*
 * @parent: the request whose method submits this one, or NULL.  Of a dynamic query, the
 * answer of the module becomes the query of the request.  0, or the code with which
 * the request completes.
 */
must_check int resolve(struct sley_pool *pool, struct sley_request *request,
		       const struct sley_request *parent,
		       struct targets *targets);

#endif
