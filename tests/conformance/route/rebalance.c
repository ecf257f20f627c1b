/* SPDX-License-Identifier: MIT */
/*
 * rebalance.c - policies that look after the workers: C02, C07, R-C11, and the policies
 * "steal" and "prio".
 */
#include "conformance/route/routing.h"

#include <sched.h>

static const int counts[] = { ROUTING_COUNTS };

/* ---- the beginning of a policy -------------------------------------------------------- */

static struct lifecycle {
	int created, divided;
	uint32_t nr_lanes;
} lifecycle;

static int begin(void **self, struct sley_router *router)
{
	(void)router;
	*self = &lifecycle;
	lifecycle.created++;
	return 0;
}

/* Workers, their queues and the configuration are there. */
static int divide(void *self, struct sley_router *router)
{
	struct sley *rt = sley_router_runtime(router);
	struct sley_config config = { .size = sizeof(config) };
	uint32_t nr = sley_router_nr_workers(router);

	CHECK(self == &lifecycle);
	CHECK_EQ(lifecycle.created, 1);
	lifecycle.divided++;
	CHECK_EQ(sley_get_config(rt, &config), 0);
	CHECK_EQ(config.workers, nr);
	for (uint32_t i = 0; i < nr; i++) {
		struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;

		CHECK_EQ(sley_get_worker_stats(rt, (int)i, &stats), 0);
		CHECK_EQ(sley_router_depth(router, i), stats.ready);
		lifecycle.nr_lanes++;
	}
	CHECK_EQ(sley_router_depth(router, nr), 0); /* no worker */
	CHECK_EQ(sley_router_set_network_worker(router, nr - 1), 0);
	return sley_router_set_client_lanes(router, nr);
}

/* All requests go to the lane of the network worker. */
static uint32_t to_network(void *self, const struct sley_route *route)
{
	CHECK(self == &lifecycle);
	CHECK_EQ(lifecycle.divided, 1);
	return sley_router_network_worker(route->router);
}

static const struct sley_policy to_last = {
	SLEY_POLICY_HEAD("to last"), .create = begin,
	.divide_workers = divide,    .client_map = to_network,
	.runtime_map = to_network,
};

TEST(c02_workers_and_lanes_exist_before_they_are_divided_once)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct sley_config config = config_of(counts[i]);
		struct routing r;

		lifecycle = (struct lifecycle){ 0 };
		r = routing_by(&config, &to_last, 0);
		CHECK_EQ(lifecycle.divided, 1);
		CHECK_EQ(lifecycle.nr_lanes, counts[i]);
		/* The last worker sleeps, and is woken for its lane. */
		for (int j = 0; j < 20; j++)
			CHECK_EQ(sent_to(r.pool,
					 SLEY_REQUEST(.method = PROBE_ECHO)),
				 counts[i] - 1);
		CHECK_EQ(lifecycle.divided, 1);
		routing_stop(&r);
	}
}

/* ---- the hook ------------------------------------------------------------------------- */

static struct asked {
	atomic_int nr[64]; /* calls at each worker */
	atomic_int inside;
	atomic_uint linger_ns; /* how long each call takes at least */
} asked;

static void count_calls(void *self, struct sley_router *router, uint32_t worker)
{
	uint64_t end_ns = sley_now() + atomic_load(&asked.linger_ns);

	(void)self;
	atomic_fetch_add(&asked.inside, 1);
	CHECK_LT(worker, sley_router_nr_workers(router));
	CHECK_EQ(worker, sley_worker());
	atomic_fetch_add(&asked.nr[worker], 1);
	while (sley_now() < end_ns)
		;
	atomic_fetch_sub(&asked.inside, 1);
}

static uint32_t stay(void *self, const struct sley_route *route)
{
	(void)self;
	return route->here;
}

static const struct sley_policy asking = {
	SLEY_POLICY_HEAD("asking"),
	.runtime_map = stay,
	.rebalance = count_calls,
};

/* Worker @i gets something to do, and nothing after that. */
static void wake_up(uint32_t i)
{
	struct sley_group group = SLEY_GROUP_INIT;
	atomic_int ran = 0;
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran,
				 SLEY_OPTIONS(.toward = SLEY_ON_WORKER(i))),
		 0);
	sley_join(&group);
	CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
}

