/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what a method costs, and the load of workers: C33, C34.
 *
 * One run in some 64 is measured: the tests send requests until enough of them were.
 * A method that computes for so many nanoseconds takes at least as long: lower bounds
 * are exact, and upper bounds are wide.
 */
#include "conformance/route/routing.h"

#include <math.h>

static struct sley_method_cost cost_of(struct sley_pool *pool, uint32_t method,
				       uint64_t io_size)
{
	struct sley_method_cost cost = { .size = sizeof(cost) };

	CHECK_EQ(sley_container_get_cost(pool, 0, method, io_size, &cost), 0);
	return cost;
}

/* Sends requests of @spec until @more of them were measured. */
static void measure(struct sley_pool *pool,
		    const struct sley_request_spec *spec, uint32_t more)
{
	uint32_t goal = cost_of(pool, spec->method, 0).nr_runs + more;

	while (cost_of(pool, spec->method, 0).nr_runs < goal)
		CHECK_EQ(sley_pool_call(pool, spec, NULL), 0);
}

static void spin_for(struct sley_pool *pool, uint64_t ns, uint32_t more)
{
	measure(pool,
		SLEY_REQUEST(.method = PROBE_SPIN, .in = &ns,
			     .in_size = sizeof(ns)),
		more);
}

static uint64_t spin_cost(struct sley_pool *pool)
{
	return cost_of(pool, PROBE_SPIN, 0).wall_ns;
}

static void learn_and_learn_again(void *arg)
{
	struct routing *r = arg;
	struct sley_method_cost cost = cost_of(r->pool, PROBE_SPIN, 0);
	uint64_t slow_ns;

	CHECK_EQ(cost.nr_runs, 0);
	CHECK_EQ(cost.busy_ns, 0);
	CHECK_EQ(cost.wall_ns, 0);
	spin_for(r->pool, 20000, 1);
	cost = cost_of(r->pool, PROBE_SPIN, 0);
	CHECK_GE(cost.wall_ns, 20000 - 1);
	/* A slower method: the prediction follows, some of the way each time. */
	spin_for(r->pool, 200000, 12);
	slow_ns = spin_cost(r->pool);
	CHECK_GE(slow_ns, 150000);
	/* And back: 12 measurements leave 0.8^12 of the difference. */
	spin_for(r->pool, 0, 12);
	/* A run that the kernel has stopped counts, too: the next runs mend that. */
	for (int i = 0; i < 100 && spin_cost(r->pool) >= slow_ns / 2; i++)
		spin_for(r->pool, 0, 1);
	CHECK_LT(spin_cost(r->pool), slow_ns / 2);
	/* Another method, and another container, know nothing of it. */
	CHECK_EQ(cost_of(r->pool, PROBE_ECHO, 0).nr_runs, 0);
	cost = (struct sley_method_cost){ .size = sizeof(cost) };
	CHECK_EQ(sley_container_get_cost(r->pool, 1, PROBE_SPIN, 0, &cost), 0);
	CHECK_EQ(cost.nr_runs, 0);
}

TEST_WORKERS(c33_a_method_is_predicted_from_what_was_measured)
{
	struct routing r = routing_start(2, "none");

	run_task(learn_and_learn_again, &r);
	routing_stop(&r);
}

/* A pool of one container, of a router with this learning rate. */
static struct routing learning_at(double rate)
{
	struct routing r = { .rt = start() };

	CHECK_EQ(sley_router_create(r.rt, &r.router,
				    SLEY_ROUTER_OPTIONS(.policy = "none",
							.learning_rate = rate)),
		 0);
	CHECK_EQ(sley_router_add(r.router, &probe_module), 0);
	r.pool = probe_pool(r.router, "p", 1);
	return r;
}

static void follow_at_once(void *arg)
{
	struct routing *r = arg;

	spin_for(r->pool, 0, 1);
	spin_for(r->pool, SLEY_MSEC, 1);
	CHECK_GE(cost_of(r->pool, PROBE_SPIN, 0).wall_ns, SLEY_MSEC - 1);
}

static void follow_slowly(void *arg)
{
	struct routing *r = arg;

	spin_for(r->pool, SLEY_MSEC, 1);
	spin_for(r->pool, 0, 10);
	/* Ten times a thousandth less. */
	CHECK_GE(cost_of(r->pool, PROBE_SPIN, 0).wall_ns, SLEY_MSEC * 99 / 100);
}

TEST_WORKERS(c33_the_router_says_how_fast_a_prediction_follows)
{
	struct routing r = learning_at(1);

	CHECK(sley_router_learning_rate(r.router) == 1);
	run_task(follow_at_once, &r);
	routing_stop(&r);
	r = learning_at(0.001);
	CHECK(sley_router_learning_rate(r.router) == 0.001);
	run_task(follow_slowly, &r);
	routing_stop(&r);
	r = learning_at(0);
	CHECK(sley_router_learning_rate(r.router) == 0.2);
	routing_stop(&r);
}

