/* SPDX-License-Identifier: MIT */
/*
 * 40_echo_server.c - a server that sends lines back, and a client to try it.
 *   cc 40_echo_server.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static struct sley_listener listener;

/* A task for each client. */
static int echo(struct sley_stream *stream, void *arg)
{
	const char *line;
	ssize_t n;

	(void)arg;
	while ((n = sley_stream_find(stream, &line, "\n", 1)) > 0) {
		if (sley_stream_write(stream, line, (size_t)n) < n)
			return -1;
		sley_stream_consume(stream, (size_t)n);
	}
	return (int)n;
}

static void ask(void *arg)
{
	struct sley_stream stream;
	char address[SLEY_ADDRESS_TEXT], answer[6];

	if (sley_listener_address(&listener, address, sizeof(address)) > 0 &&
	    sley_stream_connect(&stream, address) == 0) {
		if (sley_stream_write(&stream, "hello\n", 6) == 6)
			*(ssize_t *)arg =
				sley_stream_read_exactly(&stream, answer, 6);
		sley_stream_close(&stream);
	}
	sley_listener_close(&listener); /* the server ends */
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	if (sley_listener_open(&listener, "127.0.0.1:0", NULL))
		return;
	sley_spawn(&group, &task, ask, arg);
	if (sley_listener_serve(&listener, echo, NULL, NULL) == 0)
		printf("%zd bytes came back\n", *(ssize_t *)arg);
	sley_join(&group);
}

int main(void)
{
	ssize_t n = 0;

	return sley_run(NULL, root, &n) || n != 6;
}
