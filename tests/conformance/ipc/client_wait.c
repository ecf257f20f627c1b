/* SPDX-License-Identifier: MIT */
/*
 * client_wait.c - waits for the requests of a client: with deadlines, by several threads
 * at once, for any of several; forgotten requests; cancels: C24, C25, C26.
 */
#include "conformance/ipc/keeper.h"

#include "conformance/route/routing.h"

#include <stdlib.h>

static void submit(struct sley_pool *pool, struct sley_request *request,
		   enum work_method method, const uint32_t *item)
{
	struct sley_request_spec spec = work_on(method, item);

	CHECK_EQ(sley_submit(pool, request, &spec), 0);
}

static void open_gate(const struct keeper *keeper)
{
	atomic_store(&keeper->page->open, true);
}

/* ---- waits with a deadline ------------------------------------------------------------- */

CLIENT_TEST(c24_a_wait_has_a_deadline_and_the_request_goes_on)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	uint64_t begin_ns = test_now_ns();
	uint32_t item = 1;

	submit(pool, &request, WORK_HOLD, &item);
	CHECK(!sley_request_is_done(&request));
	CHECK_EQ(sley_request_code(&request), -EINPROGRESS);
	CHECK_EQ(sley_request_wait_until(&request, 0), -ETIMEDOUT);
	CHECK_EQ(sley_request_wait_until(&request, sley_after(5 * SLEY_MSEC)),
		 -ETIMEDOUT);
	CHECK_GE(test_now_ns() - begin_ns, 5 * SLEY_MSEC);
	open_gate(keeper);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
	CHECK_EQ(sley_request_wait_until(&request, 0), 0);
	CHECK_EQ(keeper_ended(keeper, 1), 1);
	client_close(client, pool);
}

/* The answer comes while nobody waits: it must not touch what was given back by then. */
CLIENT_TEST(c24_a_late_answer_touches_only_its_request)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct {
		uint64_t before[8];
		uint64_t out;
		uint64_t after[8];
	} *guarded = malloc(sizeof(*guarded));
	struct sley_request *request = malloc(sizeof(*request));
	uint64_t in = 5;
	uint32_t item = 3;

	memset(guarded, 0x55, sizeof(*guarded));
	submit(pool, request, WORK_HOLD, &item);
	CHECK_EQ(sley_request_wait_until(request, sley_after(SLEY_MSEC)),
		 -ETIMEDOUT);
	sley_request_cancel(request);
	CHECK_EQ(sley_request_wait(request), 0);
	CHECK_EQ(sley_request_code(request), -ECANCELED);
	/* The same memory, for another request. */
	CHECK_EQ(sley_submit(pool, request,
			     SLEY_REQUEST(.method = WORK_ECHO, .in = &in,
					  .in_size = sizeof(in),
					  .out = &guarded->out,
					  .out_size = sizeof(in))),
		 0);
	CHECK_EQ(sley_request_wait(request), 0);
	CHECK_EQ(guarded->out, 5);
	for (int i = 0; i < 8; i++)
		CHECK(guarded->before[i] == 0x5555555555555555 &&
		      guarded->after[i] == 0x5555555555555555);
	free(request);
	free(guarded);
	client_close(client, pool);
}

/* The deadline of the request, and not of a wait: the daemon ends it. */
CLIENT_TEST(c24_the_deadline_of_a_request_holds_in_the_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request_spec spec;
	uint32_t item = 4;

	spec = work_on(WORK_HOLD, &item);
	spec.deadline_ns = sley_after(5 * SLEY_MSEC);
	CHECK_EQ(sley_pool_call(pool, &spec, NULL), -ETIMEDOUT);
	client_close(client, pool);
}

CLIENT_TEST(c24_a_look_collects)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	uint32_t item = 1;

	submit(pool, &request, WORK_COUNT, &item);
	EVENTUALLY(sley_request_is_done(&request));
	CHECK_EQ(sley_request_code(&request), 0);
	client_close(client, pool);
}

/* ---- forgotten requests ---------------------------------------------------------------- */

CLIENT_TEST(c25_a_request_that_nobody_waits_for)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	for (uint32_t i = 0; i < 50; i++) {
		struct sley_request_spec spec = work_on(WORK_COUNT, &i);
		int err;

		while ((err = sley_submit_and_forget(pool, &spec)) == -EAGAIN)
			CHECK_EQ(sley_sleep(1000), 0);
		CHECK_EQ(err, 0);
	}
	for (uint32_t i = 0; i < 50; i++)
		EVENTUALLY(keeper_ended(keeper, i) == 1);
	client_close(client, pool);
}