TEST_WORKERS(c07_a_worker_without_work_rebalances_before_it_sleeps)
{
	struct routing r = routing_by(test_config(), &asking, 0);

	/* Each worker is woken now and then, and goes to sleep again. */
	for (int i = 0; i < nr_runners(); i++) {
		uint64_t end_ns = in_ms(10000);

		while (!atomic_load(&asked.nr[i])) {
			CHECK_LT(sley_now(), end_ns);
			wake_up((uint32_t)i);
		}
	}
	routing_stop(&r);
}

static atomic_bool enough;

static void never_idle(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough))
		sley_yield();
}

static void send_640(void *arg)
{
	static struct sley_request request[640];
	struct routing *r = arg;
	int before = atomic_load(&asked.nr[0]);

	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_submit(r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_ECHO,
						  .enqueue = true)),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	CHECK_EQ(atomic_load(&asked.nr[0]) - before, 10);
	atomic_store(&enough, true);
}

TEST(c07_a_busy_worker_rebalances_after_every_64th_request)
{
	struct sley_config config = config_of(1);
	struct routing r = routing_by(&config, &asking, 0);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task busy, sender;

	sley_spawn(&group, &busy, never_idle, NULL);
	sley_spawn(&group, &sender, send_640, &r);
	sley_join(&group);
	routing_stop(&r);
}

static void keep_waking(void *arg)
{
	while (!atomic_load((atomic_bool *)arg))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 20), 0);
}

/* Workers go idle all the time, while routers come and go. */
TEST_WORKERS(c07_a_router_ends_while_its_policy_rebalances)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	atomic_bool done = false;

	atomic_store(&asked.linger_ns, 30000);
	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		sley_spawn(&group, &task[i], keep_waking, &done);
	for (int i = 0; i < test_scale(300); i++) {
		struct sley_router *router[3];

		for (size_t j = 0; j < ARRAY_SIZE(router); j++)
			CHECK_EQ(sley_router_create(
					 rt, &router[j],
					 SLEY_ROUTER_OPTIONS(.own_policy =
								     &asking)),
				 0);
		CHECK_EQ(sley_sleep(SLEY_MSEC / 20), 0);
		for (size_t j = 0; j < ARRAY_SIZE(router); j++)
			CHECK_EQ(sley_router_destroy(router[j]), 0);
		/* No worker is in the function of a policy that has ended. */
		CHECK_EQ(atomic_load(&asked.inside), 0);
	}
	atomic_store(&done, true);
	sley_join(&group);
	stop(rt);
}

/* ---- stealing ------------------------------------------------------------------------- */

/* Every request goes to worker `target`; groups are kept there. */
static atomic_uint target;

static uint32_t to_target(void *self, const struct sley_route *route)
{
	(void)self;
	return sley_route_keep_group(route, atomic_load(&target));
}

static const struct sley_policy aiming = {
	SLEY_POLICY_HEAD("aiming"),
	.runtime_map = to_target,
};

/* All workers are held, so what is queued stays. */
static void hold_all(struct routing *r, struct gate *gate,
		     struct sley_request *request)
{
	int nr = (int)sley_router_nr_workers(r->router);
	struct gate *in = gate;

	for (int i = 0; i < nr; i++) {
		atomic_store(&target, (unsigned int)i);
		CHECK_EQ(sley_submit(r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_HOLD,
						  .in = &in,
						  .in_size = sizeof(in))),
			 0);
		CHECK_EVENTUALLY(atomic_load(&gate->held) == i + 1);
	}
}

static void submit_to(struct routing *r, struct sley_request *request,
		      uint32_t worker, uint64_t group)
{
	atomic_store(&target, worker);
	CHECK_EQ(sley_submit(r->pool, request,
			     SLEY_REQUEST(.method = PROBE_COUNT,
					  .group = group)),
		 0);
	CHECK_EQ(request->worker, worker);
}

