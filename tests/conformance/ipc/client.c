/* SPDX-License-Identifier: MIT */
/*
 * client.c - <sley/client.h>: requests of all sizes, batches, back-pressure: C36, C37, C39,
 * R-C3.
 */
#include "conformance/ipc/keeper.h"

#include <sley/server.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- one request ---------------------------------------------------------------------- */

CLIENT_TEST(a_client_calls_a_method_of_a_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	CHECK_EQ(sley_pool_nr_containers(pool), 2);
	CHECK_STR(sley_pool_name(pool), "work");
	for (uint64_t i = 0; i < 100; i++)
		CHECK_EQ(work_echo(pool, i << 32 | i), 0);
	client_close(client, pool);
}

CLIENT_TEST(codes_of_methods_come_back)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	const int codes[] = { 0, 7, -EIO, -EAGAIN, -ENOSYS };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		CHECK_EQ(sley_pool_call(pool,
					SLEY_REQUEST(.method = WORK_FAIL,
						     .in = &codes[i],
						     .in_size = sizeof(int)),
					NULL),
			 codes[i]);
	CHECK_EQ(sley_pool_call(pool, SLEY_REQUEST(.method = NR_WORKS), NULL),
		 -ENOSYS);
	CHECK_EQ(sley_pool_call(pool, SLEY_REQUEST(.query = sley_query_id(9)),
				NULL),
		 -ENXIO);
	client_close(client, pool);
}

/* ---- batches --------------------------------------------------------------------------- */

#define MANY 33

struct batch {
	struct sley_request request[MANY];
	struct sley_request_spec spec[MANY];
	struct sley_request *requests[MANY];
	const struct sley_request_spec *specs[MANY];
	uint32_t item[MANY];
};

static void batch_init(struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	for (uint32_t i = 0; i < MANY; i++) {
		batch->item[i] = i;
		batch->spec[i] = work_on(WORK_COUNT, &batch->item[i]);
		batch->requests[i] = &batch->request[i];
		batch->specs[i] = &batch->spec[i];
	}
}

static void batch_wait(struct batch *batch, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		CHECK_EQ(sley_request_wait(&batch->request[i]), 0);
}

CLIENT_TEST(c36_many_requests_at_once)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct batch batch;

	batch_init(&batch);
	CHECK_EQ(sley_submit_many(pool, batch.requests, batch.specs, 0), 0);
	CHECK_EQ(sley_submit_many(pool, batch.requests, batch.specs, MANY),
		 MANY);
	batch_wait(&batch, 0, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		CHECK_EQ(sley_request_code(&batch.request[i]), 0);
		CHECK_EQ(keeper_ended(keeper, i), 1);
	}
	client_close(client, pool);
}

CLIENT_TEST(c36_one_bad_entry_ends_the_batch_before_it)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct batch batch;

	batch_init(&batch);
	batch.spec[20].priority = 99;
	CHECK_EQ(sley_submit_many(pool, batch.requests, batch.specs, MANY), 20);
	batch_wait(&batch, 0, 20);
	CHECK_EQ(sley_submit_many(pool, batch.requests + 20, batch.specs + 20,
				  13),
		 SLEY_EPRIORITY);
	batch.spec[20].priority = 0;
	batch.spec[20].period_ns = 1; /* not to a daemon */
	CHECK_EQ(sley_submit_many(pool, batch.requests + 20, batch.specs + 20,
				  13),
		 -EOPNOTSUPP);
	CHECK_EQ(sley_submit_many(pool, batch.requests + 21, batch.specs + 21,
				  12),
		 12);
	batch_wait(&batch, 21, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_EQ(keeper_ended(keeper, i), i != 20);
	client_close(client, pool);
}

/* The method is unknown to the client: the request is accepted, and its code says so. */
CLIENT_TEST(c36_an_entry_that_the_daemon_refuses_fails_alone)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct batch batch;

	batch_init(&batch);
	batch.spec[16].method = 77;
	CHECK_EQ(sley_submit_many(pool, batch.requests, batch.specs, MANY),
		 MANY);
	batch_wait(&batch, 0, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_EQ(sley_request_code(&batch.request[i]),
			 i == 16 ? -ENOSYS : 0);
	client_close(client, pool);
}

