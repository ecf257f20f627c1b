/* SPDX-License-Identifier: MIT */
/*
 * rebalance.h - a policy looks after the workers, and moves requests that are queued.
 *
 * rebalance() of a policy is called on a worker of the runtime
 *
 *   - that has found no work, before it sleeps (core/life/idle_call.h), and
 *   - that has completed REBALANCE_EVERY requests since the last time, so that also
 *     workers without a pause look up now and then.
 *
 * The second call comes before its request is complete: the request keeps the router.
 *
 * A worker without work has searched everywhere before the first call, and takes what
 * it finds in the lanes and rings of others (core/sched/search.c).  So a policy has to
 * steal only where the engine does not: from a busy worker to another that is busy, too.
 *
 * A request that is moved is in nobody's queue for a moment, and only the mover has
 * it: lanes and rings give each task to one taker.  A request that has begun is in no
 * queue.  A request of a group stays where its group is.
 */
#ifndef SLEY_ROUTE_REBALANCE_H
#define SLEY_ROUTE_REBALANCE_H

#include "route/router.h"

#define REBALANCE_EVERY 64

/* The policy is complete, and may be called from here on, until rebalance_stop(). */
void rebalance_start(struct sley_router *router);
void rebalance_stop(struct sley_router *router);

/* By @worker, with a request that is about to complete; the policy has rebalance(). */
void rebalance_after(struct sley_router *router, struct worker *worker);

#endif
