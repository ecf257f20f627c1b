/* SPDX-License-Identifier: MIT */
/*
 * route.c - rows `route` and `route-queued`: a request to a pool in the same process,
 * on the stack of the caller, and as a task of its own for which the caller waits.
 *
 * The row is measured under the policy that is asked nothing; policy_ns is the same
 * under "default".
 */
#include "requests.h"

static void run_both(const struct measure *m, bool queued)
{
	uint64_t nr = measure_size(m, ROUTE_TURNS);
	struct requests none = { m, "none", "ns", nr, queued };
	struct requests with_policy = { m, "default", "policy_ns", nr, queued };

	requests_run(&none);
	requests_run(&with_policy);
}

void row_route(const struct measure *m)
{
	run_both(m, false);
}

void row_route_queued(const struct measure *m)
{
	run_both(m, true);
}