/* The memory of the submitter is its own again when the call returns. */
CLIENT_TEST(c25_the_memory_of_the_request_goes_first)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	uint32_t *item = malloc(sizeof(*item));
	struct sley_request_spec spec = work_on(WORK_HOLD, item);

	*item = 8;
	CHECK_EQ(sley_submit_and_forget(pool, &spec), 0);
	*item = 9;
	free(item);
	open_gate(keeper);
	EVENTUALLY(keeper_ended(keeper, 8) == 1);
	CHECK_EQ(keeper_begun(keeper, 9), 0);
	client_close(client, pool);
}

/* And the client: what has reached the daemon is carried out. */
CLIENT_TEST(c25_the_client_goes_first)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	uint32_t item = 11;
	struct sley_request_spec spec = work_on(WORK_HOLD, &item);

	CHECK_EQ(sley_submit_and_forget(pool, &spec), 0);
	client_close(client, pool);
	open_gate(keeper);
	EVENTUALLY(keeper_ended(keeper, 11) == 1);
}

CLIENT_TEST(c25_a_large_request_that_nobody_waits_for)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	unsigned char *in = malloc(300000);

	memset(in, 3, 300000);
	CHECK_EQ(sley_submit_and_forget(pool, SLEY_REQUEST(.method = WORK_FILL,
							   .in = in,
							   .in_size = 300000)),
		 0);
	memset(in, 4, 300000);
	/* A call collects what has ended, and a segment is free then. */
	EVENTUALLY(sley_pool_call(pool, SLEY_REQUEST(.method = WORK_ECHO),
				  NULL) == 0 &&
		   client_info(client).nr_in_flight == 0);
	CHECK_EQ(sley_submit_and_forget(pool,
					SLEY_REQUEST(.out = in, .out_size = 1)),
		 -EINVAL);
	free(in);
	client_close(client, pool);
}

/* ---- several at once -------------------------------------------------------------------- */

#define NR 20

