/* SPDX-License-Identifier: MIT */
/*
 * policy.h - asks the policy of a router, and believes no answer that is no worker.
 */
#ifndef SLEY_ROUTE_POLICY_H
#define SLEY_ROUTE_POLICY_H

#include "route/router.h"

/*
 * The policy that is built in under @name, or @own, becomes that of @router.  0,
 * -ENOENT, -EINVAL, or an error of the policy.
 */
must_check int policy_start(struct sley_router *router, const char *name,
			    const struct sley_policy *own);
void policy_end(struct sley_router *router);

/*
 * The worker for a request, which is in its container; SLEY_NO_WORKER: where it is.
 * @here: the caller, if it is a worker of the runtime.
 */
uint32_t policy_map(struct sley_router *router, const struct worker *here,
		    struct sley_request *request);

/* As client_map(): the lane of the submitter's thread, always the same. */
uint32_t policy_lane_of_thread(void *self, const struct sley_route *route);

/*
 * How long to wait for the next run of a request, which is in its container: what the
 * policy says, or else @polling->wait_ns.
 */
uint64_t policy_wait(struct sley_router *router, const struct worker *here,
		     const struct sley_request *request,
		     const struct sley_polling *polling);

/* The policies that are built in. */
extern const struct sley_policy policy_default;
extern const struct sley_policy policy_local;
extern const struct sley_policy policy_none;
extern const struct sley_policy policy_steal;
extern const struct sley_policy policy_prio;

#endif
