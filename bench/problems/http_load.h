/* SPDX-License-Identifier: MIT */
/*
 * http_load.h - wrk as the load of the rows `http-...`, and the CPU time of the server
 * for each request.
 *
 * The server runs on CPU 0, wrk on CPU 1: with one core each, wrk is the limit of
 * requests a second, so the CPU time of the server is the figure that separates
 * servers.
 *
 * All servers answer with the same body and the same set of header fields, which is
 * checked before each load.
 */
#ifndef BENCH_PROBLEMS_HTTP_LOAD_H
#define BENCH_PROBLEMS_HTTP_LOAD_H

#include "http_client.h"

#define HTTP_CONNECTIONS 64

/* The path of the script that makes wrk pipeline; set by the build. */
#ifndef HTTP_PIPELINE_SCRIPT
#define HTTP_PIPELINE_SCRIPT "pipeline.lua"
#endif

/* The set of fields that each answer has; an answer with a file has three more. */
#define HTTP_FIELDS                                                            \
	"Server", "Date", "Content-Type", "Content-Length", "Connection"
#define HTTP_FILE_FIELDS HTTP_FIELDS, "Last-Modified", "ETag", "Accept-Ranges"

/* ---- the load ------------------------------------------------------------------------ */

struct http_figures {
	double requests;
	double per_second;
	double p99_ns;
	double errors;
};

/* "1.23ms" in nanoseconds. */
static inline double http_duration(const char *text)
{
	char *unit;
	double value = strtod(text, &unit);

	if (strncmp(unit, "us", 2) == 0)
		return value * 1e3;
	return value * (strncmp(unit, "ms", 2) == 0 ? 1e6 : 1e9);
}

static inline void http_read_wrk(FILE *wrk, struct http_figures *figures)
{
	char line[256];

	while (fgets(line, sizeof(line), wrk)) {
		const char *at = line + strspn(line, " ");

		if (strstr(at, "requests in"))
			figures->requests = atof(at);
		else if (strncmp(at, "Requests/sec:", 13) == 0)
			figures->per_second = atof(at + 13);
		else if (strncmp(at, "99%", 3) == 0)
			figures->p99_ns =
				http_duration(at + 3 + strspn(at + 3, " "));
		else if (strncmp(at, "Non-2xx", 7) == 0 ||
			 strncmp(at, "Socket errors", 13) == 0)
			figures->errors = 1;
	}
}

/* Lets wrk ask for @path, and waits for it.  @script: a script for wrk, or NULL. */
static inline void http_load(const struct http_server *server, int connections,
			     int seconds, const char *script, const char *path,
			     struct http_figures *figures)
{
	char command[512];
	FILE *wrk;

	*figures = (struct http_figures){ 0 };
	snprintf(command, sizeof(command),
		 "taskset -c 1 wrk -t1 -c%d -d%ds --latency %s %s "
		 "http://127.0.0.1:%d%s 2>&1",
		 connections, seconds, script ? "-s" : "", script ? script : "",
		 server->port, path);
	wrk = popen(command, "r");
	MEASURE_CHECK(server->m, wrk != NULL);
	http_read_wrk(wrk, figures);
	MEASURE_CHECK(server->m, pclose(wrk) == 0);
	MEASURE_CHECK(server->m, figures->requests > 0 && !figures->errors);
}

static inline void http_need_wrk(const struct measure *m)
{
	if (system("command -v wrk >/dev/null 2>&1") != 0) {
		fprintf(stderr, "%s: needs wrk\n", m->row);
		exit(MEASURE_SKIP);
	}
}

/* ---- http-hello ----------------------------------------------------------------------- */

/* The row http-hello, against @serve: both kinds of load. */
static inline void http_hello(const struct measure *m, http_serve_fn *serve)
{
	static const char *const fields[] = { HTTP_FIELDS, NULL };
	int seconds = m->quick ? 1 : 3;
	struct http_figures figures;
	struct http_server server;
	uint64_t cpu, used;

	http_need_wrk(m);
	http_prepare(&server, m);
	http_start(&server, serve, 0);
	http_check_answer(&server, "/", sizeof(HTTP_BODY) - 1, fields);
	if (!m->quick) /* warm */
		http_load(&server, HTTP_CONNECTIONS, 1, NULL, "/", &figures);
	cpu = http_sum(&server, http_cpu_of);
	http_load(&server, HTTP_CONNECTIONS, seconds, NULL, "/", &figures);
	used = http_sum(&server, http_cpu_of) - cpu;
	measure_report("ns", (double)used / figures.requests);
	measure_report("wall_ns", 1e9 / figures.per_second);
	/* One CPU: a server cannot use more time than passes. */
	MEASURE_CHECK(m, (double)used / figures.requests <
				 1.1 * 1e9 / figures.per_second);
	measure_report("p99_ns", figures.p99_ns);
	cpu = http_sum(&server, http_cpu_of);
	http_load(&server, HTTP_CONNECTIONS, seconds, HTTP_PIPELINE_SCRIPT, "/",
		  &figures);
	measure_report("pipelined_ns",
		       (double)(http_sum(&server, http_cpu_of) - cpu) /
			       figures.requests);
	http_stop(&server);
}

#endif