/* More than the ring has: as many as fit, then the rest. */
CLIENT_TEST(c36_a_batch_is_cut_where_the_ring_is_full)
{
	struct sley_client_options options = quiet_options(keeper);
	struct sley_client *client;
	struct sley_pool *pool;
	struct batch batch;
	size_t nr = 0;

	options.depth = 8;
	client = client_with(&options);
	pool = work_pool(client);
	batch_init(&batch);
	for (uint32_t i = 0; i < MANY; i++)
		batch.spec[i].method = WORK_HOLD;
	CHECK_EQ(sley_submit_many(pool, batch.requests, batch.specs, MANY), 6);
	CHECK_EQ(sley_submit_many(pool, batch.requests + 6, batch.specs + 6, 1),
		 -EAGAIN);
	atomic_store(&keeper->page->open, true);
	for (nr = 6; nr < MANY;) {
		ssize_t sent = sley_submit_many(pool, batch.requests + nr,
						batch.specs + nr, MANY - nr);

		CHECK(sent > 0 || sent == -EAGAIN);
		if (sent > 0)
			nr += (size_t)sent;
		else
			CHECK_EQ(sley_sleep(10000), 0);
	}
	batch_wait(&batch, 0, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_EQ(keeper_ended(keeper, i), 1);
	client_close(client, pool);
}

/* ---- payloads -------------------------------------------------------------------------- */

static void fill(struct sley_pool *pool, size_t in_size, size_t out_size,
		 unsigned char byte)
{
	unsigned char *in = malloc(in_size + 1), *out = malloc(out_size + 1);
	size_t size = 12345;
	int code;

	memset(in, byte, in_size);
	memset(out, 0xee, out_size + 1);
	while ((code = sley_pool_call(pool,
				      SLEY_REQUEST(.method = WORK_FILL,
						   .in = in, .in_size = in_size,
						   .out = out,
						   .out_size = out_size),
				      &size)) == -EAGAIN)
		CHECK_EQ(sley_sleep(100000), 0); /* others have all segments */
	CHECK_EQ(code, 0);
	CHECK_EQ(size, out_size);
	if (out_size) {
		CHECK_EQ(out[0], in_size ? byte : 0);
		CHECK_EQ(memcmp(out, out + 1, out_size - 1), 0);
	}
	CHECK_EQ(out[out_size], 0xee);
	free(in);
	free(out);
}

CLIENT_TEST(c37_payloads_of_a_slot_and_of_one_byte_more)
{
	static const size_t sizes[] = { 0,    1,     63,   64,   959,
					960,  961,   1023, 1024, 1025,
					4096, 65536, 65537 };
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++)
			fill(pool, sizes[i], sizes[j],
			     (unsigned char)(1 + i * 16 + j));
	}
	CHECK_EQ(client_info(client).slot_size, 1024);
	client_close(client, pool);
}

CLIENT_TEST(c37_payloads_far_beyond_the_ring)
{
	size_t big = test_is_slow() || sley_current() ? 3u << 20 : 200u << 20;
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	fill(pool, big, 8, 7);
	CHECK_GE(client_info(client).segment_bytes, big);
	fill(pool, 8, big, 9);
	/* The same segment served both. */
	CHECK_EQ(client_info(client).nr_segments, 1);
	client_close(client, pool);
}

CLIENT_TEST(c37_payloads_beyond_the_limit_are_refused)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	unsigned char byte = 0;

	CHECK_EQ(sley_submit(pool, &request,
			     SLEY_REQUEST(.method = WORK_FILL, .out = &byte,
					  .out_size = KEEPER_SEGMENTS + 1)),
		 -EMSGSIZE);
	CHECK_EQ(sley_submit(pool, &request,
			     SLEY_REQUEST(.method = WORK_FILL, .out = &byte,
					  .out_size = (2ull << 30))),
		 -EMSGSIZE);
	CHECK_EQ(sley_submit_and_forget(
			 pool, SLEY_REQUEST(.method = WORK_FILL, .in = &byte,
					    .in_size = 2ull << 30)),
		 -EMSGSIZE);
	CHECK_EQ(work_echo(pool, 5), 0);
	client_close(client, pool);
}

