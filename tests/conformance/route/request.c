/* SPDX-License-Identifier: MIT */
/*
 * request.c - a request completes exactly once, with a code: C11 to C13, C15, C17,
 * C21, C24 to C26.
 */
#include "conformance/route/routing.h"

/* ---- codes -------------------------------------------------------------------------- */

TEST_WORKERS(c21_in_and_out_parts_are_told_apart)
{
	struct routing r = routing_start(1, "none");
	char out[8] = "xxxxxxx";
	size_t size = 99;

	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_ECHO, .in = "abc",
					     .in_size = 3, .out = out,
					     .out_size = sizeof(out)),
				&size),
		 0);
	CHECK_EQ(size, 3);
	CHECK_EQ(memcmp(out, "abcxxxx", 8), 0);
	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_ECHO, .in = "def",
					     .in_size = 3, .out = out,
					     .out_size = 2),
				&size),
		 -EMSGSIZE);
	CHECK_EQ(size, 0);
	CHECK_EQ(memcmp(out, "abcxxxx", 8), 0);
	routing_stop(&r);
}

TEST_WORKERS(c15_a_query_that_leads_nowhere_is_a_code_and_no_hang)
{
	struct routing r = routing_start(4, "default");

	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_range(0, 0)), -EINVAL);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_range(4, 1)), -ENXIO);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_range(3, 2)), -ENXIO);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_range(1, UINT64_MAX)),
		 -ENXIO);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_id(4)), -ENXIO);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_id(1ull << 32)),
		 -ENXIO);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE, sley_query_physical(1)),
		 -EHOSTUNREACH);
	CHECK_EQ(code_of(r.pool, PROBE_NOTHING, sley_query_local()), -ENOSYS);
	CHECK_EQ(code_of(r.pool, NR_PROBES, sley_query_local()), -ENOSYS);
	CHECK_EQ(code_of(r.pool, UINT32_MAX, sley_query_local()), -ENOSYS);
	CHECK_EQ(code_of(r.pool, PROBE_WHERE,
			 (struct sley_query){ .kind = 77 }),
		 -EINVAL);
	CHECK_EQ(router_stats(r.router).submitted, 11);
	CHECK_EQ(router_stats(r.router).completed, 11);
	routing_stop(&r);
}

TEST_WORKERS(c21_the_code_of_the_method_is_the_code_of_the_request)
{
	struct routing r = routing_start(1, "none");
	static const int codes[] = { 0, -EIO, -1, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct sley_request request;

		CHECK_EQ(sley_submit(r.pool, &request,
				     SLEY_REQUEST(.method = PROBE_FAIL,
						  .in = &codes[i],
						  .in_size = sizeof(int))),
			 0);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), codes[i]);
		CHECK_EQ(sley_future_get(sley_request_future(&request), NULL),
			 codes[i] < 0 ? codes[i] : 0);
	}
	routing_stop(&r);
}

TEST_WORKERS(a_spec_that_is_none_is_refused_and_not_accepted)
{
	struct routing r = routing_start(1, "none");
	struct sley_request_spec spec = { .size = 0 };
	struct sley_request request;

	CHECK_EQ(sley_submit(r.pool, &request, &spec), -EINVAL);
	spec = *SLEY_REQUEST(.priority = SLEY_PRIORITY_MAX + 1);
	CHECK_EQ(sley_submit(r.pool, &request, &spec), SLEY_EPRIORITY);
	spec = *SLEY_REQUEST(.reserved = { 1 });
	CHECK_EQ(sley_submit(r.pool, &request, &spec), -E2BIG);
	CHECK_EQ(sley_submit_and_forget(r.pool, SLEY_REQUEST(.out = &spec,
							     .out_size = 1)),
		 -EINVAL);
	CHECK_EQ(router_stats(r.router).submitted, 0);
	routing_stop(&r);
}

/* ---- which container ------------------------------------------------------------------ */

