/* SPDX-License-Identifier: MIT */
/*
 * policy.c - which worker a request is sent to: C01, C03, C05, C06, C10, C14.
 *
 * A worker that a policy chooses is a preference, so the tests ask the policy and not
 * the worker that ran the request: request.worker is where the request was sent.
 */
#include "conformance/route/routing.h"

static const int counts[] = { ROUTING_COUNTS };

TEST(c01_roles_are_divided_among_any_number_of_workers)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint32_t nr = (uint32_t)counts[i];
		struct routing r = routing_of(counts[i], "default");

		CHECK_EQ(sley_router_nr_workers(r.router), nr);
		CHECK_EQ(sley_router_client_lanes(r.router), 1);
		CHECK_EQ(sley_router_network_worker(r.router), nr - 1);
		CHECK_EQ(sley_router_gpu_worker(r.router),
			 nr > 2 ? nr - 2 : SLEY_NO_WORKER);
		CHECK(sley_router_runtime(r.router) == r.rt);
		routing_stop(&r);
	}
}

static void place_by_size(void *arg)
{
	struct routing *r = arg;
	uint32_t nr = sley_router_nr_workers(r->router);
	uint32_t seen[64] = { 0 };

	CHECK_EQ(sent_to(r->pool, SLEY_REQUEST(.method = PROBE_ECHO)), 0);
	CHECK_EQ(sent_to(r->pool, SLEY_REQUEST(.method = PROBE_ECHO,
					       .io_size = SLEY_IO_LARGE - 1)),
		 0);
	for (uint32_t i = 0; i < 4 * nr; i++) {
		uint32_t to = sent_to(r->pool,
				      SLEY_REQUEST(.method = PROBE_ECHO,
						   .io_size = SLEY_IO_LARGE));

		CHECK_LT(to, nr);
		seen[to]++;
	}
	if (nr <= 2) {
		CHECK_EQ(seen[0], 4 * nr);
		return;
	}
	/* In turn, and none to the scheduler or the network worker. */
	CHECK_EQ(seen[0], 0);
	CHECK_EQ(seen[nr - 1], 0);
	for (uint32_t i = 1; i < nr - 1; i++)
		CHECK_GE(seen[i], 4 * nr / (nr - 2));
}

TEST(c05_large_requests_go_round_the_io_workers_and_small_ones_to_worker_0)
{
	skip_chaos();
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct routing r = routing_of(counts[i], "default");

		run_task(place_by_size, &r);
		routing_stop(&r);
	}
}

TEST(c05_a_submitter_that_is_no_worker_is_placed_too)
{
	struct routing r = routing_of(4, "default");

	skip_chaos();
	CHECK_EQ(sent_to(r.pool, SLEY_REQUEST(.method = PROBE_ECHO)), 0);
	CHECK_EQ(sent_to(r.pool, SLEY_REQUEST(.method = PROBE_ECHO,
					      .io_size = SLEY_IO_LARGE)),
		 1);
	CHECK_EQ(sent_to(r.pool, SLEY_REQUEST(.method = PROBE_ECHO,
					      .io_size = SLEY_IO_LARGE)),
		 2);
	routing_stop(&r);
}

static void place_by_method(void *arg)
{
	struct routing *r = arg;
	uint32_t nr = sley_router_nr_workers(r->router);
	uint32_t gpu = sley_router_gpu_worker(r->router);

	/* Whatever their size. */
	for (uint64_t size = 0; size <= SLEY_IO_LARGE; size += SLEY_IO_LARGE) {
		CHECK_EQ(sent_to(r->pool, SLEY_REQUEST(.method = PROBE_NETWORK,
						       .io_size = size)),
			 nr - 1);
		if (nr > 2)
			CHECK_EQ(sent_to(r->pool,
					 SLEY_REQUEST(.method = PROBE_GPU,
						      .io_size = size)),
				 gpu);
	}
}

TEST(c05_network_and_gpu_methods_go_to_the_workers_with_that_role)
{
	skip_chaos();
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct routing r = routing_of(counts[i], "default");

		run_task(place_by_method, &r);
		place_by_method(&r); /* and from a thread that is no worker */
		routing_stop(&r);
	}
}

TEST(c09_without_a_gpu_worker_gpu_methods_run_and_no_worker_polls)
{
	skip_chaos();
	for (int nr = 1; nr <= 4; nr++) {
		struct routing r = routing_of(nr, "default");
		struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;

		CHECK_EQ(sley_router_gpu_worker(r.router),
			 nr > 2 ? (uint32_t)nr - 2 : SLEY_NO_WORKER);
		CHECK_EQ(sent_to(r.pool, SLEY_REQUEST(.method = PROBE_GPU)),
			 nr > 2 ? nr - 2 : 0);
		/* A role burns no core: all workers sleep. */
		for (int i = 0; i < nr; i++)
			CHECK_EVENTUALLY(
				sley_get_worker_stats(r.rt, i, &stats) == 0 &&
				stats.asleep);
		routing_stop(&r);
	}
}

/* Where the requests of one worker go. */
static void stay_or_deal(void *arg)
{
	struct routing *r = arg;
	uint32_t here = (uint32_t)sley_worker();
	uint32_t nr = sley_router_nr_workers(r->router);
	uint32_t seen[64] = { 0 };
	bool is_gpu = here == sley_router_gpu_worker(r->router);

	for (uint32_t i = 0; i < 2 * nr; i++) {
		uint32_t to =
			sent_to(r->pool, SLEY_REQUEST(.method = PROBE_ECHO,
						      .io_size = 1 << 20));

		CHECK_LT(to, nr);
		seen[to]++;
	}
	/* The worker for GPUs deals its requests to the others. */
	for (uint32_t i = 0; i < nr; i++) {
		if (is_gpu)
			CHECK_EQ(seen[i] >= 2, i != here);
		else
			CHECK_EQ(seen[i], i == here ? 2 * nr : 0);
	}
}

