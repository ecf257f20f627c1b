/* SPDX-License-Identifier: MIT */
/*
 * client_restart.c - the daemon of a client is killed, stopped, frozen and started again:
 * C41, R-C6, R-C8.  Nothing that was acknowledged is lost, and nothing ends twice.
 */
#include "conformance/ipc/keeper.h"

#include <sley/kv.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sley_request_spec idempotent(enum work_method method,
					   const uint32_t *item)
{
	struct sley_request_spec spec = work_on(method, item);

	spec.idempotent = true;
	return spec;
}

static void submit(struct sley_pool *pool, struct sley_request *request,
		   const struct sley_request_spec *spec)
{
	CHECK_EQ(sley_submit(pool, request, spec), 0);
}

/* Requests for the items from 0 on, each of which runs once. */
#define MANY 200

struct counted {
	struct sley_request request[MANY];
	uint32_t item[MANY];
};

static void submit_counted(struct sley_pool *pool, struct counted *counted,
			   uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct sley_request_spec spec =
			work_on(WORK_COUNT, &counted->item[i]);

		counted->item[i] = i;
		submit(pool, &counted->request[i], &spec);
	}
}

static void expect_counted(const struct keeper *keeper, struct counted *counted,
			   uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		CHECK_EQ(sley_request_wait(&counted->request[i]), 0);
		CHECK_EQ(sley_request_code(&counted->request[i]), 0);
		CHECK_EQ(keeper_ended(keeper, i), 1);
	}
}

/* ---- a restart ------------------------------------------------------------------------- */

CLIENT_TEST(c41_a_client_goes_on_with_the_next_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	uint64_t generation = client_info(client).generation;
	struct sley_request_spec spec;
	uint32_t item = 1;

	spec = idempotent(WORK_COUNT, &item);
	CHECK_EQ(sley_pool_call(pool, &spec, NULL), 0);
	for (int i = 0; i < 3; i++) {
		keeper_kill(keeper);
		keeper_start(keeper);
		CHECK_EQ(sley_pool_call(pool, &spec, NULL), 0);
		CHECK(client_info(client).generation != generation);
		generation = client_info(client).generation;
	}
	CHECK_EQ(client_info(client).nr_connects, 4);
	CHECK_EQ(client_info(client).state, SLEY_CLIENT_LIVE);
	CHECK_GE(keeper_ended(keeper, 1), 4);
	client_close(client, pool);
}

/* Begun: unknown.  Begun and idempotent: again.  Not begun: again, whatever it is. */
CLIENT_TEST(c41_what_was_begun_is_unknown_or_sent_again)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct counted *late = calloc(1, sizeof(*late));
	struct sley_request plain, twice;
	uint32_t item[2] = { 0, 1 };
	struct sley_request_spec spec;

	spec = work_on(WORK_HOLD, &item[0]);
	submit(pool, &plain, &spec);
	spec = idempotent(WORK_HOLD, &item[1]);
	submit(pool, &twice, &spec);
	EVENTUALLY(keeper_begun(keeper, 0) && keeper_begun(keeper, 1));
	keeper_freeze(keeper);
	submit_counted(pool, late, 2, 6);
	keeper_kill(keeper);
	CHECK_EQ(sley_request_wait(&plain), 0);
	CHECK_EQ(sley_request_code(&plain), SLEY_EUNKNOWN);
	CHECK(!sley_request_is_done(&twice));
	CHECK_EQ(client_info(client).state, SLEY_CLIENT_LOST);
	atomic_store(&keeper->page->open, true);
	keeper_start(keeper);
	CHECK_EQ(sley_request_wait(&twice), 0);
	CHECK_EQ(sley_request_code(&twice), 0);
	CHECK_EQ(keeper_begun(keeper, 1), 2);
	expect_counted(keeper, late, 2, 6);
	CHECK_EQ(client_info(client).nr_unknown, 1);
	CHECK_EQ(client_info(client).nr_again, 5);
	client_close(client, pool);
	free(late);
}

/* Requests that are submitted while there is no daemon are acknowledged all the same. */
CLIENT_TEST(c41_requests_are_held_while_there_is_no_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct counted *held = calloc(1, sizeof(*held));

	keeper_kill(keeper);
	submit_counted(pool, held, 0, 10);
	do {
		CHECK_EQ(sley_request_wait_until(&held->request[0],
						 sley_after(60 * SLEY_MSEC)),
			 -ETIMEDOUT);
	} while (client_info(client).state == SLEY_CLIENT_LIVE);
	submit_counted(pool, held, 10, 20);
	keeper_start(keeper);
	expect_counted(keeper, held, 0, 20);
	client_close(client, pool);
	free(held);
}