TEST_WORKERS(c17_a_hash_is_a_container_modulo_their_number)
{
	struct routing r = routing_start(3, "default");

	for (uint64_t hash = 0; hash < 9; hash++)
		CHECK_EQ(where(r.pool, sley_query_hash(hash)).container,
			 hash % 3);
	CHECK_EQ(where(r.pool, sley_query_hash(UINT64_MAX)).container,
		 UINT64_MAX % 3);
	CHECK_EQ(where(r.pool, sley_query_id(2)).container, 2);
	CHECK_EQ(where(r.pool, sley_query_local()).container, 0);
	CHECK_EQ(where(r.pool, sley_query_physical(0)).container, 0);
	CHECK_EQ(where(r.pool, sley_query_range(1, 1)).container, 1);
	routing_stop(&r);
}

TEST_WORKERS(c11_only_a_dynamic_query_asks_the_module)
{
	struct routing r = routing_start(4, "default");

	atomic_store(&probe_counts.scheduled, 0);
	probe_answer = sley_query_id(3);
	CHECK_EQ(where(r.pool, sley_query_dynamic()).container, 3);
	CHECK_EQ(atomic_load(&probe_counts.scheduled), 1);
	(void)where(r.pool, sley_query_local());
	(void)where(r.pool, sley_query_id(1));
	(void)where(r.pool, sley_query_hash(1));
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_range(0, 2)), 0);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_broadcast()), 0);
	CHECK_EQ(atomic_load(&probe_counts.scheduled), 1);
	/* A module that answers "dynamic" again is asked once. */
	probe_answer = sley_query_dynamic();
	CHECK_EQ(where(r.pool, sley_query_dynamic()).container, 0);
	CHECK_EQ(atomic_load(&probe_counts.scheduled), 2);
	/* An answer that leads nowhere is the code. */
	probe_answer = sley_query_id(4);
	CHECK_EQ(code_of(r.pool, PROBE_ECHO, sley_query_dynamic()), -ENXIO);
	routing_stop(&r);
}

/* ---- on which stack --------------------------------------------------------------------- */

static void call_in_task(void *arg)
{
	struct routing *r = arg;
	struct sley_request request;
	struct place place;

	/* Stays here: the policy "none" never moves a request. */
	CHECK_EQ(where(r->pool, sley_query_local()).worker, sley_worker());
	CHECK_EQ(router_stats(r->router).inlined, 1);
	CHECK_EQ(sley_pool_call(r->pool,
				SLEY_REQUEST(.method = PROBE_ECHO,
					     .enqueue = true),
				NULL),
		 0);
	CHECK_EQ(router_stats(r->router).inlined, 1);
	/* A submit runs a short method here, and others in a task. */
	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = PROBE_SHORT, .out = &place,
					  .out_size = sizeof(place))),
		 0);
	CHECK(sley_request_is_done(&request));
	CHECK_EQ(router_stats(r->router).inlined, 2);
	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(router_stats(r->router).inlined, 2);
	/* Another priority needs a task of its own. */
	CHECK_EQ(sley_pool_call(r->pool,
				SLEY_REQUEST(.method = PROBE_SHORT,
					     .priority = -1, .out = &place,
					     .out_size = sizeof(place)),
				NULL),
		 0);
	CHECK_EQ(router_stats(r->router).inlined, 2);
}

TEST_WORKERS(c12_a_request_for_this_worker_runs_here_unless_forced)
{
	struct routing r = routing_start(1, "none");

	run_task(call_in_task, &r);
	routing_stop(&r);
}

static void *call_from_outside(void *arg)
{
	struct routing *r = arg;
	struct sley_request request;
	struct place place;

	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = PROBE_SHORT, .out = &place,
					  .out_size = sizeof(place))),
		 0);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
	CHECK_GE(place.worker, 0);
	CHECK_EQ(where(r->pool, sley_query_local()).container, 0);
	return NULL;
}

TEST_WORKERS(c13_a_thread_from_outside_never_runs_a_method)
{
	struct routing r;
	pthread_t thread;

	if (is_single())
		test_skip("needs workers");
	r = routing_start(1, "default");
	CHECK_EQ(pthread_create(&thread, NULL, call_from_outside, &r), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(router_stats(r.router).inlined, 0);
	routing_stop(&r);
}

static void *submit_unbound(void *arg)
{
	struct routing *r = arg;
	struct sley_request request;

	CHECK_EQ(sley_submit(r->pool, &request, NULL), SLEY_ENOWORKER);
	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.query = sley_query_broadcast())),
		 SLEY_ENOWORKER);
	CHECK_EQ(sley_submit_and_forget(
			 r->pool,
			 SLEY_REQUEST(.query = sley_query_broadcast())),
		 SLEY_ENOWORKER);
	CHECK_EQ(code_of(r->pool, PROBE_ECHO, sley_query_range(0, 2)),
		 SLEY_ENOWORKER);
	return NULL;
}

