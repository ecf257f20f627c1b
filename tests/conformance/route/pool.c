/* SPDX-License-Identifier: MIT */
/*
 * pool.c - pools and containers: C18, C19, C31, C42, C45, R-C5, R-C10, R-C14.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "conformance/route/routing.h"

/* ---- names ---------------------------------------------------------------------------- */

TEST_WORKERS(c42_the_same_name_is_the_same_pool)
{
	struct routing r = routing_start(3, "default");
	struct sley_pool *again = NULL, *other = NULL;

	atomic_store(&probe_counts.created, 0);
	CHECK_EQ(sley_pool_open(r.router, &again, "p", NULL), 0);
	CHECK(again == r.pool);
	CHECK_EQ(sley_pool_open(r.router, &other, "p",
				SLEY_POOL_OPTIONS(.module = "probe",
						  .containers = 3)),
		 0);
	CHECK(other == r.pool);
	CHECK_EQ(atomic_load(&probe_counts.created), 0);
	CHECK_STR(sley_pool_name(again), "p");
	CHECK_EQ(sley_pool_nr_containers(again), 3);
	sley_pool_close(again);
	sley_pool_close(other);
	routing_stop(&r);
}

TEST_WORKERS(c42_what_does_not_fit_is_an_error_with_its_reason)
{
	struct routing r = routing_start(3, "default");
	char name[SLEY_POOL_NAME_MAX + 2];
	struct sley_pool *pool = NULL;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	CHECK_EQ(sley_pool_open(r.router, &pool, "q", NULL), -ENOENT);
	CHECK_EQ(sley_pool_open(r.router, &pool, "q",
				SLEY_POOL_OPTIONS(.module = "unknown")),
		 -ENOENT);
	CHECK_EQ(sley_pool_open(r.router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "unknown")),
		 -EEXIST);
	CHECK_EQ(sley_pool_open(r.router, &pool, "p",
				SLEY_POOL_OPTIONS(.containers = 2)),
		 -EEXIST);
	CHECK_EQ(sley_pool_open(r.router, &pool, "", NULL), -EINVAL);
	CHECK_EQ(sley_pool_open(r.router, &pool, name, NULL), -ENAMETOOLONG);
	CHECK_EQ(sley_pool_open(
			 r.router, &pool, "q",
			 SLEY_POOL_OPTIONS(.module = "probe",
					   .containers =
						   SLEY_CONTAINERS_MAX + 1)),
		 -E2BIG);
	CHECK_EQ(sley_pool_open(r.router, &pool, "q",
				SLEY_POOL_OPTIONS(.module = "probe",
						  .limit_ns = 1)),
		 -EINVAL);
	CHECK_EQ(sley_pool_open(r.router, &pool, "q",
				SLEY_POOL_OPTIONS(.module = "probe",
						  .max_restarts = 1)),
		 -EINVAL);
	CHECK(pool == NULL);
	CHECK_EQ(sley_router_add(r.router, &probe_module), -EEXIST);
	routing_stop(&r);
}

TEST(c43_a_module_whose_table_is_wrong_is_refused)
{
	struct sley *rt = start();
	struct sley_router *router = router_with(rt, NULL);
	struct sley_method nameless = { .run = probe_module.methods[0].run };
	struct sley_module module = probe_module;

	module.name = "other";
	module.abi++;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.abi--;
	module.size--;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.size++;
	module.name = "";
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.name = "other";
	module.nr_methods = 0;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.nr_methods = 1;
	module.methods = &nameless;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.methods = probe_module.methods;
	module.reserved[2] = 1;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	CHECK_EQ(sley_router_add(router, NULL), -EINVAL);
	module.reserved[2] = 0;
	module.methods = &nameless;
	nameless.name = "a name of more than 63 bytes, which is the most that "
			"a name may have";
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.methods = probe_module.methods;
	module.name = nameless.name;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.name = "other";
	module.flags = 2;
	CHECK_EQ(sley_router_add(router, &module), -EINVAL);
	module.flags = SLEY_MODULE_STATELESS;
	CHECK_EQ(sley_router_add(router, &module), 0);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
}