CLIENT_TEST(c41_a_daemon_that_stops_loses_nothing)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct counted *counted = calloc(1, sizeof(*counted));

	submit_counted(pool, counted, 0, MANY / 2);
	keeper_stop(keeper);
	keeper_start(keeper);
	submit_counted(pool, counted, MANY / 2, MANY);
	expect_counted(keeper, counted, 0, MANY);
	CHECK_EQ(client_info(client).nr_unknown, 0);
	client_close(client, pool);
	free(counted);
}

CLIENT_TEST(c41_forgotten_requests_are_sent_again)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	keeper_freeze(keeper);
	for (uint32_t i = 0; i < 20; i++) {
		struct sley_request_spec spec = work_on(WORK_COUNT, &i);

		CHECK_EQ(sley_submit_and_forget(pool, &spec), 0);
	}
	keeper_kill(keeper);
	keeper_start(keeper);
	for (uint32_t i = 0; i < 20; i++) {
		struct sley_request_spec spec = work_on(WORK_ECHO, &i);

		/* Somebody must look after the client. */
		CHECK_EQ(sley_pool_call(pool, &spec, NULL), -EMSGSIZE);
		EVENTUALLY(keeper_ended(keeper, i) == 1);
	}
	client_close(client, pool);
}

/* ---- giving up ------------------------------------------------------------------------- */

CLIENT_TEST(c41_no_daemon_comes_in_time)
{
	struct sley_client_options options = quiet_options(keeper);
	struct sley_request begun, late;
	struct sley_client *client;
	struct sley_pool *pool;
	uint32_t item[2] = { 0, 1 };
	struct sley_request_spec spec;
	uint64_t killed_ns;

	options.reconnect_ns = 80 * SLEY_MSEC;
	client = client_with(&options);
	pool = work_pool(client);
	spec = idempotent(WORK_HOLD, &item[0]);
	submit(pool, &begun, &spec);
	EVENTUALLY(keeper_begun(keeper, 0));
	keeper_freeze(keeper);
	spec = work_on(WORK_COUNT, &item[1]);
	submit(pool, &late, &spec);
	/* Before: a worker may see the end while this thread is still about it. */
	killed_ns = test_now_ns();
	keeper_kill(keeper);
	CHECK_EQ(sley_request_wait(&late), 0);
	CHECK_GE(test_now_ns() - killed_ns, 80 * SLEY_MSEC);
	CHECK_EQ(sley_request_code(&late), -EHOSTDOWN);
	CHECK_EQ(sley_request_wait(&begun), 0);
	CHECK_EQ(sley_request_code(&begun), -EHOSTDOWN);
	CHECK_EQ(sley_submit(pool, &late, &spec), -EHOSTDOWN);
	CHECK_EQ(client_info(client).state, SLEY_CLIENT_DOWN);
	/* A daemon that comes later is found by the next request. */
	keeper_start(keeper);
	CHECK_EQ(sley_pool_call(pool, &spec, NULL), 0);
	CHECK_EQ(keeper_ended(keeper, 1), 1);
	client_close(client, pool);
}

/* In place of a daemon that is frozen before it accepts: the kernel alone answers. */
static int listen_in_silence(const struct keeper *keeper)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	CHECK_GE(fd, 0);
	snprintf(here.sun_path, sizeof(here.sun_path), "%s", keeper->path);
	CHECK_EQ(unlink(keeper->path), 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
	CHECK_EQ(listen(fd, 8), 0);
	return fd;
}