/* What was entered on the way is left: the pool ends without a wait. */
TEST(a_request_that_is_not_accepted_leaves_nothing_behind)
{
	struct routing r = { .rt = start_single() };
	pthread_t thread;

	r.router = router_with(r.rt, "default");
	r.pool = probe_pool(r.router, "p", 3);
	CHECK_EQ(pthread_create(&thread, NULL, submit_unbound, &r), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(sley_pool_flush_until(r.pool, SLEY_FOREVER), 0);
	routing_stop(&r);
}

/* ---- waiting ------------------------------------------------------------------------------ */

static void time_out_and_wait_again(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request;

	submit_waiter(r->pool, &request, &in, 0);
	CHECK_EQ(sley_request_wait_until(&request, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(sley_request_code(&request), -EINPROGRESS);
	sley_event_set(&event);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
}

TEST_WORKERS(c24_a_wait_that_times_out_leaves_the_request_alive)
{
	struct routing r = routing_start(1, "default");

	run_task(time_out_and_wait_again, &r);
	routing_stop(&r);
}

TEST_WORKERS(c24_a_deadline_ends_the_waits_of_the_method)
{
	struct routing r = routing_start(1, "default");
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	uint64_t deadline_ns = in_ms(20);

	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_WAIT, .in = &in,
					     .in_size = sizeof(in),
					     .deadline_ns = deadline_ns),
				NULL),
		 -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline_ns);
	/* A deadline that has passed: the method does not begin. */
	atomic_store(&probe_counts.begun, 0);
	CHECK_EQ(sley_pool_call(r.pool,
				SLEY_REQUEST(.method = PROBE_WAIT, .in = &in,
					     .in_size = sizeof(in),
					     .deadline_ns = 1),
				NULL),
		 -ETIMEDOUT);
	CHECK_EQ(atomic_load(&probe_counts.begun), 0);
	routing_stop(&r);
}

static void cancel_running_and_done(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request running, done;

	atomic_store(&probe_counts.begun, 0);
	submit_waiter(r->pool, &running, &in, 0);
	while (!atomic_load(&probe_counts.begun))
		sley_yield();
	sley_request_cancel(&running);
	CHECK_EQ(sley_request_wait(&running), 0);
	CHECK_EQ(sley_request_code(&running), -ECANCELED);
	/* Of a complete request, and of one that never was a task. */
	sley_request_cancel(&running);
	CHECK_EQ(sley_submit(r->pool, &done,
			     SLEY_REQUEST(.method = PROBE_NOTHING)),
		 0);
	sley_request_cancel(&done);
	CHECK_EQ(sley_request_code(&done), -ENOSYS);
}

TEST_WORKERS(a_cancelled_request_completes_when_its_method_has_returned)
{
	struct routing r = routing_start(1, "default");

	run_task(cancel_running_and_done, &r);
	routing_stop(&r);
}

static void cancel_unbegun(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request;

	/* This task holds the only thread that could begin the request. */
	atomic_store(&probe_counts.begun, 0);
	submit_waiter(r->pool, &request, &in, 0);
	sley_request_cancel(&request);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), -ECANCELED);
	CHECK_EQ(atomic_load(&probe_counts.begun), 0);
}

TEST_WORKERS(a_request_that_is_cancelled_before_it_begins_never_begins)
{
	struct routing r;

	if (nr_runners() != 1)
		test_skip("for one thread that runs tasks");
	r = routing_start(1, "none");
	run_task(cancel_unbegun, &r);
	routing_stop(&r);
}

struct caller {
	struct routing *r;
	struct sley_event event;
	int code;
};

