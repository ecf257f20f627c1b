/* SPDX-License-Identifier: MIT */
/*
 * client_stress.c - threads and tasks submit, cancel, forget and wait with deadlines,
 * while their daemon is killed, stopped and started again.
 *
 * The ledger is in memory that all daemons share: each request ends once; if it ended
 * well, its method ran, and just once unless the request is idempotent; "outcome unknown"
 * is said of requests that a daemon had begun.
 */
#include <stdatomic.h>

#include "conformance/ipc/keeper.h"
#include "stress/stress.h"

#include <sley/error.h>
#include <stdlib.h>

#define NR_MEMBERS 6

struct scene {
	struct keeper keeper;
	struct sley_client *client;
	struct sley_pool *pool;
	atomic_uint next_item;
	atomic_bool over;
	atomic_uint nr_unknown, nr_again;
};

static struct scene scene;

/* ---- one request ----------------------------------------------------------------------- */

static bool submit(struct sley_request *request,
		   const struct sley_request_spec *spec)
{
	int err;

	while ((err = sley_submit(scene.pool, request, spec)) == -EAGAIN)
		CHECK_EQ(sley_sleep(20000), 0);
	CHECK_EQ(err, 0);
	return true;
}

static void check_end(const struct sley_request *request, uint32_t item,
		      bool idempotent, bool cancelled)
{
	unsigned int begun = keeper_begun(&scene.keeper, item);
	unsigned int ended = keeper_ended(&scene.keeper, item);

	switch (sley_request_code(request)) {
	case 0:
		CHECK_GE(ended, 1);
		break;
	case SLEY_EUNKNOWN:
		CHECK(!idempotent);
		atomic_fetch_add(&scene.nr_unknown, 1);
		break;
	case -ECANCELED:
		CHECK(cancelled);
		break;
	default:
		CHECK_EQ(sley_request_code(request), 0);
	}
	if (!idempotent) {
		CHECK_LE(begun, 1);
		CHECK_LE(ended, 1);
	} else if (begun > 1) {
		atomic_fetch_add(&scene.nr_again, 1);
	}
}

static void one_request(uint32_t item)
{
	bool idempotent = test_random(2), cancelled = test_random(4) == 0;
	bool holds = cancelled && test_random(2);
	struct sley_request_spec spec;
	struct sley_request request;

	spec = work_on(holds ? WORK_HOLD : WORK_COUNT, &item);
	spec.idempotent = idempotent;
	if (!submit(&request, &spec))
		return;
	if (test_random(2))
		(void)!sley_request_wait_until(&request,
					       sley_after(test_random(200000)));
	if (cancelled)
		sley_request_cancel(&request);
	CHECK_EQ(sley_request_wait(&request), 0);
	check_end(&request, item, idempotent, cancelled);
}

/* The answer is looked at byte by byte: it must be that of this request. */
static void one_large_request(uint32_t item)
{
	size_t size = 2000 + test_random(100000);
	unsigned char *in = malloc(size), *out = calloc(1, size);
	unsigned char byte = (unsigned char)(1 + item % 255);
	size_t answer = 0;
	int code;

	memset(in, byte, size);
	while ((code = sley_pool_call(scene.pool,
				      SLEY_REQUEST(.method = WORK_FILL,
						   .in = in, .in_size = size,
						   .out = out, .out_size = size,
						   .idempotent = true),
				      &answer)) == -EAGAIN)
		CHECK_EQ(sley_sleep(20000), 0);
	CHECK_EQ(code, 0);
	CHECK_EQ(answer, size);
	CHECK_EQ(memcmp(in, out, size), 0);
	free(in);
	free(out);
}

static void several_requests(uint32_t item)
{
	struct sley_request request[4], *all[4];
	uint32_t items[4] = { item, item, item, item };
	struct sley_request_spec spec;
	size_t nr = 4;

	for (size_t i = 0; i < nr; i++) {
		spec = work_on(WORK_COUNT, &items[i]);
		spec.idempotent = true;
		(void)submit(&request[i], &spec);
		all[i] = &request[i];
	}
	while (nr) {
		int done = sley_request_wait_any_until(all, nr, SLEY_FOREVER);

		CHECK_GE(done, 0);
		CHECK_EQ(sley_request_code(all[done]), 0);
		all[done] = all[--nr];
	}
}

static void be_busy(void *arg)
{
	(void)arg;
	while (!atomic_load(&scene.over)) {
		uint32_t item = atomic_fetch_add(&scene.next_item, 1);

		if (item >= KEEPER_ITEMS)
			return;
		switch (test_random(8)) {
		case 0:
			one_large_request(item);
			break;
		case 1:
			several_requests(item);
			break;
		default:
			one_request(item);
		}
		test_count(1);
	}
}

/* ---- the daemon ------------------------------------------------------------------------ */

static void restart_often(void)
{
	uint64_t end_ns = stress_end();

	while (sley_now() < end_ns &&
	       atomic_load(&scene.next_item) < KEEPER_ITEMS) {
		test_nap_ms((unsigned int)test_random(25));
		if (test_random(4))
			keeper_kill(&scene.keeper);
		else
			keeper_stop(&scene.keeper);
		test_nap_ms((unsigned int)test_random(5));
		keeper_start(&scene.keeper);
	}
	atomic_store(&scene.keeper.page->open, true);
	atomic_store(&scene.over, true);
}

static void begin(struct sley *rt, uint32_t depth)
{
	struct sley_client_options options = quiet_options(&scene.keeper);

	options.rt = rt;
	options.depth = depth;
	options.reconnect_ns = SLEY_FOREVER;
	scene.client = client_with(&options);
	scene.pool = work_pool(scene.client);
}

static void end(void)
{
	struct sley_client_info info = client_info(scene.client);

	CHECK_EQ(info.nr_submitted, info.nr_completed);
	CHECK_EQ(info.nr_in_flight, 0);
	client_close(scene.client, scene.pool);
}

static void *busy_thread(void *arg)
{
	be_busy(arg);
	return NULL;
}

static void beside_threads(uint32_t depth)
{
	pthread_t thread[NR_MEMBERS];

	keeper_begin(&scene.keeper);
	begin(NULL, depth);
	for (int i = 0; i < NR_MEMBERS; i++)
		thread[i] = test_thread(busy_thread, NULL);
	restart_often();
	for (int i = 0; i < NR_MEMBERS; i++)
		pthread_join(thread[i], NULL);
	end();
	keeper_end(&scene.keeper);
}

TEST(threads_go_on_while_the_daemon_is_killed)
{
	beside_threads(0);
}

TEST(threads_go_on_with_few_slots_while_the_daemon_is_killed)
{
	beside_threads(4);
}

static void *restart_in_thread(void *arg)
{
	restart_often();
	return arg;
}

static void beside_tasks(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_MEMBERS];
	pthread_t thread;

	(void)arg;
	begin(NULL, 0);
	thread = test_thread(restart_in_thread, NULL);
	for (int i = 0; i < NR_MEMBERS; i++)
		sley_spawn(&group, &task[i], be_busy, NULL);
	sley_join(&group);
	pthread_join(thread, NULL);
	end();
}

TEST_WORKERS(tasks_go_on_while_the_daemon_is_killed)
{
	keeper_begin(&scene.keeper);
	CHECK_EQ(sley_run(test_config(), beside_tasks, NULL), 0);
	keeper_end(&scene.keeper);
}
