/* SPDX-License-Identifier: MIT */
/*
 * http.c - rows `http-...`: the server of <sley/http.h>, as users get it: its parser,
 * its limits and its deadlines are on.
 */
#include "../problems/http_load.h"

#include <sley/http.h>
#include <sley/sley.h>

static int hello(struct sley_http_request *request,
		 struct sley_http_response *response, void *arg)
{
	int err = sley_http_add(response, "Server", "sley");

	(void)request;
	(void)arg;
	if (err)
		return err;
	return sley_http_respond(response, 200, "text/plain", HTTP_BODY,
				 sizeof(HTTP_BODY) - 1);
}

static void run_server(void *arg)
{
	static struct sley_http_server server;
	char address[32];
	int err;

	snprintf(address, sizeof(address), "127.0.0.1:%d", *(int *)arg);
	err = sley_http_server_open(
		&server, address, hello, NULL,
		SLEY_HTTP_OPTIONS(.requests_max = SLEY_HTTP_NO_LIMIT));
	if (!err)
		err = sley_http_server_run(&server);
	fprintf(stderr, "sley: %s\n", sley_strerror(err));
	_exit(1);
}

static void serve(int port, const struct measure *m)
{
	(void)!sley_run(SLEY_CONFIG(.workers = m->workers), run_server, &port);
}

static void run_hello(const struct measure *m)
{
	http_hello(m, serve);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "http-hello", run_hello },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