TEST(rc11_one_call_moves_the_oldest_request_without_a_group)
{
	struct sley_config config = config_of(3);
	struct routing r = routing_by(&config, &aiming, 0);
	struct sley_request holder[3], request[4];
	struct gate gate = { 0 };

	skip_chaos();
	hold_all(&r, &gate, holder);
	CHECK_EQ(sley_router_steal(r.router, 0, 1), 0); /* nothing is there */
	submit_to(&r, &request[0], 0, 7);
	submit_to(&r, &request[1], 0, SLEY_NO_GROUP);
	submit_to(&r, &request[2], 0, 7);
	submit_to(&r, &request[3], 0, SLEY_NO_GROUP);
	CHECK_EQ(sley_router_depth(r.router, 0), 4);
	CHECK_EQ(sley_router_steal(r.router, 0, 1), 1);
	CHECK_EQ(request[1].worker, 1);
	CHECK_EQ(request[3].worker, 0);
	CHECK_EQ(sley_router_depth(r.router, 0), 3);
	CHECK_EQ(sley_router_depth(r.router, 1), 1);
	CHECK_EQ(sley_router_steal(r.router, 0, 2), 1);
	CHECK_EQ(request[3].worker, 2);
	/* The group stays. */
	CHECK_EQ(sley_router_steal(r.router, 0, 1), 0);
	CHECK_EQ(request[0].worker, 0);
	CHECK_EQ(request[2].worker, 0);
	CHECK_EQ(router_stats(r.router).stolen, 2);
	/* Workers that are not there are refused. */
	CHECK_EQ(sley_router_steal(r.router, 0, 0), -EINVAL);
	CHECK_EQ(sley_router_steal(r.router, 3, 0), -EINVAL);
	CHECK_EQ(sley_router_steal(r.router, 0, 3), -EINVAL);
	CHECK_EQ(router_stats(r.router).refused, 3);
	CHECK_EQ(atomic_load(&probe_counts.begun), 0);
	gate_open(&gate);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_request_wait(&holder[i]), 0);
	CHECK_EQ(atomic_load(&probe_counts.begun), 4);
	routing_stop(&r);
}

/* A router takes nothing that is not its own, and loses nothing. */
TEST(rc11_requests_of_others_and_plain_tasks_stay)
{
	struct sley_config config = config_of(2);
	struct routing r = routing_by(&config, &aiming, 0);
	struct sley_router *other = router_with(r.rt, "none");
	struct sley_request holder[2], request;
	struct sley_group group = SLEY_GROUP_INIT;
	struct gate gate = { 0 };
	struct sley_task task;
	atomic_int ran = 0;

	skip_chaos();
	hold_all(&r, &gate, holder);
	submit_to(&r, &request, 0, SLEY_NO_GROUP);
	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran,
				 SLEY_OPTIONS(.toward = SLEY_ON_WORKER(0))),
		 0);
	CHECK_EQ(sley_router_depth(other, 0), 2);
	CHECK_EQ(sley_router_steal(other, 0, 1), 0);
	CHECK_EQ(sley_router_depth(other, 0), 2);
	CHECK_EQ(sley_router_steal(r.router, 0, 1), 1);
	CHECK_EQ(sley_router_steal(r.router, 0, 1), 0);
	CHECK_EQ(sley_router_depth(other, 0), 1);
	gate_open(&gate);
	CHECK_EQ(sley_request_wait(&request), 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&ran), 1);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_request_wait(&holder[i]), 0);
	CHECK_EQ(sley_router_destroy(other), 0);
	routing_stop(&r);
}

/* Counts how often each request has run. */
enum { FLOOD = 4000 };

static struct flood {
	struct routing r;
	struct sley_request request[FLOOD];
	atomic_int ran[FLOOD];
	atomic_bool done;
} flood;

static int run_once(void *self, struct sley_request *request)
{
	size_t nr = (size_t)(request - flood.request);

	(void)self;
	CHECK_LT(nr, FLOOD);
	CHECK_EQ(atomic_fetch_add(&flood.ran[nr], 1), 0);
	return 0;
}

static const struct sley_method once_methods[] = {
	{ .name = "once", .run = run_once },
};

static const struct sley_module once_module = {
	SLEY_MODULE_HEAD("once"),
	.methods = once_methods,
	.nr_methods = 1,
};

static void *thief(void *arg)
{
	uint32_t to = (uint32_t)(uintptr_t)arg;

	while (!atomic_load(&flood.done)) {
		for (uint32_t from = 0; from < 4; from++)
			if (from != to)
				CHECK_GE(sley_router_steal(flood.r.router, from,
							   to),
					 0);
		sched_yield();
	}
	return NULL;
}

