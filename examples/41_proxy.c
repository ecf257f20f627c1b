/* SPDX-License-Identifier: MIT */
/*
 * 41_proxy.c - a proxy with deadlines and a limit on connections.
 *   cc 41_proxy.c $(pkg-config --cflags --libs sley)
 */
#include "41_proxy.h"
#define IN_TIME sley_after(10 * SLEY_SEC)

struct way {
	struct sley_stream *from, *to;
};

static int copy(void *arg)
{
	struct way *way = arg;
	char data[8192];
	ssize_t n;

	while ((n = sley_stream_read_until(way->from, data, 8192, IN_TIME)) > 0)
		if (sley_stream_write_until(way->to, data, (size_t)n, IN_TIME) <
		    n)
			return -1;
	return n ? (int)n : sley_stream_shut(way->to);
}

/* A task for each direction; if one of them fails, both end. */
static int proxy(struct sley_stream *client, void *arg)
{
	struct sley_stream server;
	struct way there = { client, &server }, again = { &server, client };
	struct sley_scope scope;
	struct sley_task task[2];
	int err = sley_stream_connect_until(&server, arg, IN_TIME);

	if (err)
		return err;
	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task[0], copy, &there);
	sley_scope_spawn(&scope, &task[1], copy, &again);
	err = sley_scope_close(&scope);
	sley_stream_close(&server);
	return err;
}

static void root(void *arg)
{
	(void)arg;
	if (sley_listener_open(&front, "127.0.0.1:0", NULL) ||
	    sley_listener_open(&back, "127.0.0.1:0", NULL) ||
	    sley_listener_address(&back, back_at, sizeof(back_at)) < 0 ||
	    sley_schedule(try_it, NULL) ||
	    sley_listener_serve(&front, proxy, back_at,
				SLEY_SERVE_OPTIONS(.connections_max = 1000)))
		answered = 0;
}

int main(void)
{
	return sley_run(NULL, root, NULL) || answered != 6;
}