static void call_and_wait(void *arg)
{
	struct caller *caller = arg;
	struct sley_event *in = &caller->event;

	caller->code = sley_pool_call(
		caller->r->pool,
		SLEY_REQUEST(.method = PROBE_WAIT, .in = &in,
			     .in_size = sizeof(in), .enqueue = true),
		NULL);
}

static void cancel_caller(void *arg)
{
	struct caller caller = { .r = arg };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	atomic_store(&probe_counts.begun, 0);
	sley_spawn(&group, &task, call_and_wait, &caller);
	while (!atomic_load(&probe_counts.begun))
		sley_yield();
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(caller.code, -ECANCELED);
	CHECK_EQ(atomic_load(&probe_counts.running), 0);
}

TEST_WORKERS(c24_a_cancelled_caller_leaves_when_its_request_is_complete)
{
	struct routing r = routing_start(1, "default");

	run_task(cancel_caller, &r);
	routing_stop(&r);
}

/* ---- forgotten ----------------------------------------------------------------------------- */

TEST_WORKERS(c25_a_forgotten_request_runs_and_is_freed)
{
	struct routing r = routing_start(2, "default");
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;

	atomic_store(&probe_counts.begun, 0);
	for (uint32_t i = 0; i < 100; i++)
		CHECK_EQ(sley_submit_and_forget(
				 r.pool,
				 SLEY_REQUEST(.method = PROBE_WAIT,
					      .query = sley_query_id(i % 2),
					      .in = &in, .in_size = sizeof(in),
					      .enqueue = true)),
			 0);
	CHECK_EQ(sley_submit_and_forget(r.pool,
					SLEY_REQUEST(.method = PROBE_NOTHING)),
		 0);
	CHECK_EQ(sley_submit_and_forget(
			 r.pool, SLEY_REQUEST(.method = PROBE_ECHO,
					      .query = sley_query_broadcast())),
		 0);
	in = NULL; /* each request has a copy of its own */
	sley_event_set(&event);
	CHECK_EQ(sley_pool_flush_until(r.pool, SLEY_FOREVER), 0);
	CHECK_EQ(atomic_load(&probe_counts.begun), 100);
	routing_stop(&r);
}

/* ---- many ---------------------------------------------------------------------------------- */

static void reverse_order(void *arg)
{
	struct routing *r = arg;
	struct sley_event event[8], *in[8];
	struct sley_request request[8];

	for (int i = 0; i < 8; i++) {
		event[i] = (struct sley_event)SLEY_EVENT_INIT;
		in[i] = &event[i];
		submit_waiter(r->pool, &request[i], &in[i], 0);
	}
	for (int i = 7; i >= 0; i--) {
		CHECK(!sley_request_is_done(&request[i]));
		sley_event_set(&event[i]);
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		for (int j = 0; j < i; j++)
			CHECK(!sley_request_is_done(&request[j]));
	}
}

TEST_WORKERS(rc4_requests_that_end_in_reverse_order_wake_their_own_waiters)
{
	struct routing r = routing_start(1, "default");

	run_task(reverse_order, &r);
	routing_stop(&r);
}

#define MANY 10240

static void ten_times_the_depth(void *arg)
{
	static struct sley_request request[MANY];
	struct routing *r = arg;

	for (int i = 0; i < MANY; i++)
		CHECK_EQ(sley_submit(r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_ECHO,
						  .enqueue = true)),
			 0);
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
}

TEST_WORKERS(rc2_a_task_submits_ten_thousand_requests_before_it_waits)
{
	struct routing r = routing_start(1, "default");

	run_task(ten_times_the_depth, &r);
	CHECK_EQ(router_stats(r.router).completed, MANY);
	routing_stop(&r);
}

static void wait_any(void *arg)
{
	struct routing *r = arg;
	struct sley_event event[3], *in[3];
	struct sley_request request[3];
	struct sley_future *future[3];

	for (int i = 0; i < 3; i++) {
		event[i] = (struct sley_event)SLEY_EVENT_INIT;
		in[i] = &event[i];
		submit_waiter(r->pool, &request[i], &in[i], 0);
		future[i] = sley_request_future(&request[i]);
	}
	sley_event_set(&event[1]);
	CHECK_EQ(sley_future_wait_any(future, 3), 1);
	sley_event_set(&event[0]);
	sley_event_set(&event[2]);
	CHECK_EQ(sley_future_wait_all(future, 3), 0);
}