/* Half of them in the ring of the submitter, half in the lanes of others. */
static void submit_flood(void *arg)
{
	struct sley_pool *pool = arg;

	for (uint32_t i = 0; i < FLOOD; i++) {
		atomic_store(&target, i % 2 ? i % 4 : (unsigned)sley_worker());
		CHECK_EQ(sley_submit(pool, &flood.request[i],
				     SLEY_REQUEST(.group = i % 5 ? 0 : 9,
						  .enqueue = true)),
			 0);
		if (i % 16 == 0)
			sley_yield();
	}
	for (uint32_t i = 0; i < FLOOD; i++)
		CHECK_EQ(sley_request_wait(&flood.request[i]), 0);
}

TEST(rc11_two_thieves_and_the_owner_run_each_request_once)
{
	struct sley_config config = config_of(4);
	struct sley_pool *pool = NULL;
	pthread_t thieves[2];

	flood.r = routing_by(&config, &aiming, 0);
	CHECK_EQ(sley_router_add(flood.r.router, &once_module), 0);
	CHECK_EQ(sley_pool_open(flood.r.router, &pool, "once",
				SLEY_POOL_OPTIONS(.module = "once")),
		 0);
	for (uintptr_t i = 0; i < 2; i++)
		thieves[i] = test_thread(thief, (void *)(i + 1));
	do {
		memset(flood.ran, 0, sizeof(flood.ran));
		run_task(submit_flood, pool);
		for (int i = 0; i < FLOOD; i++)
			CHECK_EQ(atomic_load(&flood.ran[i]), 1);
	} while (!router_stats(flood.r.router).stolen);
	atomic_store(&flood.done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thieves[i], NULL);
	CHECK_EQ(router_stats(flood.r.router).submitted,
		 router_stats(flood.r.router).completed);
	sley_pool_close(pool);
	routing_stop(&flood.r);
}

/* ---- "steal" -------------------------------------------------------------------------- */

/* On the worker of the first request of a group that is under way. */
static void stay_with_the_group(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request first;

	CHECK_EQ(sley_submit(r->pool, &first,
			     SLEY_REQUEST(.method = PROBE_WAIT, .group = 3,
					  .in = &in, .in_size = sizeof(in))),
		 0);
	for (int i = 0; i < 200; i++) {
		struct place place = { 0 };

		CHECK_EQ(sley_pool_call(r->pool,
					SLEY_REQUEST(.method = PROBE_WHERE,
						     .group = 3, .out = &place,
						     .out_size = sizeof(place),
						     .enqueue = true),
					NULL),
			 0);
		CHECK_EQ(place.worker, first.worker);
	}
	sley_event_set(&event);
	CHECK_EQ(sley_request_wait(&first), 0);
}

TEST(rc11_under_steal_a_group_is_pinned_to_its_worker)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct routing r = routing_of(counts[i], "steal");

		run_task(stay_with_the_group, &r);
		stay_with_the_group(&r); /* from outside */
		routing_stop(&r);
	}
}

/* The worker of a group is held: others run what has no group, and leave the group. */
TEST(rc11_a_pinned_request_waits_for_its_worker)
{
	struct routing r = routing_of(2, "steal");
	struct gate gate = { 0 }, *in = &gate;
	struct sley_request holder, pinned;
	struct place place = { 0 };
	uint32_t worker;

	CHECK_EQ(sley_submit(r.pool, &holder,
			     SLEY_REQUEST(.method = PROBE_HOLD, .group = 5,
					  .in = &in, .in_size = sizeof(in))),
		 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	worker = holder.worker;
	CHECK_EQ(sley_submit(r.pool, &pinned,
			     SLEY_REQUEST(.method = PROBE_WHERE, .group = 5,
					  .out = &place,
					  .out_size = sizeof(place))),
		 0);
	CHECK_EQ(pinned.worker, worker);
	for (int i = 0; i < 50; i++)
		CHECK_EQ(where(r.pool, sley_query_local()).worker, 1 - worker);
	CHECK(!sley_request_is_done(&pinned));
	gate_open(&gate);
	CHECK_EQ(sley_request_wait(&pinned), 0);
	CHECK_EQ(place.worker, worker);
	CHECK_EQ(sley_request_wait(&holder), 0);
	routing_stop(&r);
}

static void flood_one_worker(void *arg)
{
	static struct sley_request request[640];
	struct routing *r = arg;

	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_submit(r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_COUNT,
						  .enqueue = true)),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
}