TEST(c33_a_learning_rate_that_is_none_is_refused)
{
	static const double rates[] = { -0.1, 1.1, NAN, INFINITY };
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct sley_router *router = NULL;

		CHECK_EQ(
			sley_router_create(
				rt, &router,
				SLEY_ROUTER_OPTIONS(.learning_rate = rates[i])),
			-EINVAL);
		CHECK(!router);
	}
	stop(rt);
}

TEST(c33_one_run_in_64_is_measured)
{
	struct routing r = routing_of(1, "none");
	uint32_t nr_runs;

	for (int i = 0; i < 6400; i++)
		CHECK_EQ(code_of(r.pool, i % 2 ? PROBE_ECHO : PROBE_COUNT,
				 sley_query_local()),
			 0);
	/* Also of methods that come in turns. */
	nr_runs = cost_of(r.pool, PROBE_ECHO, 0).nr_runs;
	CHECK_GE(nr_runs, 45);
	CHECK_LE(nr_runs, 55);
	nr_runs = cost_of(r.pool, PROBE_COUNT, 0).nr_runs;
	CHECK_GE(nr_runs, 45);
	CHECK_LE(nr_runs, 55);
	routing_stop(&r);
}

static int nap(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	return sley_sleep(SLEY_MSEC);
}

static const struct sley_method nap_methods[] = {
	{ .name = "nap", .run = nap },
};

static const struct sley_module nap_module = {
	SLEY_MODULE_HEAD("nap"),
	.methods = nap_methods,
	.nr_methods = 1,
};

static void learn_waits(void *arg)
{
	struct sley_pool *pool = arg;

	while (!cost_of(pool, 0, 0).nr_runs) {
		struct sley_request request[64];

		for (size_t i = 0; i < ARRAY_SIZE(request); i++)
			CHECK_EQ(sley_submit(pool, &request[i],
					     SLEY_REQUEST(.method = 0)),
				 0);
		for (size_t i = 0; i < ARRAY_SIZE(request); i++)
			CHECK_EQ(sley_request_wait(&request[i]), 0);
	}
}

TEST_WORKERS(c33_waits_are_no_busy_time)
{
	struct routing r = routing_start(1, "none");
	struct sley_pool *pool = NULL;
	struct sley_method_cost cost;

	CHECK_EQ(sley_router_add(r.router, &nap_module), 0);
	CHECK_EQ(sley_pool_open(r.router, &pool, "nap",
				SLEY_POOL_OPTIONS(.module = "nap")),
		 0);
	run_task(learn_waits, pool);
	cost = cost_of(pool, 0, 0);
	CHECK_EQ(cost.busy_ns, 0);
	CHECK_GE(cost.wall_ns, SLEY_MSEC - 1);
	sley_pool_close(pool);
	routing_stop(&r);
}

TEST(c33_a_cost_of_something_that_is_not_there_is_an_error)
{
	struct routing r = routing_of(1, "none");
	struct sley_method_cost cost = { .size = sizeof(cost) };

	CHECK_EQ(sley_container_get_cost(r.pool, 2, 0, 0, &cost), -ENXIO);
	CHECK_EQ(sley_container_get_cost(r.pool, 0, NR_PROBES, 0, &cost),
		 -ENOSYS);
	cost.size = 0;
	CHECK_EQ(sley_container_get_cost(r.pool, 0, 0, 0, &cost), -EINVAL);
	routing_stop(&r);
}

/* ---- the load of workers -------------------------------------------------------------- */

/* Counts the load, and sends every request to worker `target`. */
static atomic_uint target;
static atomic_ullong last_cost;

static int count_load(void *self, struct sley_router *router)
{
	(void)self;
	return sley_router_count_load(router);
}

static uint32_t to_target(void *self, const struct sley_route *route)
{
	(void)self;
	atomic_store(&last_cost, sley_route_cost(route));
	return atomic_load(&target);
}

static const struct sley_policy loading = {
	SLEY_POLICY_HEAD("loading"),
	.divide_workers = count_load,
	.runtime_map = to_target,
};

static void no_load(struct sley_router *router)
{
	for (uint32_t i = 0; i < sley_router_nr_workers(router); i++)
		CHECK_EQ(sley_router_load(router, i), 0);
}

TEST(c33_the_load_of_a_worker_is_the_sum_of_what_it_was_sent)
{
	struct sley_config config = config_of(3);
	struct routing r = routing_by(&config, &loading, 0);
	struct gate gate = { 0 }, *in = &gate;
	struct sley_request request[10];
	uint64_t cost, ns = 50000;

	atomic_store(&target, 0);
	/* A gate that is open costs something, and a closed one as much. */
	gate_open(&gate);
	measure(r.pool,
		SLEY_REQUEST(.method = PROBE_HOLD, .in = &in,
			     .in_size = sizeof(in)),
		1);
	spin_for(r.pool, ns, 1);
	no_load(r.router);
	atomic_store(&gate.open, false);
	atomic_store(&target, 1);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++) {
		CHECK_EQ(sley_submit(r.pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_HOLD,
						  .in = &in,
						  .in_size = sizeof(in))),
			 0);
		cost = atomic_load(&last_cost);
		CHECK_GT(cost, 0);
		/* Nothing ends meanwhile, so nothing is learned. */
		CHECK_EQ(sley_router_load(r.router, 1), (i + 1) * cost);
	}
	CHECK_EQ(sley_router_load(r.router, 0), 0);
	CHECK_EQ(sley_router_load(r.router, 2), 0);
	CHECK_EQ(sley_router_load(r.router, 3), 0); /* no worker */
	gate_open(&gate);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	no_load(r.router);
	routing_stop(&r);
}