TEST_WORKERS(c42_a_container_that_fails_to_start_undoes_the_pool)
{
	struct sley *rt = start();
	struct sley_router *router = router_with(rt, NULL);
	struct sley_pool *pool = NULL;

	memset(&probe_counts, 0, sizeof(probe_counts));
	atomic_store(&probe_counts.create_fails_at, 3);
	CHECK_EQ(sley_pool_open(router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "probe",
						  .containers = 5)),
		 -EIO);
	CHECK_EQ(atomic_load(&probe_counts.created), 2);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 2);
	/* The name is free. */
	atomic_store(&probe_counts.create_fails_at, 0);
	pool = probe_pool(router, "p", 2);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
	CHECK_EQ(atomic_load(&probe_counts.created),
		 atomic_load(&probe_counts.destroyed));
}

struct opener {
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley_task task;
	int err;
};

static void open_pool(void *arg)
{
	struct opener *opener = arg;

	opener->err = sley_pool_open(opener->router, &opener->pool, "shared",
				     SLEY_POOL_OPTIONS(.module = "probe",
						       .containers = 4));
}

static void open_together(void *arg)
{
	struct opener opener[16];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i < 16; i++) {
		opener[i] = (struct opener){ .router = arg };
		sley_spawn(&group, &opener[i].task, open_pool, &opener[i]);
	}
	sley_join(&group);
	for (int i = 0; i < 16; i++) {
		CHECK_EQ(opener[i].err, 0);
		CHECK(opener[i].pool == opener[0].pool);
		sley_pool_close(opener[i].pool);
	}
}

TEST_WORKERS(rc10_openers_that_come_together_get_one_pool)
{
	struct sley *rt = start();
	struct sley_router *router = router_with(rt, NULL);

	memset(&probe_counts, 0, sizeof(probe_counts));
	run_task(open_together, router);
	CHECK_EQ(atomic_load(&probe_counts.created), 4);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
}

/* ---- the end of a pool ------------------------------------------------------------------- */

TEST_WORKERS(c42_a_destroyed_pool_frees_its_name_and_answers_enoent)
{
	struct routing r = routing_start(2, "default");
	struct sley_pool *next;

	CHECK_EQ(sley_pool_destroy(r.pool), 0);
	CHECK_EQ(sley_pool_destroy(r.pool), -EALREADY);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_local()), -ENOENT);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_broadcast()), -ENOENT);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_dynamic()), -ENOENT);
	CHECK_EQ(sley_container_drain_until(r.pool, 0, SLEY_FOREVER), -ENOENT);
	CHECK_EQ(sley_container_open(r.pool, 0), -ENOENT);
	next = probe_pool(r.router, "p", 5);
	CHECK(next != r.pool);
	CHECK_EQ(code_of(next, PROBE_ECHO, sley_query_local()), 0);
	CHECK_EQ(sley_router_destroy(r.router), -EBUSY);
	sley_pool_close(next);
	CHECK_EQ(sley_router_destroy(r.router), -EBUSY);
	routing_stop(&r);
}

TEST_WORKERS(a_permanent_pool_ends_with_its_router_and_not_before)
{
	struct routing r = routing_start(2, "default");
	struct sley_pool *pool = NULL;

	memset(&probe_counts, 0, sizeof(probe_counts));
	CHECK_EQ(sley_pool_open(r.router, &pool, "lasting",
				SLEY_POOL_OPTIONS(.module = "probe",
						  .permanent = true)),
		 0);
	CHECK_EQ(sley_pool_destroy(pool), -EPERM);
	CHECK_EQ(sley_container_drain_until(pool, 0, SLEY_FOREVER), -EPERM);
	CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_local()), 0);
	CHECK_EQ(sley_pool_flush_until(pool, SLEY_FOREVER), 0);
	sley_pool_close(pool);
	/* As with the other options: it is permanent, or the opener is told. */
	CHECK_EQ(sley_pool_open(r.router, &pool, "p",
				SLEY_POOL_OPTIONS(.permanent = true)),
		 -EEXIST);
	CHECK_EQ(sley_pool_open(r.router, &pool, "lasting",
				SLEY_POOL_OPTIONS(.permanent = true)),
		 0);
	sley_pool_close(pool);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 0);
	routing_stop(&r);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 3);
}

static void destroy_busy(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request[4];

	memset(&probe_counts, 0, sizeof(probe_counts));
	for (uint32_t i = 0; i < 4; i++)
		submit_waiter(r->pool, &request[i], &in, i % 2);
	while (atomic_load(&probe_counts.running) < 4)
		sley_yield();
	CHECK_EQ(sley_pool_flush_until(r->pool, in_ms(3)), -ETIMEDOUT);
	sley_event_set(&event);
	CHECK_EQ(sley_pool_destroy(r->pool), 0);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 2);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
}