/* The same for requests, of whichever pools. */
static void wait_any_request(void *arg)
{
	struct sley_event event[3] = { SLEY_EVENT_INIT, SLEY_EVENT_INIT,
				       SLEY_EVENT_INIT };
	struct sley_event *in[3] = { &event[0], &event[1], &event[2] };
	struct sley_request request[3], *all[3];
	struct routing *r = arg;

	for (int i = 0; i < 3; i++) {
		submit_waiter(r->pool, &request[i], &in[i], 0);
		all[i] = &request[i];
	}
	CHECK_EQ(sley_request_wait_any_until(all, 3, sley_after(SLEY_MSEC)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_request_wait_any_until(all, 0, 0), -EINVAL);
	CHECK_EQ(sley_request_wait_any_until(all, SLEY_REQUEST_ANY_MAX + 1, 0),
		 -EINVAL);
	sley_event_set(&event[2]);
	CHECK_EQ(sley_request_wait_any_until(all, 3, SLEY_FOREVER), 2);
	sley_event_set(&event[0]);
	sley_event_set(&event[1]);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
}

TEST_WORKERS(c26_any_of_several_requests_of_this_process)
{
	struct routing r = routing_start(1, "default");

	run_task(wait_any_request, &r);
	routing_stop(&r);
}

static void submit_many(void *arg)
{
	struct sley_request_spec spec[33], *bad = &spec[20];
	const struct sley_request_spec *specs[33];
	struct sley_request request[33], *requests[33];
	struct routing *r = arg;
	int before = atomic_load(&probe_counts.begun);

	for (int i = 0; i < 33; i++) {
		spec[i] = *SLEY_REQUEST(.method = PROBE_COUNT);
		specs[i] = &spec[i];
		requests[i] = &request[i];
	}
	CHECK_EQ(sley_submit_many(r->pool, requests, specs, 0), 0);
	bad->priority = 99;
	CHECK_EQ(sley_submit_many(r->pool, requests, specs, 33), 20);
	CHECK_EQ(sley_submit_many(r->pool, requests + 20, specs + 20, 13),
		 SLEY_EPRIORITY);
	bad->priority = 0;
	CHECK_EQ(sley_submit_many(r->pool, requests + 20, specs + 20, 13), 13);
	for (int i = 0; i < 33; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	CHECK_EQ(atomic_load(&probe_counts.begun), before + 33);
}

TEST_WORKERS(c36_many_requests_to_a_pool_of_this_process)
{
	struct routing r = routing_start(1, "default");

	run_task(submit_many, &r);
	routing_stop(&r);
}

TEST_WORKERS(c26_any_and_all_of_several_requests_are_waited_for)
{
	struct routing r = routing_start(1, "default");

	run_task(wait_any, &r);
	routing_stop(&r);
}

static void send_again(void *arg)
{
	static struct sley_request request;
	struct routing *r = arg;

	for (int i = 0; i < 3; i++) {
		struct sley_event event = SLEY_EVENT_INIT, *in = &event;

		submit_waiter(r->pool, &request, &in, 0);
		CHECK(!sley_request_is_done(&request));
		sley_event_set(&event);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), 0);
	}
}

TEST_WORKERS(c26_a_request_that_was_waited_for_may_be_sent_again)
{
	struct routing r = routing_start(1, "default");

	run_task(send_again, &r);
	routing_stop(&r);
}

/* ---- the end of the runtime ------------------------------------------------------------------ */

TEST_WORKERS(a_runtime_that_is_cancelled_completes_all_requests)
{
	struct routing r = routing_start(1, "default");
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request[20];

	for (int i = 0; i < 20; i++)
		submit_waiter(r.pool, &request[i], &in, 0);
	sley_cancel_all(r.rt);
	for (int i = 0; i < 20; i++) {
		while (!sley_request_is_done(&request[i]))
			sley_yield();
		CHECK_EQ(sley_request_code(&request[i]), -ECANCELED);
	}
	routing_stop(&r);
}
