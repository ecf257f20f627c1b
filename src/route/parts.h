/* SPDX-License-Identifier: MIT */
/*
 * parts.h - a request that runs in several containers.
 *
 * The *origin* is the request of the user.  Each container gets a *part*: a request of its
 * own, with the same IN part and, if the method combines answers, with an OUT part of its
 * own.  The parts are counted, and so is the submitter while it sends them.  The last
 * of them combines the answers, in the order of the containers, and completes the origin:
 * the code of the origin is that of the first part that did not return 0.
 *
 * With a neighbour (route/neighbour.h), a part may go to another machine: the range is
 * cut into sub-ranges (route/split.h), and a sub-range whose first container is elsewhere
 * is one part.  Its answer is that of all its containers.
 *
 * The origin is in no container.  While its parts are, it is counted by its pool, in
 * `waiting` (route/pool.h): the pool and the router stay until the origin is complete,
 * also if no caller waits for it.
 *
 * Cancelling.  The canceller of the origin cancels the parts, and meanwhile they must not
 * be freed.  `holds` of the origin counts the parts as one, and each canceller: the last
 * of them frees the parts and completes the origin.  A canceller that finds the count
 * at zero is too late.
 *
 * Edges:
 *
 *   PA1  a part is complete -> the last one combines : its answer and its code
 *   PA2  a canceller, or the last part, lets go -> the last holder completes the origin :
 *        the parts are not used any more, and are all complete
 *   PA3  the parts are sent -> a canceller finds them : their fields
 *
 * Rejected: to combine each answer when it comes, under a lock (the order would be that of
 * the ends, and a different result each time).
 */
#ifndef SLEY_ROUTE_PARTS_H
#define SLEY_ROUTE_PARTS_H

#include "route/router.h"

#include <sley/request.h>

struct parts {
	struct sley_router *router;
	struct sley_request *origin;
	uint32_t nr;
	uint32_t nr_left; /* parts that are not complete, and the submitter   */
	char *out;        /* the answers of the parts                         */
	size_t out_size;  /* of each part                                     */
	size_t size;      /* of this memory                                   */
	struct sley_request part[];
};

/*
 * Sends the parts of @origin to @nr containers of @pool, from @first on.  0, or the
 * errors of sley_submit(): then the origin was not accepted.
 */
must_check int parts_send(struct sley_router *router, struct sley_pool *pool,
			  struct sley_request *origin, uint32_t first,
			  uint32_t nr);

/* A part, or the submitter, is done. */
void parts_complete(struct parts *parts);

/* False: @origin has no parts. */
bool parts_cancel(struct sley_request *origin);

#endif