TEST_WORKERS(rc14_a_pool_that_is_destroyed_while_busy_completes_its_requests)
{
	struct routing r = routing_start(2, "default");

	run_task(destroy_busy, &r);
	routing_stop(&r);
}

struct slow_end {
	struct routing *r;
	struct sley_task task;
	atomic_bool over;
};

static void destroy_slowly(void *arg)
{
	struct slow_end *end = arg;

	CHECK_EQ(sley_pool_destroy(end->r->pool), 0);
	atomic_store(&end->over, true);
}

/* Container 0 is empty at once, container 1 is not. */
static void destroy_half_busy(void *arg)
{
	struct slow_end end = { .r = arg };
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_request request;

	memset(&probe_counts, 0, sizeof(probe_counts));
	submit_waiter(end.r->pool, &request, &in, 1);
	while (!atomic_load(&probe_counts.running))
		sley_yield();
	sley_spawn(&group, &end.task, destroy_slowly, &end);
	while (code_of(end.r->pool, PROBE_ECHO, sley_query_id(0)) != -ENOENT)
		sley_yield();
	CHECK_EQ(sley_sleep_until(in_ms(2)), 0);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 0);
	CHECK(!atomic_load(&end.over));
	sley_event_set(&event);
	sley_join(&group);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 2);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
}

TEST_WORKERS(rc14_no_container_is_destroyed_before_all_requests_are_complete)
{
	struct routing r = routing_start(2, "default");

	run_task(destroy_half_busy, &r);
	routing_stop(&r);
}

enum { NR_RACED = 40 };

/* A method destroys the pools of a router that ends, from when its first pool is gone. */
static struct race {
	struct sley_router *router;
	struct sley_event first_is_gone, method_runs;
	atomic_int destroyed;
} race;

/* The router goes on when the method does. */
static void note_end(void *self)
{
	(void)self;
	atomic_fetch_add(&race.destroyed, 1);
	sley_event_set(&race.first_is_gone);
	CHECK_EQ(sley_event_wait(&race.method_runs), 0);
}

static int destroy_others(void *self, struct sley_request *request)
{
	char name[16];

	(void)self;
	(void)request;
	CHECK_EQ(sley_event_wait(&race.first_is_gone), 0);
	sley_event_set(&race.method_runs);
	for (int i = 1; i < NR_RACED; i++) {
		struct sley_pool *pool;
		int err;

		snprintf(name, sizeof(name), "%d", i);
		if (sley_pool_open(race.router, &pool, name, NULL))
			continue;
		err = sley_pool_destroy(pool);
		CHECK(err == 0 || err == -EALREADY);
		sley_pool_close(pool);
	}
	return 0;
}

static const struct sley_method race_method = { .name = "race",
						.run = destroy_others };
static const struct sley_module race_module = { SLEY_MODULE_HEAD("race"),
						.methods = &race_method,
						.nr_methods = 1,
						.destroy = note_end };

static void end_raced_router(struct sley *rt)
{
	struct sley_pool *pool = NULL;
	char name[16];

	memset(&race, 0, sizeof(race));
	race.router = router_with(rt, NULL);
	CHECK_EQ(sley_router_add(race.router, &race_module), 0);
	for (int i = 0; i <= NR_RACED; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CHECK_EQ(sley_pool_open(race.router, &pool, name,
					SLEY_POOL_OPTIONS(.module = "race")),
			 0);
		if (i == NR_RACED)
			CHECK_EQ(sley_submit_and_forget(pool, NULL), 0);
		sley_pool_close(pool);
	}
	CHECK_EQ(sley_router_destroy(race.router), 0);
	CHECK_EQ(atomic_load(&race.destroyed), NR_RACED + 1);
}

TEST_WORKERS(rc10_a_router_ends_while_a_method_destroys_its_pools)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(100); i++)
		end_raced_router(rt);
	stop(rt);
}

/* ---- several containers --------------------------------------------------------------------- */

static uint64_t ids(struct sley_pool *pool, struct sley_query query)
{
	uint64_t result = 0;
	size_t size = 0;

	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.method = PROBE_ID, .query = query,
					     .out = &result,
					     .out_size = sizeof(result)),
				&size),
		 0);
	CHECK_EQ(size, sizeof(result));
	return result;
}

