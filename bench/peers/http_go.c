/* SPDX-License-Identifier: MIT */
/*
 * http_go.c - the peer Go, net/http, with one thread for goroutines: starts the
 * program `go` beside this one as the server.
 */
#include "../problems/http_load.h"

static char program[4096];

static void serve(int port, const struct measure *m)
{
	char text[16];

	(void)m;
	snprintf(text, sizeof(text), "%d", port);
	execl(program, "go", "http-serve", text, (char *)NULL);
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
	const char *slash = strrchr(argv[0], '/');
	int length = slash ? (int)(slash - argv[0]) : 1;

	snprintf(program, sizeof(program), "%.*s/go", length,
		 slash ? argv[0] : ".");
	if (access(program, X_OK) != 0)
		return MEASURE_SKIP;
	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
