/* SPDX-License-Identifier: MIT */
/*
 * my_scheduler.c - MyScheduler of Chimaera's scheduler guide, translated to C: the class
 * with its four groups of workers, and its work stealing in RebalanceWorker.
 *
 * Where the guide asks a singleton, this asks the router.  The numbers of the admin
 * pool's methods for the network are a flag of the method here.
 */
#include "conformance/route/routing.h"

enum { MAX_WORKERS = 64, LARGE_IO = 4096 };

struct my_scheduler {
	uint32_t scheduler_worker;
	uint32_t net_worker;
	uint32_t gpu_worker; /* or SLEY_NO_WORKER */
	uint32_t io_workers[MAX_WORKERS];
	uint32_t nr_io_workers;
	atomic_uint next_io_idx;
};

static int create(void **self, struct sley_router *router)
{
	struct my_scheduler *it = calloc(1, sizeof(*it));

	(void)router;
	if (!it)
		return -ENOMEM;
	*self = it;
	return 0;
}

static void destroy(void *self)
{
	free(self);
}

static int divide_workers(void *self, struct sley_router *router)
{
	struct my_scheduler *it = self;
	uint32_t total = sley_router_nr_workers(router);
	int err;

	it->scheduler_worker = 0;
	it->net_worker = total - 1;
	it->gpu_worker = SLEY_NO_WORKER;
	if (total > 2) {
		it->gpu_worker = total - 2;
		for (uint32_t i = 1; i < total - 1; i++)
			it->io_workers[it->nr_io_workers++] = i;
	}
	err = sley_router_set_client_lanes(router, 1);
	if (!err)
		err = sley_router_set_network_worker(router, it->net_worker);
	if (!err && it->gpu_worker != SLEY_NO_WORKER)
		err = sley_router_set_gpu_worker(router, it->gpu_worker);
	return err;
}

/* All client tasks go to the scheduler worker. */
static uint32_t client_map(void *self, const struct sley_route *route)
{
	(void)self;
	if (sley_router_client_lanes(route->router) == 0)
		return 0;
	return 0;
}

static uint32_t by_size(struct my_scheduler *it, const struct sley_route *route)
{
	if (it->nr_io_workers && sley_route_io_size(route) >= LARGE_IO)
		return it->io_workers[atomic_fetch_add(&it->next_io_idx, 1) %
				      it->nr_io_workers];
	return it->scheduler_worker;
}

static uint32_t choose(struct my_scheduler *it, const struct sley_route *route)
{
	uint32_t worker = sley_route_group_worker(route);

	/* Task group affinity */
	if (worker != SLEY_NO_WORKER)
		return sley_route_keep_group(route, worker);
	/* Network tasks go to the network worker */
	if (sley_route_method_flags(route) & SLEY_METHOD_NETWORK)
		return it->net_worker;
	/* Large I/O goes round, the rest to the scheduler worker */
	return sley_route_keep_group(route, by_size(it, route));
}

/* For the test: the last answer, and how often the second hook was called. */
static atomic_uint chosen;
static atomic_int nr_rebalanced;

static uint32_t runtime_map(void *self, const struct sley_route *route)
{
	uint32_t worker = choose(self, route);

	atomic_store(&chosen, worker);
	return worker;
}

/* Work stealing, as the guide has it: one task from the first lane that has some. */
static void rebalance(void *self, struct sley_router *router, uint32_t worker)
{
	const struct my_scheduler *it = self;

	atomic_fetch_add(&nr_rebalanced, 1);
	if (sley_router_depth(router, worker) > 0)
		return;
	for (uint32_t i = 0; i < it->nr_io_workers; i++) {
		uint32_t victim = it->io_workers[i];

		if (victim == worker || !sley_router_depth(router, victim))
			continue;
		if (sley_router_steal(router, victim, worker) > 0)
			break;
	}
}