TEST_WORKERS(c19_a_broadcast_combines_the_answers_in_the_order_of_containers)
{
	struct routing r = routing_start(6, "default");

	for (int i = 0; i < 20; i++)
		CHECK_EQ(ids(r.pool, sley_query_broadcast()), 12345);
	CHECK_EQ(ids(r.pool, sley_query_range(2, 3)), 234);
	CHECK_EQ(ids(r.pool, sley_query_range(5, 1)), 5);
	CHECK_EQ(ids(r.pool, sley_query_range(0, 6)), 12345);
	/* Without combine(): the answer of the first container. */
	CHECK_EQ(where(r.pool, sley_query_range(3, 3)).container, 3);
	routing_stop(&r);
}

TEST_WORKERS(c18_a_range_runs_once_in_each_of_its_containers)
{
	struct routing r = routing_start(5, "default");

	for (uint64_t first = 0; first < 5; first++)
		for (uint64_t nr = 1; nr <= 5 - first; nr++) {
			uint64_t expected = 0;

			for (uint64_t id = first; id < first + nr; id++)
				expected = 10 * expected + id;
			CHECK_EQ(ids(r.pool, sley_query_range(first, nr)),
				 expected);
		}
	routing_stop(&r);
}

TEST_WORKERS(c19_the_code_of_a_broadcast_is_the_first_that_is_not_0)
{
	struct routing r = routing_start(4, "default");
	int code = -EPROTO;

	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_FAIL,
					     .query = sley_query_broadcast(),
					     .in = &code,
					     .in_size = sizeof(code)),
				NULL),
		 -EPROTO);
	/* The parts of container 1 do not run; those of the others succeed. */
	CHECK_EQ(sley_container_drain_until(r.pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO,
			 sley_query_within(sley_query_broadcast(), 0)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_container_open(r.pool, 1), 0);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_broadcast()), 0);
	routing_stop(&r);
}

static void cancel_broadcasts(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;

	for (int i = 0; i < 50; i++) {
		struct sley_request request;

		CHECK_EQ(sley_submit(
				 r->pool, &request,
				 SLEY_REQUEST(.method = PROBE_WAIT,
					      .query = sley_query_broadcast(),
					      .in = &in,
					      .in_size = sizeof(in))),
			 0);
		for (int j = 0; j < i % 5; j++)
			sley_yield();
		sley_request_cancel(&request);
		sley_request_cancel(&request);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), -ECANCELED);
		sley_request_cancel(&request);
	}
	CHECK_EQ(atomic_load(&probe_counts.running), 0);
}

TEST_WORKERS(rc5_a_cancelled_broadcast_completes_once_after_all_its_parts)
{
	struct routing r = routing_start(5, "default");

	run_task(cancel_broadcasts, &r);
	routing_stop(&r);
}

/* ---- containers ------------------------------------------------------------------------------ */