/* The client has given up, and its next request meets a daemon that is silent: its code. */
static int call_in_silence(struct keeper *keeper, uint64_t deadline_ns)
{
	struct sley_client_options options = quiet_options(keeper);
	struct sley_request request;
	struct sley_client *client;
	struct sley_pool *pool;
	uint32_t item = 0;
	struct sley_request_spec spec = idempotent(WORK_HOLD, &item);
	int fd, code;

	options.reconnect_ns = 20 * SLEY_MSEC;
	client = client_with(&options);
	pool = work_pool(client);
	keeper_kill(keeper);
	CHECK_EQ(sley_pool_call(pool, &spec, NULL), -EHOSTDOWN);
	CHECK_EQ(client_info(client).state, SLEY_CLIENT_DOWN);
	/* The task of the runtime that looked for the last daemon ends meanwhile. */
	CHECK_EQ(sley_sleep(50 * SLEY_MSEC), 0);
	fd = listen_in_silence(keeper);
	spec.deadline_ns = deadline_ns;
	submit(pool, &request, &spec);
	CHECK_EQ(client_info(client).state, SLEY_CLIENT_GREETING);
	CHECK_EQ(sley_request_wait_until(&request, sley_after(20 * SLEY_SEC)),
		 0);
	code = sley_request_code(&request);
	client_close(client, pool);
	close(fd);
	return code;
}

static void call_without_deadline(struct keeper *keeper)
{
	CHECK_EQ(call_in_silence(keeper, 0), -EHOSTDOWN);
}

/* It has five seconds to answer.  No thread drives meanwhile: the runtime does. */
TEST(c41_a_silent_daemon_is_none)
{
	keeper_run(call_without_deadline, true);
}

/* The deadline ends the request, and not the end of the patience with the daemon. */
CLIENT_TEST(c24_a_deadline_holds_while_the_next_daemon_is_silent)
{
	uint64_t deadline_ns = sley_after(200 * SLEY_MSEC);

	CHECK_EQ(call_in_silence(keeper, deadline_ns), -ETIMEDOUT);
	CHECK_GE(test_now_ns(), deadline_ns);
}

CLIENT_TEST(c41_a_client_need_not_wait_for_the_next_daemon)
{
	struct sley_client_options options = quiet_options(keeper);
	struct sley_client *client;
	struct sley_request request;
	struct sley_pool *pool;
	uint32_t item = 0;
	struct sley_request_spec spec = idempotent(WORK_HOLD, &item);

	options.reconnect_ns = SLEY_CLIENT_NO_RECONNECT;
	client = client_with(&options);
	pool = work_pool(client);
	submit(pool, &request, &spec);
	EVENTUALLY(keeper_begun(keeper, 0));
	keeper_kill(keeper);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), -EHOSTDOWN);
	client_close(client, pool);
}

CLIENT_TEST(c41_a_pool_that_the_next_daemon_lacks_fails_its_requests)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client), *own = NULL;
	struct sley_pool *made = NULL;
	struct sley_kv_stats stats;
	uint32_t item = 1;
	struct sley_request_spec spec = idempotent(WORK_COUNT, &item);

	/* Without a module the pool must be there; with one it is made again. */
	CHECK_EQ(sley_client_pool_open(client, &made, "own",
				       SLEY_POOL_OPTIONS(.module = "kv")),
		 0);
	CHECK_EQ(sley_client_pool_open(client, &own, "own", NULL), 0);
	CHECK_EQ(sley_kv_get_stats(own, &stats), 0);
	sley_pool_close(made);
	keeper_kill(keeper);
	keeper_start(keeper);
	CHECK_EQ(sley_pool_call(pool, &spec, NULL), 0);
	CHECK_EQ(sley_kv_get_stats(own, &stats), -ENOENT);
	CHECK_EQ(sley_pool_call(pool, &spec, NULL), 0);
	sley_pool_close(own);
	CHECK_EQ(sley_client_pool_open(client, &made, "own",
				       SLEY_POOL_OPTIONS(.module = "kv")),
		 0);
	keeper_kill(keeper);
	keeper_start(keeper);
	CHECK_EQ(sley_kv_set(made, "a", 1, "b", 1, 0), 0);
	sley_pool_close(made);
	client_close(client, pool);
}

/* ---- large requests -------------------------------------------------------------------- */

#define LARGE 300000

/* As many segments as there are large requests under way. */
static void use_segments(struct keeper *keeper, struct sley_pool *pool,
			 unsigned char *out)
{
	struct sley_request request[5];
	uint32_t item = 9;

	for (int i = 0; i < 5; i++) {
		struct sley_request_spec spec = work_on(WORK_HOLD, &item);

		spec.out = out;
		spec.out_size = LARGE;
		submit(pool, &request[i], &spec);
	}
	atomic_store(&keeper->page->open, true);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
}