CLIENT_TEST(c26_any_of_several_requests)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request[3], *all[3];
	uint32_t item[3] = { 1, 2, 3 };

	for (int i = 0; i < 3; i++) {
		submit(pool, &request[i], i == 1 ? WORK_COUNT : WORK_HOLD,
		       &item[i]);
		all[i] = &request[i];
	}
	CHECK_EQ(sley_request_wait_any_until(all, 3, SLEY_FOREVER), 1);
	all[1] = &request[2];
	CHECK_EQ(sley_request_wait_any_until(all, 2, sley_after(SLEY_MSEC)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_request_wait_any_until(all, 0, SLEY_FOREVER), -EINVAL);
	CHECK_EQ(sley_request_wait_any_until(all, 64, SLEY_FOREVER), -EINVAL);
	open_gate(keeper);
	CHECK_GE(sley_request_wait_any_until(all, 2, SLEY_FOREVER), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	client_close(client, pool);
}

CLIENT_TEST(c26_any_of_requests_of_two_clients)
{
	struct sley_client *client[2];
	struct sley_pool *pool[2];
	struct sley_request request[2], *all[2];
	uint32_t item[2] = { 1, 2 };

	for (int i = 0; i < 2; i++) {
		client[i] = client_open(keeper);
		pool[i] = work_pool(client[i]);
		submit(pool[i], &request[i], i ? WORK_COUNT : WORK_HOLD,
		       &item[i]);
		all[i] = &request[i];
	}
	CHECK_EQ(sley_request_wait_any_until(all, 2, SLEY_FOREVER), 1);
	CHECK_EQ(sley_request_wait_any_until(all, 1, sley_after(SLEY_MSEC)),
		 -ETIMEDOUT);
	open_gate(keeper);
	CHECK_EQ(sley_request_wait_any_until(all, 1, SLEY_FOREVER), 0);
	for (int i = 0; i < 2; i++)
		client_close(client[i], pool[i]);
}

/* Of this process, and of a daemon. */
static void mix(struct sley_pool *remote, struct sley_pool *local,
		const struct keeper *keeper)
{
	struct sley_request request[2], *all[2] = { &request[0], &request[1] };
	struct sley_event gate = SLEY_EVENT_INIT, *at = &gate;
	uint32_t item = 1;

	submit(remote, &request[0], WORK_HOLD, &item);
	CHECK_EQ(sley_submit(local, &request[1],
			     SLEY_REQUEST(.method = PROBE_WAIT, .in = &at,
					  .in_size = sizeof(at))),
		 0);
	CHECK_EQ(sley_request_wait_any_until(all, 2, sley_after(SLEY_MSEC)),
		 -ETIMEDOUT);
	sley_event_set(&gate);
	CHECK_EQ(sley_request_wait_any_until(all, 2, SLEY_FOREVER), 1);
	open_gate(keeper);
	CHECK_EQ(sley_request_wait_any_until(all, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_request_wait(&request[0]), 0);
}

TEST_WORKERS(c26_any_of_requests_here_and_there)
{
	struct sley_client *client;
	struct keeper keeper;
	struct sley_pool *pool;
	struct routing r;

	keeper_begin(&keeper);
	r = routing_start(1, "default");
	client = client_open(&keeper);
	pool = work_pool(client);
	mix(pool, r.pool, &keeper);
	client_close(client, pool);
	routing_stop(&r);
	keeper_end(&keeper);
}

/* Children that end in any order, some before the parent waits. */
CLIENT_TEST(c26_a_task_waits_for_several_requests)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request[NR];
	uint32_t item[NR];

	for (uint32_t i = 0; i < NR; i++) {
		item[i] = i;
		submit(pool, &request[i], i % 3 ? WORK_COUNT : WORK_HOLD,
		       &item[i]);
	}
	for (uint32_t i = 0; i < NR; i++) {
		if (i % 3)
			CHECK_EQ(sley_request_wait(&request[i]), 0);
	}
	open_gate(keeper);
	for (uint32_t i = NR; i-- > 0;) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
	client_close(client, pool);
}

/* ---- several threads -------------------------------------------------------------------- */

struct crowd {
	struct sley_pool *pool;
	uint32_t first;
	int rounds;
};

static void *wait_in_a_crowd(void *arg)
{
	const struct crowd *crowd = arg;

	for (int i = 0; i < crowd->rounds; i++) {
		struct sley_request request[3];
		uint32_t item = crowd->first;

		for (int j = 0; j < 3; j++)
			submit(crowd->pool, &request[j], WORK_COUNT, &item);
		for (int j = 2; j >= 0; j--) {
			int err = sley_request_wait_until(
				&request[j],
				j == 1 ? sley_after(10000) : SLEY_FOREVER);

			if (err)
				CHECK_EQ(sley_request_wait(&request[j]), 0);
			CHECK_EQ(sley_request_code(&request[j]), 0);
		}
	}
	return NULL;
}

static void crowd_of(struct sley_client *client, const struct keeper *keeper,
		     uint32_t nr)
{
	struct sley_pool *pool = work_pool(client);
	struct crowd crowd[8];
	pthread_t thread[8];
	int rounds = test_scale(300);

	for (uint32_t i = 0; i < nr; i++) {
		crowd[i] = (struct crowd){ pool, i, rounds };
		thread[i] = test_thread(wait_in_a_crowd, &crowd[i]);
	}
	for (uint32_t i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	for (uint32_t i = 0; i < nr; i++)
		CHECK_EQ(keeper_ended(keeper, i), 3u * (unsigned int)rounds);
	sley_pool_close(pool);
}

TEST(several_threads_wait_at_once)
{
	struct sley_client *client;
	struct keeper keeper;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	crowd_of(client, &keeper, 8);
	CHECK_EQ(sley_client_close(client), 0);
	keeper_end(&keeper);
}

/* Without a spin, each wait is a sleep. */
TEST(several_threads_sleep_at_once)
{
	struct sley_client_options options;
	struct sley_client *client;
	struct keeper keeper;

	keeper_begin(&keeper);
	options = quiet_options(&keeper);
	options.spin_us = SLEY_CLIENT_NO_SPIN;
	client = client_with(&options);
	crowd_of(client, &keeper, 4);
	CHECK_EQ(sley_client_close(client), 0);
	keeper_end(&keeper);
}

/* The workers of a runtime look for answers, and plain threads wait. */
TEST_WORKERS(threads_wait_beside_a_runtime)
{
	struct sley_client_options options;
	struct sley_client *client;
	struct keeper keeper;
	struct sley *rt;

	keeper_begin(&keeper);
	rt = start();
	options = quiet_options(&keeper);
	options.rt = rt;
	client = client_with(&options);
	crowd_of(client, &keeper, 3);
	CHECK_EQ(sley_client_close(client), 0);
	stop(rt);
	keeper_end(&keeper);
}

/* A client that no runtime looks after, in a task: slower, and right. */
static void use_in_task(void *pool)
{
	struct sley_request request;
	uint32_t item = 5;

	for (int i = 0; i < 10; i++) {
		struct sley_request_spec spec = work_on(WORK_COUNT, &item);

		submit(pool, &request, WORK_COUNT, &item);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_pool_call(pool, &spec, NULL), 0);
	}
}

TEST_WORKERS(tasks_use_a_client_without_a_runtime)
{
	struct sley_client *client;
	struct keeper keeper;
	struct sley_pool *pool;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	CHECK_EQ(sley_run(test_config(), use_in_task, pool), 0);
	CHECK_EQ(keeper_ended(&keeper, 5), 20);
	client_close(client, pool);
	keeper_end(&keeper);
}

/* Nothing comes for the leader meanwhile, so that it sleeps for 50 ms at a time. */
static void *lead(void *pool)
{
	struct sley_request request;
	uint32_t item = 1;

	submit(pool, &request, WORK_HOLD, &item);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
	return NULL;
}

/* A pool that the daemon has no more: the library ends its requests by itself. */
static struct sley_pool *pool_that_is_gone(struct keeper *keeper,
					   struct sley_client *client)
{
	struct sley_pool *made = NULL, *gone = NULL;

	CHECK_EQ(sley_client_pool_open(client, &made, "gone",
				       SLEY_POOL_OPTIONS(.module = "work")),
		 0);
	CHECK_EQ(sley_client_pool_open(client, &gone, "gone", NULL), 0);
	sley_pool_close(made);
	keeper_kill(keeper);
	keeper_start(keeper);
	CHECK_EQ(work_echo(gone, 1), -ENOENT);
	return gone;
}

TEST(c26_a_request_that_ends_at_once_does_not_wait_for_the_leader)
{
	struct sley_client *client;
	struct sley_pool *pool, *gone;
	struct keeper keeper;
	pthread_t leader;
	uint64_t begin_ns, waited_ns = 0;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	gone = pool_that_is_gone(&keeper, client);
	leader = test_thread(lead, pool);
	CHECK_EVENTUALLY(keeper_begun(&keeper, 1) == 1);
	for (int i = 0; i < 200; i++) {
		/* Between two requests of this thread the other becomes the leader. */
		test_nap_ms(1);
		begin_ns = test_now_ns();
		CHECK_EQ(work_echo(gone, 1), -ENOENT);
		waited_ns += test_now_ns() - begin_ns;
	}
	/* 10 s if each of them waits until the leader looks. */
	CHECK_LT(waited_ns, 5 * SLEY_SEC);
	open_gate(&keeper);
	pthread_join(leader, NULL);
	sley_pool_close(gone);
	client_close(client, pool);
	keeper_end(&keeper);
}

/* ---- cancelling ------------------------------------------------------------------------- */

CLIENT_TEST(a_request_to_a_daemon_is_cancelled)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	uint32_t item = 2;

	submit(pool, &request, WORK_HOLD, &item);
	EVENTUALLY(keeper_begun(keeper, 2));
	sley_request_cancel(&request);
	sley_request_cancel(&request);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), -ECANCELED);
	sley_request_cancel(&request); /* complete: nothing */
	CHECK_EQ(keeper_ended(keeper, 2), 0);
	client_close(client, pool);
}

