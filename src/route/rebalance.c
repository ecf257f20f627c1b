/* SPDX-License-Identifier: MIT */
/*
 * rebalance.c - see rebalance.h.
 */
#include "route/rebalance.h"

#include "core/life/after_fork.h"
#include "core/sched/place.h"
#include "route/cost.h"
#include "route/request.h"

#include <errno.h>
#include <sley/error.h>

/* ---- the hook ---------------------------------------------------------------------- */

/* A thread that is bound to a single-threaded runtime is worker 0. */
static uint32_t number_of(const struct sley_router *router,
			  const struct worker *worker)
{
	return worker->index < router->nr_workers ? worker->index : 0;
}

static void ask(struct sley_router *router, const struct worker *worker)
{
	router->policy->rebalance(router->policy_self, router,
				  number_of(router, worker));
}

/* @worker is about to sleep.  True: it has something to do. */
static bool ask_idle(struct idle_call *call, struct worker *worker)
{
	struct sley_router *router =
		container_of(call, struct sley_router, idle_call);

	ask(router, worker);
	return !push_list_empty(&worker->lane);
}

void rebalance_start(struct sley_router *router)
{
	if (!router->policy->rebalance)
		return;
	router->idle_call.fn = ask_idle;
	idle_call_add(&router->rt->idle_calls, &router->idle_call);
}

void rebalance_stop(struct sley_router *router)
{
	if (router->idle_call.fn)
		idle_call_remove(&router->rt->idle_calls, &router->idle_call);
}

void rebalance_after(struct sley_router *router, struct worker *worker)
{
	const struct route_counts *counts =
		&router->counts[number_of(router, worker)];

	if (counter_read(&counts->of[COUNT_COMPLETED]) % REBALANCE_EVERY !=
	    REBALANCE_EVERY - 1)
		return;
	/* As for an alarm: there is no task that could wait. */
	sley__self.ringing = true;
	ask(router, worker);
	sley__self.ringing = false;
}

/* ---- stealing ---------------------------------------------------------------------- */

struct theft {
	struct sley_router *router;
	uint32_t to;
};

/* The task is in no queue: if it may go, its request is on its way already. */
static bool may_move(void *arg, const struct sley_task *task)
{
	const struct theft *theft = arg;
	struct sley_request *request = request_queued(theft->router, task);

	if (!request || request->flags & REQUEST_GROUPED)
		return false;
	if (request->cost_ns)
		cost_take_back(theft->router, request);
	request->worker = theft->to;
	if (theft->router->load)
		cost_add(theft->router, request);
	return true;
}

int sley_router_steal(struct sley_router *router, uint32_t from, uint32_t to)
{
	struct theft theft = { router, to };
	struct sley *rt = router->rt;

	if (unlikely(runtime_is_lost(rt)))
		return SLEY_EFORKED;
	if (from >= router->nr_workers || to >= router->nr_workers ||
	    from == to) {
		router_count(router, router_worker(router), COUNT_REFUSED);
		return -EINVAL;
	}
	if (!place_move(rt->worker[from], rt->worker[to], may_move, &theft))
		return 0;
	router_count(router, router_worker(router), COUNT_STOLEN);
	return 1;
}