TEST(c06_local_requests_stay_and_a_thread_keeps_its_lane)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct routing r = routing_of(counts[i], "local");
		uint32_t lane =
			sent_to(r.pool, SLEY_REQUEST(.method = PROBE_ECHO));

		CHECK_EQ(sley_router_client_lanes(r.router), counts[i]);
		CHECK_LT(lane, counts[i]);
		for (int j = 0; j < 8; j++)
			CHECK_EQ(sent_to(r.pool,
					 SLEY_REQUEST(.method = PROBE_ECHO)),
				 lane);
		on_each_worker(&r, stay_or_deal);
		routing_stop(&r);
	}
}

TEST(c10_a_policy_that_does_not_exist_is_an_error_at_the_start)
{
	struct sley *rt = start();
	struct sley_router *router = NULL;

	CHECK_EQ(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.policy = "my_sched")),
		 -ENOENT);
	CHECK(router == NULL);
	stop(rt);
}

/* ---- groups ----------------------------------------------------------------------------- */

static void keep_a_group(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request first;
	uint32_t worker;

	CHECK_EQ(sley_submit(r->pool, &first,
			     SLEY_REQUEST(.method = PROBE_WAIT, .group = 7,
					  .in = &in, .in_size = sizeof(in),
					  .io_size = SLEY_IO_LARGE)),
		 0);
	worker = first.worker;
	CHECK_EQ(worker, 1);
	/* While one of the group is there, all go there. */
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sent_to(r->pool,
				 SLEY_REQUEST(.method = PROBE_ECHO, .group = 7,
					      .io_size = i % 2 ? 0 : 8192)),
			 worker);
	CHECK_EQ(sent_to(r->pool,
			 SLEY_REQUEST(.method = PROBE_ECHO, .group = 8)),
		 0);
	/* Another container has a map of its own. */
	CHECK_EQ(sent_to(r->pool, SLEY_REQUEST(.method = PROBE_ECHO, .group = 7,
					       .query = sley_query_id(1))),
		 0);
	sley_event_set(&event);
	CHECK_EQ(sley_request_wait(&first), 0);
	/* The group is idle: the next request chooses anew. */
	CHECK_EQ(sent_to(r->pool,
			 SLEY_REQUEST(.method = PROBE_ECHO, .group = 7)),
		 0);
}

TEST(c14_requests_of_a_group_follow_the_first_while_it_is_there)
{
	struct routing r = routing_of(4, "default");

	skip_chaos();
	run_task(keep_a_group, &r);
	routing_stop(&r);
}

/* ---- policies of the program --------------------------------------------------------------- */

struct wrong {
	uint32_t answer;
	int created, divided, destroyed;
};

static struct wrong wrong;

static int wrong_create(void **self, struct sley_router *router)
{
	CHECK_EQ(sley_router_nr_workers(router), 2);
	wrong.created++;
	*self = &wrong;
	return 0;
}

static void wrong_destroy(void *self)
{
	CHECK(self == &wrong);
	wrong.destroyed++;
}

static int wrong_divide(void *self, struct sley_router *router)
{
	CHECK(self == &wrong);
	CHECK_EQ(wrong.created, 1);
	wrong.divided++;
	CHECK_EQ(sley_router_set_client_lanes(router, 0), -EINVAL);
	CHECK_EQ(sley_router_set_client_lanes(router, 3), -EINVAL);
	CHECK_EQ(sley_router_set_network_worker(router, 2), -EINVAL);
	CHECK_EQ(sley_router_set_gpu_worker(router, 2), -EINVAL);
	return 0;
}

static uint32_t wrong_map(void *self, const struct sley_route *route)
{
	(void)route;
	return ((struct wrong *)self)->answer;
}

static const struct sley_policy wrong_policy = {
	SLEY_POLICY_HEAD("wrong"), .create = wrong_create,
	.destroy = wrong_destroy,  .divide_workers = wrong_divide,
	.client_map = wrong_map,   .runtime_map = wrong_map,
};

TEST(c03_a_policy_that_forgets_its_setters_has_one_lane_and_no_roles)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct sley_router *router = NULL;

	wrong = (struct wrong){ .answer = 0 };
	CHECK_EQ(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.own_policy =
								&wrong_policy)),
		 0);
	CHECK_EQ(wrong.divided, 1);
	CHECK_EQ(sley_router_client_lanes(router), 1);
	CHECK_EQ(sley_router_network_worker(router), SLEY_NO_WORKER);
	CHECK_EQ(sley_router_gpu_worker(router), SLEY_NO_WORKER);
	CHECK_EQ(sley_router_destroy(router), 0);
	CHECK_EQ(wrong.destroyed, 1);
	stop(rt);
}

TEST(c04_an_answer_that_is_no_worker_is_refused_and_counted)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct sley_router *router = NULL;
	struct sley_pool *pool;

	wrong = (struct wrong){ .answer = 99 };
	CHECK_EQ(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.own_policy =
								&wrong_policy)),
		 0);
	CHECK_EQ(sley_router_add(router, &probe_module), 0);
	pool = probe_pool(router, "p", 1);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_local()), 0);
	CHECK_EQ(router_stats(router).refused, 10);
	/* A lane that is not there, although it is a worker. */
	wrong.answer = 1;
	CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_local()), 0);
	CHECK_EQ(router_stats(router).refused, 11);
	wrong.answer = SLEY_NO_WORKER;
	CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_local()), 0);
	CHECK_EQ(router_stats(router).refused, 11);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
}