CLIENT_TEST(c41_large_requests_move_to_the_next_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request[5];
	unsigned char *in = malloc(5 * LARGE), *out = malloc(5 * LARGE);

	use_segments(keeper, pool, out);
	CHECK_EQ(client_info(client).nr_segments, 5);
	keeper_freeze(keeper);
	for (int i = 0; i < 5; i++) {
		memset(in + i * LARGE, i + 1, LARGE);
		CHECK_EQ(sley_submit(pool, &request[i],
				     SLEY_REQUEST(.method = WORK_FILL,
						  .in = in + i * LARGE,
						  .in_size = LARGE,
						  .out = out + i * LARGE,
						  .out_size = LARGE,
						  .idempotent = i % 2)),
			 0);
	}
	keeper_kill(keeper);
	keeper_start(keeper);
	for (int i = 0; i < 5; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
		CHECK_EQ(sley_request_answer_size(&request[i]), LARGE);
		CHECK_EQ(memcmp(out + i * LARGE, in + i * LARGE, LARGE), 0);
	}
	CHECK_EQ(client_info(client).nr_again, 5);
	client_close(client, pool);
	free(in);
	free(out);
}

CLIENT_TEST(c41_a_large_request_waits_for_the_next_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	unsigned char *in = calloc(1, LARGE);
	struct sley_request request;
	uint32_t item = 0;
	struct sley_request_spec spec = work_on(WORK_COUNT, &item);

	keeper_kill(keeper);
	submit(pool, &request, &spec);
	CHECK_EQ(sley_request_wait_until(&request, sley_after(100 * SLEY_MSEC)),
		 -ETIMEDOUT);
	keeper_start(keeper);
	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.method = WORK_FILL, .in = in,
					     .in_size = LARGE),
				NULL),
		 0);
	CHECK_EQ(sley_request_wait(&request), 0);
	client_close(client, pool);
	free(in);
}

/* ---- late answers ---------------------------------------------------------------------- */

/* The memory of a request that timed out is used again; its answer is never the other's. */
CLIENT_TEST(rc6_a_late_answer_never_reaches_a_new_request)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	uint32_t item = 0;
	struct sley_request_spec spec;

	for (uint32_t i = 0; i < 20; i++) {
		uint64_t in = i, out = ~0ull;

		item = i;
		spec = idempotent(WORK_HOLD, &item);
		submit(pool, &request, &spec);
		(void)!sley_request_wait_until(&request, sley_after(100000));
		if (i % 5 == 4) {
			keeper_kill(keeper);
			keeper_start(keeper);
		}
		sley_request_cancel(&request);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), -ECANCELED);
		CHECK_EQ(sley_submit(pool, &request,
				     SLEY_REQUEST(.method = WORK_ECHO,
						  .in = &in,
						  .in_size = sizeof(in),
						  .out = &out,
						  .out_size = sizeof(out),
						  .idempotent = true)),
			 0);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), 0);
		CHECK(out == i);
	}
	client_close(client, pool);
}

/* ---- a daemon that dies while a client waits --------------------------------------------- */

struct killing {
	struct keeper *keeper;
	uint32_t item;
	uint64_t killed_ns;
};

static void *kill_soon(void *arg)
{
	struct killing *killing = arg;

	while (!keeper_begun(killing->keeper, killing->item))
		test_nap_ms(1);
	test_nap_ms(5);
	killing->killed_ns = test_now_ns();
	keeper_kill(killing->keeper);
	return NULL;
}

CLIENT_TEST(rc8_a_daemon_dies_while_a_client_waits)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct killing killing = { .keeper = keeper, .item = 6 };
	struct sley_request request;
	uint32_t item = 6;
	struct sley_request_spec spec = work_on(WORK_HOLD, &item);
	pthread_t thread;

	submit(pool, &request, &spec);
	thread = test_thread(kill_soon, &killing);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), SLEY_EUNKNOWN);
	pthread_join(thread, NULL);
	/* Far below any time-out; a client notices within 50 ms. */
	CHECK_LT(test_now_ns() - killing.killed_ns, 5 * SLEY_SEC);
	client_close(client, pool);
}

/* All of them, the leader and the followers. */
static void *wait_for_death(void *request)
{
	CHECK_EQ(sley_request_wait(request), 0);
	CHECK_EQ(sley_request_code(request), SLEY_EUNKNOWN);
	return NULL;
}

