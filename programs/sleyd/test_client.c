/* SPDX-License-Identifier: MIT */
/*
 * test_client.c - a client for the tests that works until its standard input ends.
 *
 * Each request names itself in its IN part, and is answered with it.  A request that fails,
 * or has another answer, ends the program with status 1.  The last line is the number of
 * requests.  Arguments:
 *
 *   idempotent     marks requests so that they survive a daemon that is killed
 *   record         the module notes each run, see test_module.c
 *   unknown        an outcome that is unknown is a line, and no failure
 *   patience=MS    waits so long for the next daemon
 *   priority=N     only asks at which priority requests at N run: a line for each change
 */
#include <poll.h>
#include <sley/client.h>
#include <sley/error.h>
#include <sley/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 16      /* requests under way                 */
#define LARGE 100000u /* bytes: does not fit a slot          */
#define RECORD 4u     /* the method                         */
#define PRIORITY 6u   /* the same                           */

struct wishes {
	bool idempotent;
	bool record;
	bool unknown;
	const char *priority; /* or NULL */
	uint64_t patience_ns;
};

static bool is_over(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) != 0;
}

/* 0, or 1: a line says what is wrong. */
static int check(const struct wishes *wishes, struct sley_request *request,
		 uint64_t sent, const uint64_t *answer)
{
	int code = sley_request_wait(request);

	if (!code)
		code = sley_request_code(request);
	if (!code && *answer == sent)
		return 0;
	if (code == SLEY_EUNKNOWN && wishes->unknown)
		return printf("unknown %llu\n", (unsigned long long)sent) < 0;
	fprintf(stderr, "request %llu: %s, answer %llu\n",
		(unsigned long long)sent, sley_strerror(code),
		(unsigned long long)*answer);
	return 1;
}

static int work(struct sley_pool *pool, const struct wishes *wishes,
		uint64_t *next)
{
	struct sley_request request[BATCH];
	uint64_t in[BATCH], out[BATCH];
	int failed = 0;

	for (int i = 0; i < BATCH; i++) {
		int err;

		in[i] = (*next)++;
		err = sley_submit(
			pool, &request[i],
			SLEY_REQUEST(.method = wishes->record ? RECORD : 0,
				     .in = &in[i], .in_size = 8, .out = &out[i],
				     .out_size = 8,
				     .idempotent = wishes->idempotent));
		if (err) {
			fprintf(stderr, "submit: %s\n", sley_strerror(err));
			return 1;
		}
	}
	for (int i = 0; i < BATCH; i++)
		failed |= check(wishes, &request[i], in[i], &out[i]);
	return failed;
}

/* A request that needs a segment: 0, or 1. */
static int work_large(struct sley_pool *pool)
{
	static char in[LARGE], out[LARGE];
	size_t size = 0;
	int code;

	memset(in, 'x', sizeof(in));
	code = sley_pool_call(pool,
			      SLEY_REQUEST(.in = in, .in_size = sizeof(in),
					   .out = out, .out_size = sizeof(out)),
			      &size);
	if (!code && size == sizeof(out) && !memcmp(in, out, size))
		return 0;
	fprintf(stderr, "large request: %s\n", sley_strerror(code));
	return 1;
}

static void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

/* Asks until its input ends: 0, or 1. */
static int watch_priority(struct sley_pool *pool, const char *wish)
{
	char last[16] = "", now[16] = "";
	int32_t priority = (int32_t)strtol(wish, NULL, 10);

	say("working");
	while (!is_over()) {
		size_t size = 0;
		int code = sley_pool_call(
			pool,
			SLEY_REQUEST(.method = PRIORITY, .priority = priority,
				     .out = now, .out_size = sizeof(now) - 1),
			&size);

		if (code) {
			fprintf(stderr, "priority: %s\n", sley_strerror(code));
			return 1;
		}
		now[size] = 0;
		if (strcmp(now, last) != 0)
			say(now);
		memcpy(last, now, sizeof(last));
	}
	return 0;
}

static struct wishes wishes_of(int argc, char **argv)
{
	struct wishes wishes = { .idempotent = false };

	for (int i = 1; i < argc; i++) {
		wishes.idempotent |= !strcmp(argv[i], "idempotent");
		wishes.record |= !strcmp(argv[i], "record");
		wishes.unknown |= !strcmp(argv[i], "unknown");
		if (!strncmp(argv[i], "patience=", 9))
			wishes.patience_ns =
				strtoul(argv[i] + 9, NULL, 10) * SLEY_MSEC;
		if (!strncmp(argv[i], "priority=", 9))
			wishes.priority = argv[i] + 9;
	}
	return wishes;
}

int main(int argc, char **argv)
{
	struct wishes wishes = wishes_of(argc, argv);
	uint64_t first = (uint64_t)getpid() << 32, next = first;
	struct sley_client *client;
	struct sley_pool *pool;
	int failed;

	if (sley_client_open(&client,
			     SLEY_CLIENT_OPTIONS(.reconnect_ns =
							 wishes.patience_ns)) ||
	    sley_client_pool_open(client, &pool, "t", NULL))
		return 2;
	failed = wishes.priority ? watch_priority(pool, wishes.priority)
				 : work_large(pool);
	while (!failed && !is_over()) {
		failed = work(pool, &wishes, &next);
		if (next - first == BATCH && !failed)
			say("working");
	}
	sley_pool_close(pool);
	printf("%llu\n", (unsigned long long)(next - first));
	return sley_client_close(client) || failed;
}