/* ---- segments -------------------------------------------------------------------------- */

struct grower {
	struct sley_task task;
	struct sley_pool *pool;
	unsigned int seed;
	int rounds;
};

static void grow(void *arg)
{
	struct grower *grower = arg;

	for (int i = 0; i < grower->rounds; i++) {
		size_t size = (size_t)(grower->seed * 7919u +
				       (unsigned int)i * 104729u) %
			      (400u << 10);

		fill(grower->pool, size, (size * 3) % (300u << 10),
		     (unsigned char)(grower->seed + (unsigned int)i));
	}
}

static void *grow_in_thread(void *grower)
{
	grow(grower);
	return NULL;
}

TEST(c39_segments_grow_while_other_threads_allocate)
{
	struct grower growers[4];
	pthread_t thread[4];
	struct sley_client *client;
	struct sley_pool *pool;
	struct keeper keeper;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	for (unsigned int i = 0; i < 4; i++) {
		growers[i] = (struct grower){ .pool = pool,
					      .seed = i + 1,
					      .rounds = test_scale(40) };
		thread[i] = test_thread(grow_in_thread, &growers[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK_LE(client_info(client).segment_bytes, KEEPER_SEGMENTS);
	CHECK_LE(client_info(client).nr_segments, 64);
	client_close(client, pool);
	keeper_end(&keeper);
}

static void grow_in_tasks(void *arg)
{
	struct sley_client *client = client_open(arg);
	struct sley_pool *pool = work_pool(client);
	struct grower growers[4];
	struct sley_group group = SLEY_GROUP_INIT;

	for (unsigned int i = 0; i < 4; i++) {
		growers[i] = (struct grower){ .pool = pool,
					      .seed = i + 1,
					      .rounds = test_scale(20) };
		sley_spawn(&group, &growers[i].task, grow, &growers[i]);
	}
	sley_join(&group);
	client_close(client, pool);
}

TEST_WORKERS(c39_segments_grow_while_other_tasks_allocate)
{
	struct keeper keeper;

	keeper_begin(&keeper);
	CHECK_EQ(sley_run(test_config(), grow_in_tasks, &keeper), 0);
	keeper_end(&keeper);
}

static void *wait_there(void *request)
{
	CHECK_EQ(sley_request_wait(request), 0);
	return NULL;
}

/* The thread that collects gives the segment back, whichever thread has asked for it. */
TEST(c39_a_segment_is_freed_by_another_thread)
{
	static unsigned char in[100000], out[100000];
	struct sley_request request;
	struct sley_client *client;
	struct sley_pool *pool;
	struct keeper keeper;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		CHECK_EQ(sley_submit(pool, &request,
				     SLEY_REQUEST(.method = WORK_FILL, .in = in,
						  .in_size = sizeof(in),
						  .out = out,
						  .out_size = sizeof(out))),
			 0);
		thread = test_thread(wait_there, &request);
		pthread_join(thread, NULL);
		CHECK_EQ(sley_request_code(&request), 0);
		CHECK_EQ(client_info(client).nr_segments, 1);
	}
	client_close(client, pool);
	keeper_end(&keeper);
}

static void make_room(struct keeper *keeper)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	for (size_t size = 1u << 20; size <= 300u << 20; size *= 2) {
		static unsigned char byte;
		unsigned char *out = malloc(size);
		struct sley_request request;

		/* Only the ends are looked at: this is about the segments. */
		CHECK_EQ(sley_submit(pool, &request,
				     SLEY_REQUEST(.method = WORK_ECHO,
						  .in = &byte, .in_size = 1,
						  .out = out,
						  .out_size = size)),
			 0);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), 0);
		CHECK_LE(client_info(client).segment_bytes, KEEPER_SEGMENTS);
		free(out);
	}
	client_close(client, pool);
}

TEST(c39_segments_that_are_too_small_make_room)
{
	keeper_run(make_room, false);
}

/* ---- back-pressure --------------------------------------------------------------------- */

#define NR_CALLS 1000