static const struct sley_policy my_scheduler = {
	SLEY_POLICY_HEAD("my_scheduler"),
	.create = create,
	.destroy = destroy,
	.divide_workers = divide_workers,
	.client_map = client_map,
	.runtime_map = runtime_map,
	.rebalance = rebalance,
};

/* ---- the test -------------------------------------------------------------------------- */

/* What was chosen for a request; another worker may steal the request later. */
static uint32_t chosen_for(struct sley_pool *pool,
			   const struct sley_request_spec *spec)
{
	(void)sent_to(pool, spec);
	return atomic_load(&chosen);
}

static void map_from_a_worker(void *arg)
{
	struct routing *r = arg;
	uint32_t nr = sley_router_nr_workers(r->router);
	uint32_t nr_io = nr > 2 ? nr - 2 : 0;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request first;
	uint32_t worker;

	CHECK_EQ(chosen_for(r->pool, SLEY_REQUEST(.method = PROBE_ECHO)), 0);
	CHECK_EQ(chosen_for(r->pool, SLEY_REQUEST(.method = PROBE_NETWORK)),
		 nr - 1);
	for (uint32_t i = 0; i < 3 * nr; i++)
		CHECK_EQ(chosen_for(r->pool, SLEY_REQUEST(.method = PROBE_ECHO,
							  .io_size = LARGE_IO)),
			 nr_io ? 1 + i % nr_io : 0);
	/* The group of a large request stays with it. */
	CHECK_EQ(sley_submit(r->pool, &first,
			     SLEY_REQUEST(.method = PROBE_WAIT, .group = 5,
					  .io_size = LARGE_IO, .in = &in,
					  .in_size = sizeof(in))),
		 0);
	worker = atomic_load(&chosen);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(chosen_for(r->pool, SLEY_REQUEST(.method = PROBE_ECHO,
							  .group = 5)),
			 worker);
	sley_event_set(&event);
	CHECK_EQ(sley_request_wait(&first), 0);
}

/* More than the workers can do at once, of all kinds. */
static void send_many(void *arg)
{
	enum { NR = 400 };
	struct routing *r = arg;
	struct sley_request *request = calloc(NR, sizeof(*request));
	uint64_t ns = 2000;

	CHECK(request != NULL);
	for (size_t i = 0; i < NR; i++) {
		bool spins = i % 7;

		CHECK_EQ(sley_submit(
				 r->pool, &request[i],
				 SLEY_REQUEST(.method = spins ? PROBE_SPIN
							      : PROBE_NETWORK,
					      .in = spins ? &ns : NULL,
					      .in_size = spins ? sizeof(ns) : 0,
					      .io_size = i % 3 * LARGE_IO,
					      .group = i % 5 ? 0 : i % 4,
					      .enqueue = true)),
			 0);
	}
	for (size_t i = 0; i < NR; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
	free(request);
}

TEST(c07_my_scheduler_of_the_guide_works_with_any_number_of_workers)
{
	static const int counts[] = { ROUTING_COUNTS };

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct sley_config config = config_of(counts[i]);
		struct routing r = routing_by(&config, &my_scheduler, 0);
		struct sley_router_stats stats;

		CHECK_EQ(sley_router_client_lanes(r.router), 1);
		CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_local()), 0);
		run_task(map_from_a_worker, &r);
		run_tasks(8, send_many, &r);
		stats = router_stats(r.router);
		CHECK_EQ(stats.submitted, stats.completed);
		CHECK_EQ(stats.refused, 0);
		CHECK_EVENTUALLY(atomic_load(&nr_rebalanced) > 0);
		atomic_store(&nr_rebalanced, 0);
		routing_stop(&r);
	}
}

TEST(c10_my_scheduler_is_no_name_that_is_built_in)
{
	struct sley *rt = start();
	struct sley_router *router = NULL;

	CHECK_EQ(sley_router_create(
			 rt, &router,
			 SLEY_ROUTER_OPTIONS(.policy = "my_scheduler")),
		 -ENOENT);
	stop(rt);
}
