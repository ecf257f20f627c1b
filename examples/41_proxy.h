/* SPDX-License-Identifier: MIT */
/*
 * 41_proxy.h - the other two sides of a proxy: a server behind it, and a client.
 */
#ifndef EXAMPLES_41_PROXY_H
#define EXAMPLES_41_PROXY_H

#include <sley/sley.h>

static struct sley_listener front, back; /* of the proxy, of the server */
static char back_at[SLEY_ADDRESS_TEXT];
static ssize_t answered;

static int answer(struct sley_stream *stream, void *arg)
{
	const char *line;
	ssize_t n = sley_stream_find(stream, &line, "\n", 1);

	(void)arg;
	return n == 6 && sley_stream_write(stream, line, 6) == 6 ? 0 : -1;
}

static void serve_back(void *arg)
{
	*(int *)arg = sley_listener_serve(&back, answer, NULL, NULL);
}

/* Ask the server by way of the proxy; then both end. */
static void try_it(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley_stream stream;
	char front_at[SLEY_ADDRESS_TEXT], data[8];
	int err = 0;

	(void)arg;
	sley_spawn(&group, &task, serve_back, &err);
	if (sley_listener_address(&front, front_at, sizeof(front_at)) > 0 &&
	    sley_stream_connect(&stream, front_at) == 0) {
		if (sley_stream_write(&stream, "hello\n", 6) == 6)
			answered = sley_stream_read_exactly(&stream, data, 8);
		sley_stream_close(&stream);
	}
	sley_listener_close(&front);
	sley_listener_close(&back);
	sley_join(&group);
}

#endif
