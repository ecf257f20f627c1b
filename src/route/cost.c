/* SPDX-License-Identifier: MIT */
/*
 * cost.c - see cost.h.
 */
#include "route/cost.h"

#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/sched/worker.h"
#include "os/clock.h"
#include "route/container.h"
#include "route/pool.h"
#include "route/router.h"

#include <errno.h>
#include <sley/error.h>

/* ---- learning ---------------------------------------------------------------------- */

static uint64_t below(uint64_t ns, uint64_t limit)
{
	return ns < limit ? ns : limit;
}

_Static_assert(COST_MAX_NS <= UINT64_MAX / COST_FRACTION / COST_LEARN_ALL,
	       "a part of a difference is computed in 64 bits");

uint32_t cost_rate(double rate)
{
	uint32_t parts;

	if (rate == 0)
		return COST_LEARN_DEFAULT;
	if (!(rate > 0 && rate <= 1)) /* also false for what is no number */
		return 0;
	parts = (uint32_t)(rate * COST_LEARN_ALL + 0.5);
	return parts ? parts : 1;
}

static uint64_t part(uint64_t difference, uint32_t rate)
{
	return difference * rate / COST_LEARN_ALL;
}

/* The estimate @old after a measurement of @seen; never 0. */
static uint64_t moved(uint64_t old, uint64_t seen, uint32_t rate)
{
	uint64_t mean = seen;

	if (old)
		mean = seen > old ? old + part(seen - old, rate)
				  : old - part(old - seen, rate);
	return mean ? mean : 1;
}

void cost_learn(struct method_cost *cost, uint32_t rate, uint64_t units,
		uint64_t ns, bool waited)
{
	uint64_t seen = below(ns, COST_MAX_NS) * COST_FRACTION / units;

	/* relaxed: statistics, see cost.h. */
	store_relaxed(&cost->wall,
		      moved(load_relaxed(&cost->wall), seen, rate));
	if (!waited)
		/* relaxed: the same. */
		store_relaxed(&cost->busy,
			      moved(load_relaxed(&cost->busy), seen, rate));
	/* relaxed: the same. */
	store_relaxed(&cost->nr_runs, load_relaxed(&cost->nr_runs) + 1);
}

void cost_forget(struct method_cost *cost, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		/* relaxed: statistics, see cost.h. */
		store_relaxed(&cost[i].busy, 0);
		/* relaxed: the same. */
		store_relaxed(&cost[i].wall, 0);
		/* relaxed: the same. */
		store_relaxed(&cost[i].nr_runs, 0);
	}
}

/* ---- predicting -------------------------------------------------------------------- */

static uint64_t of_units(uint64_t of_one, uint64_t units)
{
	uint64_t all;

	if (__builtin_mul_overflow(of_one, units, &all))
		return COST_MAX_NS;
	return below(all / COST_FRACTION, COST_MAX_NS);
}

uint64_t cost_busy(const struct method_cost *cost, uint64_t units)
{
	/* relaxed: statistics, see cost.h. */
	return of_units(load_relaxed(&cost->busy), units);
}

uint64_t cost_wall(const struct method_cost *cost, uint64_t units)
{
	/* relaxed: statistics, see cost.h. */
	return of_units(load_relaxed(&cost->wall), units);
}

uint64_t cost_predict(const struct method_cost *cost, uint64_t units)
{
	/* relaxed: statistics, see cost.h. */
	uint64_t busy = load_relaxed(&cost->busy);

	return busy ? of_units(busy, units) : cost_wall(cost, units);
}

static struct method_cost *cost_of(const struct sley_request *request)
{
	return &request->container->costs[request->method];
}

uint64_t sley_route_cost(const struct sley_route *route)
{
	return cost_predict(cost_of(route->request),
			    cost_units(sley_route_io_size(route)));
}

int sley_container_get_cost(const struct sley_pool *pool, uint32_t id,
			    uint32_t method, uint64_t io_size,
			    struct sley_method_cost *out)
{
	struct sley_method_cost found = { .size = sizeof(found) };
	uint64_t units = cost_units(io_size);
	const struct method_cost *cost;
	int err = pool_refuses(pool);

	if (err)
		return err;
	if (id >= pool->nr_containers)
		return -ENXIO;
	if (method >= pool->module->nr_methods)
		return -ENOSYS;
	cost = &pool->container[id].costs[method];
	found.busy_ns = cost_busy(cost, units);
	found.wall_ns = cost_wall(cost, units);
	/* relaxed: statistics, see cost.h. */
	found.nr_runs = load_relaxed(&cost->nr_runs);
	return options_give(out, &found, sizeof(found));
}

/* ---- measuring --------------------------------------------------------------------- */

static uint64_t switches_of(const struct worker *worker)
{
	return worker ? counter_read(&worker->counters.switches) : 0;
}

int cost_run(struct sley_request *request)
{
	const struct worker *worker = worker_now();
	uint64_t switches = switches_of(worker);
	uint64_t start_ns = os_now();
	int code = request->does->run(request->container->self, request);
	uint64_t ns = os_now() - start_ns;
	/* The method may go on at another worker after a wait. */
	bool waited = worker_now() != worker || switches_of(worker) != switches;

	cost_learn(cost_of(request),
		   request->container->pool->router->learning_rate,
		   cost_units(request->io_size), ns, waited);
	return code;
}

/* ---- the load of workers ----------------------------------------------------------- */

int sley_router_count_load(struct sley_router *router)
{
	struct mem *mem = &router->rt->mem;

	if (!router->load)
		router->load = mem_alloc(mem, router->nr_workers *
						      sizeof(*router->load));
	return router->load ? 0 : -ENOMEM;
}

uint64_t sley_router_load(const struct sley_router *router, uint32_t worker)
{
	if (!router->load || worker >= router->nr_workers)
		return 0;
	/* relaxed: statistics, see cost.h. */
	return load_relaxed(&router->load[worker].ns);
}

void cost_add(struct sley_router *router, struct sley_request *request)
{
	uint64_t ns =
		cost_predict(cost_of(request), cost_units(request->io_size));

	request->cost_ns = (uint32_t)below(ns, UINT32_MAX);
	if (ns)
		/* relaxed: statistics, see cost.h. */
		(void)add_relaxed(&router->load[request->worker].ns,
				  request->cost_ns);
}

void cost_take_back(struct sley_router *router, struct sley_request *request)
{
	/* relaxed: statistics, see cost.h. */
	(void)sub_relaxed(&router->load[request->worker].ns, request->cost_ns);
	request->cost_ns = 0;
}
