/* SPDX-License-Identifier: MIT */
/*
 * policy.c - see policy.h; and what <sley/policy.h> tells a policy of a request.
 */
#include "route/policy.h"

#include "base/options.h"
#include "core/trace/report.h"
#include "os/thread.h"
#include "route/container.h"
#include "route/load.h"
#include "route/rebalance.h"
#include "route/request.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

/* ---- the start and the end --------------------------------------------------------- */

/* The policy with that name: built in, or else a file. */
static int find(struct sley_router *router, const char *name,
		const struct sley_policy **policy)
{
	static const struct sley_policy *const all[] = {
		&policy_default, &policy_local, &policy_none,
		&policy_steal,   &policy_prio,
	};

	for (size_t i = 0; i < array_size(all); i++) {
		if (strcmp(all[i]->name, name) == 0) {
			*policy = all[i];
			return 0;
		}
	}
	return load_table(router, name, LOAD_POLICY, (const void **)policy);
}

static bool is_complete(const struct sley_policy *policy)
{
	return policy->abi == SLEY_POLICY_ABI &&
	       policy->size == sizeof(*policy) && policy->name &&
	       policy->runtime_map && options_are_clear(policy->reserved);
}

static void tell_unknown(const struct sley_router *router, const char *name)
{
	report(router->rt,
	       "there is no policy \"%s\": none that is built in (default, "
	       "local, none, steal, prio), and no file %s.so in .directories "
	       "(%.200s)",
	       name, name, router->directories ?: "none");
}

/* Says why there is no router.  Returns @err. */
static int failed_in(const struct sley_router *router, const char *function,
		     int err)
{
	sley_router_log(router, SLEY_LOG_ERROR,
			"%s() failed (%s), so there is no router; the runtime "
			"has %u worker(s)",
			function, sley_strerror(err), router->nr_workers);
	return err;
}

int policy_start(struct sley_router *router, const char *name,
		 const struct sley_policy *own)
{
	const struct sley_policy *policy = own;
	int err = 0;

	if (!own)
		err = find(router, name ? name : policy_default.name, &policy);
	if (err == -ENOENT)
		tell_unknown(router, name);
	if (err)
		return err;
	if (!is_complete(policy))
		return own ? -EINVAL : -ELIBBAD;
	router->policy = policy;
	if (policy->create)
		err = policy->create(&router->policy_self, router);
	if (err)
		return failed_in(router, "create", err);
	if (policy->divide_workers)
		err = policy->divide_workers(router->policy_self, router);
	if (!err) {
		rebalance_start(router);
		return 0;
	}
	policy_end(router);
	return failed_in(router, "divide_workers", err);
}

void policy_end(struct sley_router *router)
{
	rebalance_stop(router);
	if (router->policy->destroy)
		router->policy->destroy(router->policy_self);
}

/* ---- the question ------------------------------------------------------------------ */

/* The answer @answer of @function() is none of the @limit workers or lanes. */
static void refuse(struct sley_router *router, const struct worker *here,
		   const char *function, uint32_t answer, uint32_t limit)
{
	router_count(router, here, COUNT_REFUSED);
	if (router_may_warn(router))
		sley_router_log(router, SLEY_LOG_WARNING,
				"%s() answered %u, which is not below %u: the "
				"request stays where it is; "
				"sley_router_get_stats() counts such answers",
				function, answer, limit);
}

static struct sley_route route_of(struct sley_router *router,
				  const struct worker *here,
				  const struct sley_request *request)
{
	return (struct sley_route){
		.router = router,
		.request = request,
		.container = request->container,
		.here = here ? here->index : SLEY_NO_WORKER,
	};
}

uint32_t policy_map(struct sley_router *router, const struct worker *here,
		    struct sley_request *request)
{
	const struct sley_policy *policy = router->policy;
	bool outside = !here || unlikely(request->flags & REQUEST_SERVED);
	struct sley_route route =
		route_of(router, outside ? NULL : here, request);
	const char *function = "runtime_map";
	uint32_t limit = router->nr_workers;
	uint32_t worker;

	if (outside && policy->client_map) {
		function = "client_map";
		limit = router->client_lanes;
		worker = policy->client_map(router->policy_self, &route);
	} else {
		worker = policy->runtime_map(router->policy_self, &route);
	}
	if (likely(worker < limit || worker == SLEY_NO_WORKER))
		return worker;
	refuse(router, here, function, worker, limit);
	return SLEY_NO_WORKER;
}

static void refuse_wait(struct sley_router *router, const struct worker *here,
			uint64_t answer_ns, uint64_t period_ns)
{
	router_count(router, here, COUNT_REFUSED);
	if (router_may_warn(router))
		sley_router_log(router, SLEY_LOG_WARNING,
				"adjust_polling() answered %llu ns, which is "
				"below the period of %llu ns: the answer is "
				"ignored; sley_router_get_stats() counts such "
				"answers",
				(unsigned long long)answer_ns,
				(unsigned long long)period_ns);
}

uint64_t policy_wait(struct sley_router *router, const struct worker *here,
		     const struct sley_request *request,
		     const struct sley_polling *polling)
{
	const struct sley_policy *policy = router->policy;
	struct sley_route route = route_of(router, here, request);
	uint64_t wait_ns;

	if (!policy->adjust_polling)
		return polling->wait_ns;
	wait_ns = policy->adjust_polling(router->policy_self, &route, polling);
	if (likely(wait_ns >= polling->period_ns))
		return wait_ns;
	refuse_wait(router, here, wait_ns, polling->period_ns);
	return polling->wait_ns;
}

/* ---- what a policy may ask --------------------------------------------------------- */

/* The policy sees the request as a constant; the router does not. */
static struct sley_request *own_request(const struct sley_route *route)
{
	return (struct sley_request *)route->request;
}

uint64_t sley_route_io_size(const struct sley_route *route)
{
	struct sley_request *request = own_request(route);

	/* The method is asked once: cost.h wants to know, too. */
	if (!request->io_size && request->does->io_size)
		request->io_size =
			request->does->io_size(route->container->self, request);
	return request->io_size;
}

int32_t sley_route_priority(const struct sley_route *route)
{
	return (int32_t)task_level(&route->request->task) - LEVEL_DEFAULT;
}

int sley_route_process(const struct sley_route *route)
{
	if (unlikely(route->request->flags & REQUEST_SERVED))
		return request_served(route->request)->process;
	return route->router->pid;
}

int sley_route_thread(const struct sley_route *route)
{
	if (unlikely(route->request->flags & REQUEST_SERVED))
		return request_served(route->request)->process;
	return os_thread_id(); /* the policy is asked by the submitter itself */
}

uint32_t sley_route_group_worker(const struct sley_route *route)
{
	uint32_t worker = SLEY_NO_WORKER;

	if (route->request->group != SLEY_NO_GROUP)
		(void)group_map_find(&route->container->groups,
				     route->request->group, &worker);
	return worker;
}

void sley_route_pin(const struct sley_route *route)
{
	own_request(route)->flags |= REQUEST_PINNED;
}

uint32_t sley_route_keep_group(const struct sley_route *route, uint32_t worker)
{
	struct sley_request *request = own_request(route);
	struct sley_container *container = route->container;

	if (request->group == SLEY_NO_GROUP ||
	    request->flags & REQUEST_GROUPED ||
	    !group_map_enter(&container->groups, &route->router->rt->mem,
			     request->group, &worker))
		return worker;
	request->flags |= REQUEST_GROUPED;
	return worker;
}
