/* SPDX-License-Identifier: MIT */
/*
 * http_rows.h - the main function of a program that is a server in rows `http-...`.
 */
#ifndef BENCH_PROBLEMS_HTTP_ROWS_H
#define BENCH_PROBLEMS_HTTP_ROWS_H

#include "http_file.h"
#include "http_idle.h"

static http_serve_fn *http_serve;

static inline void http_row_hello(const struct measure *m)
{
	http_hello(m, http_serve);
}

static inline void http_row_file(const struct measure *m)
{
	http_file(m, http_serve);
}

static inline void http_row_idle(const struct measure *m)
{
	http_idle(m, http_serve);
}

/* Which row it is: a server of files, or of HTTP_BODY? */
static inline bool http_wants_files(const struct http_server *server)
{
	return strcmp(server->m->row, "http-file") == 0;
}

static inline int http_main(int argc, char **argv, http_serve_fn *serve)
{
	static const struct measure_row rows[] = {
		{ "http-hello", http_row_hello },
		{ "http-file", http_row_file },
		{ "http-idle", http_row_idle },
	};

	http_serve = serve;
	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}

#endif