static void drain_and_open(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request running, late;

	memset(&probe_counts, 0, sizeof(probe_counts));
	submit_waiter(r->pool, &running, &in, 1);
	while (!atomic_load(&probe_counts.running))
		sley_yield();
	CHECK_EQ(sley_container_drain_until(r->pool, 1, in_ms(3)), -ETIMEDOUT);
	/* It takes requests again. */
	CHECK_EQ(code_of(r->pool, PROBE_ECHO, sley_query_id(1)), 0);
	sley_event_set(&event);
	CHECK_EQ(sley_container_drain_until(r->pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_request_wait(&running), 0);
	CHECK_EQ(sley_container_drain_until(r->pool, 1, SLEY_FOREVER),
		 -EALREADY);
	/* Others go on; requests for this one wait, as long as they may. */
	CHECK_EQ(code_of(r->pool, PROBE_ECHO, sley_query_id(0)), 0);
	CHECK_EQ(code_of(r->pool, PROBE_ECHO,
			 sley_query_within(sley_query_id(1), 0)),
		 -ETIMEDOUT);
	CHECK_EQ(code_of(r->pool, PROBE_ECHO,
			 sley_query_within(sley_query_id(1), 3)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_submit(r->pool, &late,
			     SLEY_REQUEST(.method = PROBE_ECHO,
					  .query = sley_query_id(1))),
		 0);
	CHECK_EQ(sley_request_wait_until(&late, in_ms(3)), -ETIMEDOUT);
	CHECK_EQ(sley_container_open(r->pool, 1), 0);
	CHECK_EQ(sley_request_wait(&late), 0);
	CHECK_EQ(sley_request_code(&late), 0);
	CHECK_EQ(sley_container_open(r->pool, 1), -EINVAL);
	CHECK_EQ(sley_container_open(r->pool, 2), -ENXIO);
	CHECK_EQ(sley_container_drain_until(r->pool, 2, 0), -ENXIO);
}

TEST_WORKERS(c31_requests_for_a_drained_container_wait_until_it_opens)
{
	struct routing r = routing_start(2, "default");

	run_task(drain_and_open, &r);
	routing_stop(&r);
}

static void wait_for_gone(void *arg)
{
	struct routing *r = arg;
	struct sley_request waits, cancelled;

	CHECK_EQ(sley_container_drain_until(r->pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_submit(r->pool, &waits,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	CHECK_EQ(sley_submit(r->pool, &cancelled,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	CHECK_EQ(sley_submit_and_forget(r->pool,
					SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	sley_yield();
	sley_request_cancel(&cancelled);
	CHECK_EQ(sley_request_wait(&cancelled), 0);
	CHECK_EQ(sley_request_code(&cancelled), -ECANCELED);
	CHECK(!sley_request_is_done(&waits));
	CHECK_EQ(sley_pool_destroy(r->pool), 0);
	CHECK_EQ(sley_request_wait(&waits), 0);
	CHECK_EQ(sley_request_code(&waits), -ENOENT);
}

TEST_WORKERS(c31_a_container_that_is_gone_for_good_ends_the_wait)
{
	struct routing r = routing_start(1, "default");

	run_task(wait_for_gone, &r);
	routing_stop(&r);
}

static void flush_drained(void *arg)
{
	struct routing *r = arg;
	struct sley_request waits;
	struct place place = { UINT32_MAX, -1 };

	CHECK_EQ(sley_container_drain_until(r->pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_pool_flush_until(r->pool, SLEY_FOREVER), 0);
	CHECK_EQ(sley_submit(r->pool, &waits,
			     SLEY_REQUEST(.method = PROBE_WHERE,
					  .query = sley_query_id(1),
					  .out = &place,
					  .out_size = sizeof(place))),
		 0);
	CHECK_EQ(sley_pool_flush_until(r->pool, in_ms(3)), -ETIMEDOUT);
	CHECK_EQ(sley_container_open(r->pool, 1), 0);
	CHECK_EQ(sley_pool_flush_until(r->pool, SLEY_FOREVER), 0);
	CHECK_EQ(place.container, 1);
	CHECK_EQ(sley_request_wait(&waits), 0);
}

TEST_WORKERS(a_flush_waits_for_requests_that_wait_for_a_drained_container)
{
	struct routing r = routing_start(2, "default");

	run_task(flush_drained, &r);
	routing_stop(&r);
}

static void cancel_part_that_waits(void *arg)
{
	struct routing *r = arg;
	struct sley_request request;
	uint64_t out = 0;

	CHECK_EQ(sley_container_drain_until(r->pool, 2, SLEY_FOREVER), 0);
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(sley_submit(
				 r->pool, &request,
				 SLEY_REQUEST(.method = PROBE_ID,
					      .query = sley_query_broadcast(),
					      .out = &out,
					      .out_size = sizeof(out))),
			 0);
		for (int j = 0; j < i % 5; j++)
			sley_yield();
		sley_request_cancel(&request);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), -ECANCELED);
	}
	CHECK_EQ(sley_container_open(r->pool, 2), 0);
	CHECK_EQ(ids(r->pool, sley_query_broadcast()), 123);
}

TEST_WORKERS(a_cancel_reaches_the_part_that_waits_for_a_drained_container)
{
	struct routing r = routing_start(4, "default");

	run_task(cancel_part_that_waits, &r);
	routing_stop(&r);
}

TEST_WORKERS(a_router_waits_for_forgotten_requests_with_all_their_parts)
{
	struct sley *rt = start();
	int nr = test_scale(200);

	memset(&probe_counts, 0, sizeof(probe_counts));
	for (int i = 0; i < nr; i++) {
		struct sley_router *router = router_with(rt, "default");
		struct sley_pool *pool = probe_pool(router, "p", 3);

		CHECK_EQ(sley_submit_and_forget(
				 pool,
				 SLEY_REQUEST(.method = PROBE_COUNT,
					      .query = sley_query_broadcast())),
			 0);
		sley_pool_close(pool);
		CHECK_EQ(sley_router_destroy(router), 0);
		CHECK_EQ(atomic_load(&probe_counts.begun), 3 * (i + 1));
	}
	stop(rt);
}

/* ---- upgrades --------------------------------------------------------------------------------- */

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self;
	CHECK_EQ(from, 1);
	CHECK_STR(info->pool, "p");
	return info->id == 1 ? -EIO : 0;
}

static int newer_echo(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, "new", 3);
}

TEST_WORKERS(a_drained_container_is_upgraded_in_place)
{
	struct routing r = routing_start(2, "default");
	struct sley_method methods[NR_PROBES];
	struct sley_module newer = probe_module;
	char out[4] = "";

	memcpy(methods, probe_module.methods, sizeof(methods));
	methods[PROBE_ECHO].run = newer_echo;
	newer.methods = methods;
	newer.upgrade = upgrade;
	CHECK_EQ(sley_container_drain_until(r.pool, 0, SLEY_FOREVER), 0);
	/* Not newer. */
	CHECK_EQ(sley_container_upgrade(r.pool, 0, &newer), -EINVAL);
	newer.version = 2;
	CHECK_EQ(sley_container_upgrade(r.pool, 0, &newer), 0);
	CHECK_EQ(sley_container_open(r.pool, 0), 0);
	/* Not drained; then refused by upgrade() itself. */
	CHECK_EQ(sley_container_upgrade(r.pool, 1, &newer), -EINVAL);
	CHECK_EQ(sley_container_drain_until(r.pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade(r.pool, 1, &newer), -EIO);
	CHECK_EQ(sley_container_open(r.pool, 1), 0);
	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_ECHO,
					     .query = sley_query_id(0),
					     .out = out, .out_size = 3),
				NULL),
		 0);
	CHECK_STR(out, "new");
	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_ECHO,
					     .query = sley_query_id(1),
					     .in = "old", .in_size = 3,
					     .out = out, .out_size = 3),
				NULL),
		 0);
	CHECK_STR(out, "old");
	routing_stop(&r);
}