TEST(rc8_a_daemon_dies_while_threads_wait)
{
	struct sley_request request[6];
	struct sley_request_spec spec;
	struct sley_client *client;
	struct keeper keeper;
	struct sley_pool *pool;
	pthread_t thread[6];
	uint32_t item = 6;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	spec = work_on(WORK_HOLD, &item);
	for (int i = 0; i < 6; i++) {
		submit(pool, &request[i], &spec);
		thread[i] = test_thread(wait_for_death, &request[i]);
	}
	CHECK_EVENTUALLY(keeper_begun(&keeper, 6) == 6);
	keeper_kill(&keeper);
	for (int i = 0; i < 6; i++)
		pthread_join(thread[i], NULL);
	client_close(client, pool);
	keeper_end(&keeper);
}

/* ---- a daemon that dies while all workers of the client are busy ------------------------ */

struct crowd {
	atomic_uint nr_busy;
	atomic_bool go_on;
};

/* Holds its worker: no worker looks after the client. */
static void be_busy(void *arg)
{
	struct crowd *crowd = arg;

	atomic_fetch_add(&crowd->nr_busy, 1);
	while (!atomic_load(&crowd->go_on))
		;
}

/* Lets its worker look, and never sleep. */
static void keep_yielding(void *arg)
{
	struct crowd *crowd = arg;

	atomic_fetch_add(&crowd->nr_busy, 1);
	while (!atomic_load(&crowd->go_on))
		sley_yield();
}

static void occupy(struct sley *rt, sley_fn *fn, struct crowd *crowd,
		   struct sley_group *all, struct sley_task *tasks, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		CHECK_EQ(sley_spawn_on(rt, all, &tasks[i], fn, crowd, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&crowd->nr_busy) == nr);
}

/*
 * A thread that waits hears of the end by itself, though the workers look after the client.
 * What was not begun is sent to the next daemon, by the same thread.
 */
TEST(rc8_a_daemon_dies_while_all_workers_are_busy)
{
	struct sley_config config = config_of(2);
	struct crowd crowd = { .nr_busy = 0 };
	struct sley_group all = { 0 };
	struct sley_task tasks[2];
	struct sley_client_options options;
	struct sley_request begun, late;
	struct sley_request_spec spec;
	struct sley_client *client;
	struct sley_pool *pool;
	struct keeper keeper;
	struct sley *rt = NULL;
	uint32_t item[2] = { 0, 1 };

	keeper_begin(&keeper);
	CHECK_EQ(sley_create(&rt, &config), 0);
	options = quiet_options(&keeper);
	options.rt = rt;
	client = client_with(&options);
	pool = work_pool(client);
	occupy(rt, be_busy, &crowd, &all, tasks, 2);
	spec = work_on(WORK_HOLD, &item[0]);
	submit(pool, &begun, &spec);
	CHECK_EVENTUALLY(keeper_begun(&keeper, 0) == 1);
	keeper_freeze(&keeper);
	spec = work_on(WORK_COUNT, &item[1]);
	submit(pool, &late, &spec);
	keeper_kill(&keeper);
	CHECK_EQ(sley_request_wait(&begun), 0);
	CHECK_EQ(sley_request_code(&begun), SLEY_EUNKNOWN);
	keeper_start(&keeper);
	CHECK_EQ(sley_request_wait(&late), 0);
	CHECK_EQ(sley_request_code(&late), 0);
	CHECK_EQ(keeper_ended(&keeper, 1), 1);
	CHECK_EQ(atomic_load(&crowd.nr_busy), 2);
	atomic_store(&crowd.go_on, true);
	sley_join(&all);
	client_close(client, pool);
	CHECK_EQ(sley_destroy(rt), 0);
	keeper_end(&keeper);
}