/* All slots are taken: a cancel has one in reserve. */
CLIENT_TEST(a_cancel_finds_a_slot_in_a_full_ring)
{
	struct sley_client_options options = quiet_options(keeper);
	struct sley_client *client;
	struct sley_pool *pool;
	struct sley_request request[3];
	uint32_t item = 2;
	struct sley_request_spec spec = work_on(WORK_HOLD, &item);

	options.depth = 4;
	client = client_with(&options);
	pool = work_pool(client);
	for (int i = 0; i < 3; i++)
		submit(pool, &request[i], WORK_HOLD, &item);
	CHECK_EQ(sley_submit_and_forget(pool, &spec), -EAGAIN);
	for (int i = 0; i < 3; i++)
		sley_request_cancel(&request[i]);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), -ECANCELED);
	}
	client_close(client, pool);
}

struct called {
	struct sley_pool *pool;
	int code;
};

static void call_and_hold(void *arg)
{
	struct called *called = arg;
	uint32_t item = 7;
	struct sley_request_spec spec = work_on(WORK_HOLD, &item);

	called->code = sley_pool_call(called->pool, &spec, NULL);
}

/* A cancel of the caller cancels the request; the call waits for its end. */
static void cancel_the_caller(void *arg)
{
	struct keeper *keeper = arg;
	struct sley_client *client = client_open(keeper);
	struct called called = { .pool = work_pool(client), .code = 1 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, call_and_hold, &called);
	EVENTUALLY(keeper_begun(keeper, 7));
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(called.code, -ECANCELED);
	EVENTUALLY(atomic_load(&keeper->page->cancelled) == 1);
	client_close(client, called.pool);
}

