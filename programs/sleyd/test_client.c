/* SPDX-License-Identifier: MIT */
/*
 * test_client.c - a client for test.py that works until its standard input ends.
 *
 * Each request echoes its number.  A request that fails, or has another answer, ends the
 * program with status 1.  With an argument requests are marked .idempotent, so that they
 * survive a daemon that is killed.
 */
#include <poll.h>
#include <sley/client.h>
#include <sley/error.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BATCH 16 /* requests under way */

static bool is_over(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) != 0;
}

/* 0, or 1: a line says what is wrong. */
static int check(struct sley_request *request, uint64_t sent,
		 const uint64_t *answer)
{
	int code = sley_request_wait(request);

	if (!code)
		code = sley_request_code(request);
	if (!code && *answer == sent)
		return 0;
	fprintf(stderr, "request %llu: %s, answer %llu\n",
		(unsigned long long)sent, sley_strerror(code),
		(unsigned long long)*answer);
	return 1;
}

static int work(struct sley_pool *pool, bool idempotent, uint64_t *nr)
{
	struct sley_request request[BATCH];
	uint64_t in[BATCH], out[BATCH];
	int failed = 0;

	for (int i = 0; i < BATCH; i++) {
		int err;

		in[i] = (*nr)++;
		err = sley_submit(pool, &request[i],
				  SLEY_REQUEST(.in = &in[i], .in_size = 8,
					       .out = &out[i], .out_size = 8,
					       .idempotent = idempotent));
		if (err) {
			fprintf(stderr, "submit: %s\n", sley_strerror(err));
			return 1;
		}
	}
	for (int i = 0; i < BATCH; i++)
		failed |= check(&request[i], in[i], &out[i]);
	return failed;
}

int main(int argc, char **argv)
{
	struct sley_client *client;
	struct sley_pool *pool;
	uint64_t nr = 0;
	int failed = 0;

	(void)argv;
	if (sley_client_open(&client, NULL) ||
	    sley_client_pool_open(client, &pool, "t", NULL))
		return 2;
	while (!failed && !is_over()) {
		failed = work(pool, argc > 1, &nr);
		if (nr == BATCH && !failed) {
			puts("working");
			fflush(stdout);
		}
	}
	sley_pool_close(pool);
	printf("%llu\n", (unsigned long long)nr);
	return sley_client_close(client) || failed;
}
