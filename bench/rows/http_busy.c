/* SPDX-License-Identifier: MIT */
/*
 * http_busy.c - row `http-busy`: requests to a runtime with two workers, whose tasks
 * may resume on any worker, while a task holds one of the workers and never yields.
 *
 * The row `http-busy-thread` is the reference: the same computation on a thread of its
 * own, beside two free workers.
 */
#include "../problems/http_busy.h"

#include <pthread.h>
#include <sley/http.h>
#include <sley/sley.h>

static struct http_busy_span *span;
static uint64_t hold_ns;
static bool by_thread;

static void *hold_thread(void *arg)
{
	(void)arg;
	http_busy_hold(span, hold_ns);
	return NULL;
}

static int answer(struct sley_http_request *request,
		  struct sley_http_response *response, void *arg)
{
	pthread_t thread;

	(void)arg;
	if (request->path.size > 1) { /* "/hold" */
		if (!by_thread)
			http_busy_hold(span, hold_ns);
		else if (pthread_create(&thread, NULL, hold_thread, NULL) ||
			 pthread_detach(thread))
			return -EAGAIN;
	}
	return sley_http_respond(response, 200, "text/plain", HTTP_BODY,
				 sizeof(HTTP_BODY) - 1);
}

static void run_server(void *arg)
{
	static struct sley_http_server server;
	char address[32];
	int err;

	snprintf(address, sizeof(address), "127.0.0.1:%d", *(int *)arg);
	err = sley_http_server_open(&server, address, answer, NULL, NULL);
	if (!err)
		err = sley_http_server_run(&server);
	fprintf(stderr, "sley: %s\n", sley_strerror(err));
	_exit(1);
}

static void serve(const struct http_server *server)
{
	int port = server->port;

	(void)!sley_run(SLEY_CONFIG(.workers = server->m->workers,
				    .migratable = true),
			run_server, &port);
}

static void run(const struct measure *m, bool thread)
{
	static struct http_busy busy;
	struct http_server server;

	by_thread = thread;
	hold_ns = m->quick ? 200000000u : 1000000000u;
	busy.server = &server;
	busy.span = span = http_busy_span(m);
	http_prepare(&server, m);
	http_start(&server, serve, -1);
	http_busy(&busy, hold_ns);
	http_stop(&server);
}

static void run_task(const struct measure *m)
{
	run(m, false);
}

static void run_thread(const struct measure *m)
{
	run(m, true);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "http-busy", run_task },
		{ "http-busy-thread", run_thread },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