TEST_WORKERS(a_cancel_of_the_caller_cancels_the_call)
{
	struct keeper keeper;

	keeper_begin(&keeper);
	CHECK_EQ(sley_run(test_config(), cancel_the_caller, &keeper), 0);
	keeper_end(&keeper);
}

/* ---- the level of a task that waits ---------------------------------------------------- */

#define NR_READY 8
#define NR_TURNS 100 /* of each ready task, after both answers           */

/* A request, and the task that waits for it. */
struct completion {
	struct sley_request request;
	struct sley_task waiter;
	atomic_bool waits, ran;
};

static struct {
	struct completion urgent, low;
	struct sley_task ready[NR_READY];
	/* Turns of ready tasks: beside a task that should have run, or not yet. */
	atomic_uint nr_late, nr_early;
} levels;

static void wait_at_level(void *arg)
{
	struct completion *completion = arg;

	atomic_store(&completion->waits, true);
	CHECK_EQ(sley_request_wait(&completion->request), 0);
	atomic_store(&completion->ran, true);
}

/* The answer is here.  No look for answers: that is left to the worker. */
static bool is_answered(const struct completion *completion)
{
	return sley_future_is_done(&completion->request.done);
}

static void take_turns(void *arg)
{
	(void)arg;
	for (int nr_left = NR_TURNS; nr_left > 0; sley_yield()) {
		bool urgent = is_answered(&levels.urgent);

		if (urgent && !atomic_load(&levels.urgent.ran))
			atomic_fetch_add(&levels.nr_late, 1);
		if (atomic_load(&levels.low.ran))
			atomic_fetch_add(&levels.nr_early, 1);
		nr_left -= urgent && is_answered(&levels.low);
	}
}

static void submit_and_wait(struct sley_pool *pool, struct sley_group *group,
			    struct completion *completion, uint32_t item,
			    int priority)
{
	submit(pool, &completion->request, WORK_HOLD, &item);
	CHECK_EQ(sley_spawn_with(group, &completion->waiter, wait_at_level,
				 completion,
				 SLEY_OPTIONS(.priority = priority)),
		 0);
}

static void complete_for_both(void *arg)
{
	const struct keeper *keeper = arg;
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_group group = SLEY_GROUP_INIT;

	submit_and_wait(pool, &group, &levels.urgent, 1, -8);
	submit_and_wait(pool, &group, &levels.low, 2, 8);
	EVENTUALLY(atomic_load(&levels.urgent.waits) &&
		   atomic_load(&levels.low.waits) && keeper_begun(keeper, 1) &&
		   keeper_begun(keeper, 2));
	for (int i = 0; i < NR_READY; i++)
		sley_spawn(&group, &levels.ready[i], take_turns, NULL);
	open_gate(keeper);
	sley_join(&group);
	CHECK_EQ(atomic_load(&levels.nr_late), 0);
	CHECK_EQ(atomic_load(&levels.nr_early), 0);
	client_close(client, pool);
}

/* On the only worker: before any, and behind all, of the ordinary tasks that are ready. */
TEST(u13_a_completion_wakes_the_task_at_the_level_of_the_task)
{
	struct sley_config config = *test_config();
	struct keeper keeper;

	config.workers = 1;
	keeper_begin(&keeper);
	CHECK_EQ(sley_run(&config, complete_for_both, &keeper), 0);
	keeper_end(&keeper);
}
