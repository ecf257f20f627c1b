/* SPDX-License-Identifier: MIT */
/*
 * http_go.c - the peer Go, net/http, with one thread for goroutines: starts the
 * program `go` beside this one as the server.
 */
#include "../problems/http_rows.h"

static char program[4096];

static void serve(const struct http_server *server)
{
	char port[16];

	snprintf(port, sizeof(port), "%d", server->port);
	execl(program, "go", "http-serve", port,
	      http_wants_files(server) ? server->dir : (char *)NULL,
	      (char *)NULL);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	int length = slash ? (int)(slash - argv[0]) : 1;

	snprintf(program, sizeof(program), "%.*s/go", length,
		 slash ? argv[0] : ".");
	if (access(program, X_OK) != 0)
		return MEASURE_SKIP;
	return http_main(argc, argv, serve);
}