TEST(an_upgrade_keeps_every_method_that_there_was)
{
	struct routing r = routing_start(1, "default");
	struct sley_method methods[NR_PROBES];
	struct sley_module newer = probe_module;

	memcpy(methods, probe_module.methods, sizeof(methods));
	newer.methods = methods;
	newer.upgrade = upgrade;
	newer.version = 2;
	methods[PROBE_ECHO].run = NULL;
	CHECK_EQ(sley_container_drain_until(r.pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade(r.pool, 0, &newer), -EINVAL);
	CHECK_EQ(sley_container_open(r.pool, 0), 0);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_local()), 0);
	routing_stop(&r);
}

/* ---- in a child of fork() ---------------------------------------------------------------------- */

/* A keeper of the parent holds the lock of the pool, for ever. */
static struct sley_pool *forked_pool;
static struct sley_router *forked_router;

static int fork_in_upgrade(void **self, uint32_t from,
			   const struct sley_container_info *info)
{
	struct sley_method_cost cost = { .size = sizeof(cost) };
	struct sley_pool *pool = forked_pool;
	struct sley_request request;
	int status;
	pid_t pid = fork();

	(void)self;
	(void)from;
	(void)info;
	CHECK_GE(pid, 0);
	if (pid == 0) {
		alarm(20);
		CHECK_EQ(sley_submit(pool, &request, NULL), SLEY_EFORKED);
		CHECK_EQ(sley_submit_and_forget(pool, NULL), SLEY_EFORKED);
		CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_broadcast()),
			 SLEY_EFORKED);
		CHECK_EQ(sley_container_drain_until(pool, 1, SLEY_FOREVER),
			 SLEY_EFORKED);
		CHECK_EQ(sley_container_open(pool, 0), SLEY_EFORKED);
		CHECK_EQ(sley_container_upgrade(pool, 0, &probe_module),
			 SLEY_EFORKED);
		CHECK_EQ(sley_pool_flush_until(pool, SLEY_FOREVER),
			 SLEY_EFORKED);
		CHECK_EQ(sley_pool_destroy(pool), SLEY_EFORKED);
		CHECK_EQ(sley_container_get_cost(pool, 0, 0, 0, &cost),
			 SLEY_EFORKED);
		CHECK_EQ(sley_router_steal(forked_router, 0, 1), SLEY_EFORKED);
		sley_pool_close(pool);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	return 0;
}

TEST(a_child_of_fork_is_told_that_its_pools_are_lost)
{
	struct sley_module newer = probe_module;
	struct routing r;

	if (test_sanitizer() || test_emulated())
		test_skip("fork() with threads");
	r = routing_start(2, "default");
	forked_pool = r.pool;
	forked_router = r.router;
	newer.version = 2;
	newer.upgrade = fork_in_upgrade;
	CHECK_EQ(sley_container_drain_until(r.pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade(r.pool, 0, &newer), 0);
	routing_stop(&r);
}
