/* SPDX-License-Identifier: MIT */
/*
 * stream_stress.c - many connections that end in every way at any moment.
 *
 * Clients ask, leave in the middle of a question or of an answer, reset, are cancelled,
 * or wait too short; the server has a limit, and is closed or cancelled while all of
 * that goes on.  An answer that comes is right.  In the end no descriptor and no memory
 * is left: the fixture counts.
 */
#include <stdio.h>
#include <sys/uio.h>

#include "stress/stress.h"

enum { NR_CLIENTS = 12, QUESTION_MAX = 40000 };

struct match {
	struct sley_listener listener;
	char address[SLEY_ADDRESS_TEXT];
	struct sley_group group;
	struct sley_task server;
	struct sley_task client[NR_CLIENTS];
	struct sley_serve_options options;
};

/* ---- the server: a number of bytes, as a line, and the bytes ----------------------------- */

static int answer(struct sley_stream *stream, void *arg)
{
	const char *line;
	ssize_t n;

	(void)arg;
	while ((n = sley_stream_find(stream, &line, "\n", 1)) > 0) {
		size_t left = (size_t)strtoul(line, NULL, 10);

		sley_stream_consume(stream, (size_t)n);
		if (one_in(2))
			sley_stream_cork(stream);
		for (; left; left -= (size_t)n) {
			n = sley_stream_peek(stream, &line, 1);
			if (n <= 0)
				return n ? (int)n : -ENODATA;
			if ((size_t)n > left)
				n = (ssize_t)left;
			if (sley_stream_write(stream, line, (size_t)n) != n)
				return -EPIPE;
			sley_stream_consume(stream, (size_t)n);
		}
		n = sley_stream_uncork(stream);
		if (n || one_in(20))
			return n ? (int)n : one_in(2) ? -EIO : 0;
	}
	return (int)n;
}

static void serve(void *arg)
{
	struct match *match = arg;
	int err = sley_listener_serve(&match->listener, answer, NULL,
				      &match->options);

	CHECK(err == 0 || err == -ECANCELED);
}

/* ---- clients -------------------------------------------------------------------------- */

struct question {
	struct sley_stream stream;
	struct sley_group group;
	struct sley_task task;
	char data[QUESTION_MAX];
	size_t size;
	char back[QUESTION_MAX];
};

static void write_question(void *arg)
{
	struct question *question = arg;
	char line[16];
	int n = snprintf(line, sizeof(line), "%zu\n", question->size);
	const struct iovec parts[2] = { { line, (size_t)n },
					{ question->data, question->size } };

	(void)!sley_stream_writev_until(&question->stream, parts, 2,
					one_in(8) ? soon() : SLEY_FOREVER);
}

/* False: the connection is of no more use. */
static bool ask(struct question *question)
{
	size_t size = 1 + test_random(one_in(4) ? QUESTION_MAX : 100);
	ssize_t n;

	question->size = size;
	for (size_t i = 0; i < size; i++)
		question->data[i] = (char)(i * 31 + size);
	sley_spawn(&question->group, &question->task, write_question, question);
	n = sley_stream_read_exactly_until(&question->stream, question->back,
					   size,
					   one_in(8) ? soon() : SLEY_FOREVER);
	if (n != (ssize_t)size)
		sley_cancel(&question->task);
	sley_join(&question->group);
	if (n > 0)
		CHECK_EQ(memcmp(question->back, question->data, (size_t)n), 0);
	test_count(n == (ssize_t)size);
	return n == (ssize_t)size;
}

static void be_client(void *arg)
{
	struct match *match = arg;
	struct question *question = calloc(1, sizeof(*question));

	CHECK(question != NULL);
	while (!sley_cancelled() &&
	       sley_stream_connect(&question->stream, match->address) == 0) {
		while (ask(question) && !one_in(6))
			;
		if (one_in(3))
			sley_stream_abort(&question->stream);
		else
			(void)sley_stream_close_until(&question->stream,
						      soon());
		if (one_in(10))
			break;
	}
	free(question);
}

/* ---- one match ------------------------------------------------------------------------ */

static void play(void)
{
	struct match *match = calloc(1, sizeof(*match));
	bool cancels = one_in(2);

	CHECK(match != NULL);
	match->options.size = sizeof(match->options);
	match->options.connections_max = one_in(2) ? 3 : 0;
	match->options.drain_ns = one_in(2) ? SLEY_MSEC : 0;
	CHECK_EQ(sley_listener_open(&match->listener, "127.0.0.1:0", NULL), 0);
	CHECK_GT(sley_listener_address(&match->listener, match->address,
				       sizeof(match->address)),
		 0);
	sley_spawn(&match->group, &match->server, serve, match);
	for (int i = 0; i < NR_CLIENTS; i++)
		sley_spawn(&match->group, &match->client[i], be_client, match);
	CHECK_EQ(sley_sleep(test_random(20) * SLEY_MSEC), 0);
	if (cancels)
		sley_cancel(&match->server);
	else
		CHECK_EQ(sley_listener_close(&match->listener), 0);
	for (int i = 0; i < NR_CLIENTS; i++)
		sley_cancel(&match->client[i]);
	sley_join(&match->group);
	if (cancels)
		CHECK_EQ(sley_listener_close(&match->listener), 0);
	free(match);
}

TEST(connections_end_in_every_way)
{
	struct sley_config config = stress_config();

	stress_play(&config, play);
}

TEST(connections_of_migratable_tasks_end_in_every_way)
{
	struct sley_config config = stress_config_migratable();

	stress_play(&config, play);
}

TEST(connections_of_one_worker_end_in_every_way)
{
	struct sley_config config = config_of(1);

	stress_play(&config, play);
}