static void load_and_unload(void *arg)
{
	struct routing *r = arg;

	for (uint32_t i = 0; i < (uint32_t)test_scale(2000); i++) {
		struct sley_request request[4];
		uint64_t ns = i % 3 * 300;

		atomic_store(&target, i % sley_router_nr_workers(r->router));
		for (size_t j = 0; j < ARRAY_SIZE(request); j++)
			CHECK_EQ(sley_submit(r->pool, &request[j],
					     SLEY_REQUEST(.method = PROBE_SPIN,
							  .in = &ns,
							  .in_size = sizeof(ns),
							  .io_size = 8192 * j)),
				 0);
		/* Some thousand requests of microseconds: never a negative sum. */
		for (uint32_t j = 0; j < sley_router_nr_workers(r->router); j++)
			CHECK_LT(sley_router_load(r->router, j),
				 1000 * SLEY_SEC);
		for (size_t j = 0; j < ARRAY_SIZE(request); j++)
			CHECK_EQ(sley_request_wait(&request[j]), 0);
	}
}

TEST_WORKERS(c33_the_load_is_nothing_when_all_requests_are_complete)
{
	struct routing r = routing_by(test_config(), &loading, 0);

	run_tasks(4, load_and_unload, &r);
	CHECK_GT(cost_of(r.pool, PROBE_SPIN, 0).nr_runs, 0);
	no_load(r.router);
	routing_stop(&r);
}

TEST(c33_a_router_that_does_not_count_has_no_load)
{
	struct routing r = routing_of(2, "none");

	run_task(load_and_unload, &r);
	no_load(r.router);
	routing_stop(&r);
}

/* ---- sizes ----------------------------------------------------------------------------- */

TEST(c34_the_cost_grows_with_the_bytes_that_a_request_moves)
{
	struct routing r = routing_of(2, "default");
	uint64_t ns = 100000, one;

	spin_for(r.pool, ns, 1);
	one = cost_of(r.pool, PROBE_SPIN, 0).busy_ns;
	CHECK_GE(one, ns - 1);
	CHECK_EQ(cost_of(r.pool, PROBE_SPIN, 4095).busy_ns, one);
	CHECK_GE(cost_of(r.pool, PROBE_SPIN, 4096).busy_ns, 2 * one);
	CHECK_GE(cost_of(r.pool, PROBE_SPIN, 1 << 20).busy_ns, 256 * one);
	/* The same time for a request that moves much: little for a unit. */
	measure(r.pool, SLEY_REQUEST(.method = PROBE_ECHO, .io_size = 1 << 20),
		1);
	CHECK_LE(cost_of(r.pool, PROBE_ECHO, 0).wall_ns,
		 cost_of(r.pool, PROBE_ECHO, 1 << 20).wall_ns / 200);
	routing_stop(&r);
}

TEST(c34_a_method_supplies_the_size_of_requests_that_do_not_say)
{
	struct sley_config config = config_of(2);
	struct routing r = routing_by(&config, &loading, 0);
	uint64_t ns = 100000;

	atomic_store(&target, 0);
	measure(r.pool,
		SLEY_REQUEST(.method = PROBE_SIZED, .in = &ns,
			     .in_size = sizeof(ns)),
		1);
	/* A hundred microseconds for 257 units. */
	CHECK_LT(cost_of(r.pool, PROBE_SIZED, 0).busy_ns, ns / 2);
	CHECK_GE(cost_of(r.pool, PROBE_SIZED, 1 << 20).busy_ns, ns - 1);
	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_SIZED, .in = &ns,
					     .in_size = sizeof(ns)),
				NULL),
		 0);
	CHECK_GE(atomic_load(&last_cost), ns - 1);
	routing_stop(&r);
}

static int keep_state(void **self, uint32_t from,
		      const struct sley_container_info *info)
{
	(void)self;
	(void)from;
	(void)info;
	return 0;
}

TEST(c34_an_upgrade_forgets_the_costs_of_the_old_methods)
{
	struct sley_module next = probe_module;
	struct routing r = routing_of(2, "none");

	next.version++;
	next.upgrade = keep_state;
	spin_for(r.pool, 1000, 1);
	CHECK_EQ(sley_container_drain_until(r.pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade(r.pool, 0, &next), 0);
	CHECK_EQ(sley_container_open(r.pool, 0), 0);
	CHECK_EQ(cost_of(r.pool, PROBE_SPIN, 0).nr_runs, 0);
	CHECK_EQ(cost_of(r.pool, PROBE_SPIN, 0).wall_ns, 0);
	routing_stop(&r);
}
