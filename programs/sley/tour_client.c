/* SPDX-License-Identifier: MIT */
/*
 * tour_client.c - "sley tour --client SOCKET": a client for the stop of tour_daemon.c.
 *
 * A process without a runtime and without threads.  It writes to a pool of the daemon as
 * fast as it can, until its input ends.  Each time a daemon has answered NR_UNDER_WAY
 * requests of it, the first daemon and each that follows, it prints a line.  The last line
 * has three numbers: requests that were acknowledged, that were answered, and that failed.
 *
 * To write a value twice does no harm, so the requests are marked as idempotent: whatever
 * happens to a daemon, each of them succeeds.
 */
#include "tour.h"

#include <poll.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NR_AT_ONCE 64
#define NR_KEYS 1000
#define NR_UNDER_WAY 1000
#define PATIENCE (20 * SLEY_SEC)

struct count {
	uint64_t acknowledged, answered, failed;
};

struct put {
	struct sley_request request;
	struct {
		struct sley_kv_request head;
		uint64_t key;
		uint64_t value;
	} in;
};

static int submit(struct sley_pool *pool, struct put *put, uint64_t number)
{
	put->in.head =
		(struct sley_kv_request){ .key_size = sizeof(put->in.key),
					  .value_size = sizeof(put->in.value) };
	put->in.key = number % NR_KEYS;
	put->in.value = number;
	return sley_submit(
		pool, &put->request,
		SLEY_REQUEST(.method = SLEY_KV_SET,
			     .query = sley_query_dynamic(), .in = &put->in,
			     .in_size = sizeof(put->in), .idempotent = true));
}

static int await(struct put *put, struct count *count)
{
	int err = sley_request_wait(&put->request);

	if (err)
		return err;
	count->answered++;
	count->failed += sley_request_code(&put->request) != 0;
	return 0;
}

/* As many requests at once as there are places. */
static int submit_round(struct sley_pool *pool, struct put *puts,
			struct count *count)
{
	int nr = 0, err = 0;

	while (nr < NR_AT_ONCE && !err) {
		err = submit(pool, &puts[nr], count->acknowledged);
		count->acknowledged += !err;
		nr += !err;
	}
	for (int i = 0; i < nr; i++) {
		int wait_err = await(&puts[i], count);

		err = err ? err : wait_err;
	}
	return err;
}

static bool input_has_ended(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

/* A line for each daemon that has served the client. */
static void say_progress(struct sley_client *client, const struct count *count)
{
	static uint64_t nr_said, next;
	struct sley_client_info info = { .size = sizeof(info) };

	if (sley_client_inspect(client, &info) || info.nr_connects == nr_said)
		return;
	if (!next)
		next = count->answered + NR_UNDER_WAY;
	if (count->answered < next)
		return;
	next = 0;
	nr_said = info.nr_connects;
	puts("under way");
	(void)fflush(stdout);
}

static int write_and_count(struct sley_client *client, struct sley_pool *pool)
{
	struct put *puts = tour_alloc(NR_AT_ONCE, sizeof(*puts));
	struct count count = { 0 };
	int err = 0;

	while (!err && !input_has_ended()) {
		err = submit_round(pool, puts, &count);
		say_progress(client, &count);
	}
	printf("%llu %llu %llu\n", (unsigned long long)count.acknowledged,
	       (unsigned long long)count.answered,
	       (unsigned long long)count.failed);
	free(puts);
	return err;
}

int tour_be_client(const char *socket)
{
	struct sley_client *client;
	struct sley_pool *pool;
	int err = sley_client_open(
		&client,
		SLEY_CLIENT_OPTIONS(.socket = socket, .connect_ns = PATIENCE,
				    .reconnect_ns = PATIENCE));

	if (err)
		return err;
	err = sley_client_pool_open(client, &pool, "tour", NULL);
	if (!err) {
		err = write_and_count(client, pool);
		sley_pool_close(pool);
	}
	(void)!sley_client_close(client);
	return err;
}