CLIENT_TEST(rc3_a_ring_of_two_and_a_thousand_calls_before_the_first_wait)
{
	struct sley_request *requests = calloc(NR_CALLS, sizeof(*requests));
	struct sley_client_options options = quiet_options(keeper);
	struct sley_client *client;
	struct sley_pool *pool;
	uint32_t item[NR_CALLS];

	options.depth = 2;
	client = client_with(&options);
	pool = work_pool(client);
	CHECK_EQ(client_info(client).depth, 2);
	for (uint32_t i = 0; i < NR_CALLS; i++) {
		struct sley_request_spec spec = work_on(WORK_COUNT, &item[i]);
		int err;

		item[i] = i;
		while ((err = sley_submit(pool, &requests[i], &spec)) ==
		       -EAGAIN)
			CHECK_EQ(sley_sleep(1000), 0);
		CHECK_EQ(err, 0);
	}
	for (uint32_t i = 0; i < NR_CALLS; i++) {
		CHECK_EQ(sley_request_wait(&requests[i]), 0);
		CHECK_EQ(sley_request_code(&requests[i]), 0);
		CHECK_EQ(keeper_ended(keeper, i), 1);
	}
	client_close(client, pool);
	free(requests);
}

/* Many callers, few slots: each call waits for room by itself. */
static void *call_often(void *pool)
{
	for (uint64_t i = 0; i < 200; i++)
		CHECK_EQ(work_echo(pool, i), 0);
	return NULL;
}

TEST(calls_wait_for_a_slot_in_threads)
{
	struct sley_client_options options;
	struct sley_client *client;
	struct sley_pool *pool;
	struct keeper keeper;
	pthread_t thread[6];

	keeper_begin(&keeper);
	options = quiet_options(&keeper);
	options.depth = 2;
	client = client_with(&options);
	pool = work_pool(client);
	for (int i = 0; i < 6; i++)
		thread[i] = test_thread(call_often, pool);
	for (int i = 0; i < 6; i++)
		pthread_join(thread[i], NULL);
	client_close(client, pool);
	keeper_end(&keeper);
}

static void call_as_task(void *pool)
{
	(void)call_often(pool);
}

static void call_in_tasks(void *keeper)
{
	struct sley_client_options options = quiet_options(keeper);
	struct sley_client *client;
	struct sley_task task[6];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_pool *pool;

	options.depth = 2;
	client = client_with(&options);
	pool = work_pool(client);
	for (int i = 0; i < 6; i++)
		sley_spawn(&group, &task[i], call_as_task, pool);
	sley_join(&group);
	client_close(client, pool);
}

TEST_WORKERS(calls_wait_for_a_slot_in_tasks)
{
	struct keeper keeper;

	keeper_begin(&keeper);
	CHECK_EQ(sley_run(test_config(), call_in_tasks, &keeper), 0);
	keeper_end(&keeper);
}

/* ---- in the same process --------------------------------------------------------------- */

/* A program may be its own daemon; with one thread, too. */
static void serve_itself(void *arg)
{
	struct keeper *keeper = arg;
	struct sley_router *router = NULL;
	struct sley_server *server = NULL;
	struct sley_pool *local = NULL, *pool;
	struct sley_client *client;
	char path[100];

	snprintf(path, sizeof(path), "%s/own", keeper->folder);
	CHECK_EQ(sley_router_create(sley_current(), &router, NULL), 0);
	CHECK_EQ(sley_router_add(router, &work_module), 0);
	CHECK_EQ(sley_pool_open(router, &local, "work",
				SLEY_POOL_OPTIONS(.module = "work")),
		 0);
	CHECK_EQ(sley_server_create(router, &server,
				    SLEY_SERVER_OPTIONS(.socket = path)),
		 0);
	client = client_with(SLEY_CLIENT_OPTIONS(.socket = path));
	pool = work_pool(client);
	for (uint64_t i = 0; i < 50; i++)
		CHECK_EQ(work_echo(pool, i), 0);
	fill(pool, 100000, 70000, 3);
	client_close(client, pool);
	sley_server_destroy(server);
	sley_pool_close(local);
	CHECK_EQ(sley_router_destroy(router), 0);
}

TEST_WORKERS(a_program_is_a_client_of_itself)
{
	struct keeper keeper;

	keeper_begin(&keeper);
	CHECK_EQ(sley_run(test_config(), serve_itself, &keeper), 0);
	keeper_end(&keeper);
}