TEST(c07_steal_completes_everything_with_any_number_of_workers)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct routing r = routing_of(counts[i], "steal");

		atomic_store(&probe_counts.begun, 0);
		for (int j = 0; j < 20; j++)
			run_task(flood_one_worker, &r);
		CHECK_EQ(atomic_load(&probe_counts.begun), 20 * 640);
		for (int j = 0; j < counts[i]; j++)
			CHECK_EQ(sley_router_load(r.router, (uint32_t)j), 0);
		routing_stop(&r);
	}
}

/* ---- "prio" --------------------------------------------------------------------------- */

static uint32_t sent_at(struct routing *r, int32_t priority, uint32_t method)
{
	return sent_to(r->pool,
		       SLEY_REQUEST(.method = method, .priority = priority));
}

static void place_by_priority(void *arg)
{
	struct routing *r = arg;
	uint32_t nr = sley_router_nr_workers(r->router);
	uint32_t half = nr > 1 ? nr / 2 : 1;
	uint32_t urgent[64] = { 0 }, rest[64] = { 0 };

	for (uint32_t i = 0; i < 2 * nr; i++) {
		urgent[sent_at(r, -1, PROBE_ECHO)]++;
		rest[sent_at(r, (int32_t)i % 2, PROBE_ECHO)]++;
		CHECK_EQ(sent_at(r, -1, PROBE_NETWORK), nr - 1);
	}
	for (uint32_t i = 0; i < nr; i++) {
		bool is_rest = nr > 2 ? i >= half && i < nr - 1 : i == nr - 1;

		CHECK_EQ(urgent[i] > 0, i < half);
		CHECK_EQ(rest[i] > 0, is_rest);
	}
}

TEST(c03_prio_divides_any_number_of_workers_by_urgency)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct routing r = routing_of(counts[i], "prio");

		CHECK_EQ(sley_router_network_worker(r.router), counts[i] - 1);
		run_task(place_by_priority, &r);
		place_by_priority(&r);
		routing_stop(&r);
	}
}

/* ---- what a policy learns of a submitter ---------------------------------------------- */

static atomic_int seen_process, seen_thread, seen_priority, seen_group_worker;

static uint32_t look_at(void *self, const struct sley_route *route)
{
	(void)self;
	atomic_store(&seen_process, sley_route_process(route));
	atomic_store(&seen_thread, sley_route_thread(route));
	atomic_store(&seen_priority, sley_route_priority(route));
	atomic_store(&seen_group_worker, (int)sley_route_group_worker(route));
	return sley_route_keep_group(route, 0);
}

static const struct sley_policy looking = {
	SLEY_POLICY_HEAD("looking"),
	.runtime_map = look_at,
};

static void look_from_here(struct routing *r)
{
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request, second;

	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = PROBE_WAIT, .in = &in,
					  .in_size = sizeof(in), .group = 11,
					  .priority = -3)),
		 0);
	CHECK_EQ(atomic_load(&seen_process), getpid());
	CHECK_EQ(atomic_load(&seen_thread), gettid());
	CHECK_EQ(atomic_load(&seen_priority), -3);
	CHECK_EQ(atomic_load(&seen_group_worker), (int)SLEY_NO_WORKER);
	CHECK_EQ(sley_submit(r->pool, &second,
			     SLEY_REQUEST(.method = PROBE_ECHO, .group = 11,
					  .enqueue = true)),
		 0);
	CHECK_EQ(atomic_load(&seen_group_worker), 0);
	sley_event_set(&event);
	CHECK_EQ(sley_request_wait(&second), 0);
	CHECK_EQ(sley_request_wait(&request), 0);
}

static void look_in_a_task(void *arg)
{
	look_from_here(arg);
}

static void *look_in_a_thread(void *arg)
{
	look_from_here(arg);
	return NULL;
}

TEST(c06_a_policy_sees_the_process_and_the_thread_of_the_submitter)
{
	struct sley_config config = config_of(2);
	struct routing r = routing_by(&config, &looking, 0);

	look_from_here(&r);
	run_task(look_in_a_task, &r);
	run_threads(1, look_in_a_thread, &r);
	run_threads(1, look_in_a_thread, &r);
	routing_stop(&r);
}