/* Nobody looks: the workers do, once they have time, and nothing is lost meanwhile. */
TEST(rc8_workers_that_were_busy_find_the_next_daemon)
{
	struct sley_config config = config_of(2);
	struct counted *counted = calloc(1, sizeof(*counted));
	struct crowd crowd = { .nr_busy = 0 };
	struct sley_group all = { 0 };
	struct sley_task tasks[2];
	struct sley_client_options options;
	struct sley_client *client;
	struct sley_pool *pool;
	struct keeper keeper;
	struct sley *rt = NULL;

	keeper_begin(&keeper);
	CHECK_EQ(sley_create(&rt, &config), 0);
	options = quiet_options(&keeper);
	options.rt = rt;
	client = client_with(&options);
	pool = work_pool(client);
	occupy(rt, be_busy, &crowd, &all, tasks, 2);
	keeper_freeze(&keeper);
	submit_counted(pool, counted, 0, 20);
	keeper_kill(&keeper);
	keeper_start(&keeper);
	atomic_store(&crowd.go_on, true);
	sley_join(&all);
	/* No thread waits: the runtime does it. */
	for (uint32_t i = 0; i < 20; i++)
		CHECK_EVENTUALLY(keeper_ended(&keeper, i) == 1);
	CHECK_EVENTUALLY(client_info(client).nr_completed == 20);
	expect_counted(&keeper, counted, 0, 20);
	client_close(client, pool);
	CHECK_EQ(sley_destroy(rt), 0);
	keeper_end(&keeper);
	free(counted);
}

struct waiting {
	struct sley_pool *pool;
	int err, code;
};

static void wait_for_work(void *arg)
{
	struct waiting *waiting = arg;
	struct sley_request request;
	uint32_t item = 0;
	struct sley_request_spec spec = work_on(WORK_HOLD, &item);

	submit(waiting->pool, &request, &spec);
	waiting->err =
		sley_request_wait_until(&request, sley_after(20 * SLEY_SEC));
	waiting->code = sley_request_code(&request);
}

/* A worker that always has something to run listens to no descriptor. */
static void die_beside_yielding_tasks(uint32_t workers)
{
	struct sley_config config = config_of((int)workers);
	struct waiting waiting = { .pool = NULL };
	struct crowd crowd = { .nr_busy = 0 };
	struct sley_task tasks[2], waiter;
	struct sley_client_options options;
	struct sley_group all = { 0 }, waiters = { 0 };
	struct sley_client *client;
	struct keeper keeper;
	struct sley *rt = NULL;

	keeper_begin(&keeper);
	CHECK_EQ(sley_create(&rt, &config), 0);
	options = quiet_options(&keeper);
	options.rt = rt;
	client = client_with(&options);
	waiting.pool = work_pool(client);
	occupy(rt, keep_yielding, &crowd, &all, tasks, workers);
	CHECK_EQ(sley_spawn_on(rt, &waiters, &waiter, wait_for_work, &waiting,
			       NULL),
		 0);
	CHECK_EVENTUALLY(keeper_begun(&keeper, 0) == 1);
	keeper_kill(&keeper);
	sley_join(&waiters);
	CHECK_EQ(waiting.err, 0);
	CHECK_EQ(waiting.code, SLEY_EUNKNOWN);
	atomic_store(&crowd.go_on, true);
	sley_join(&all);
	client_close(client, waiting.pool);
	CHECK_EQ(sley_destroy(rt), 0);
	keeper_end(&keeper);
}

TEST(rc8_a_daemon_dies_while_the_only_worker_never_sleeps)
{
	die_beside_yielding_tasks(1);
}

TEST(rc8_a_daemon_dies_while_no_worker_sleeps)
{
	die_beside_yielding_tasks(2);
}

/* A frozen daemon is not a dead one: deadlines hold, and it goes on. */
CLIENT_TEST(rc8_a_frozen_daemon_is_waited_for)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	uint32_t item = 2;
	struct sley_request_spec spec = work_on(WORK_COUNT, &item);

	keeper_freeze(keeper);
	submit(pool, &request, &spec);
	CHECK_EQ(sley_request_wait_until(&request, sley_after(120 * SLEY_MSEC)),
		 -ETIMEDOUT);
	keeper_thaw(keeper);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
	client_close(client, pool);
}

CLIENT_TEST(a_client_is_closed_without_a_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	uint32_t item = 2;
	struct sley_request_spec spec = work_on(WORK_COUNT, &item);

	keeper_kill(keeper);
	submit(pool, &request, &spec);
	client_close(client, pool);
	CHECK_EQ(sley_request_code(&request), SLEY_EUNKNOWN);
}

/* Opening a pool takes a daemon: the next one, if need be. */
CLIENT_TEST(a_pool_is_opened_by_the_next_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool, *none = NULL;

	keeper_kill(keeper);
	keeper_start(keeper);
	pool = work_pool(client);
	CHECK_EQ(sley_client_pool_open(client, &none, "none", NULL), -ENOENT);
	client_close(client, pool);
}
