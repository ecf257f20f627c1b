/* SPDX-License-Identifier: MIT */
/*
 * http_file.h - row `http-file`: the CPU time of a server for each file that it sends,
 * of 4 KiB and of 1 MiB.
 *
 * The files are in the folder of the server, and in the page cache.
 */
#ifndef BENCH_PROBLEMS_HTTP_FILE_H
#define BENCH_PROBLEMS_HTTP_FILE_H

#include "http_load.h"

#define HTTP_FILE_QUICK 20

static inline void http_make_file(const struct http_server *server,
				  const char *name, size_t size)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", server->dir, name);
	file = fopen(path, "w");
	MEASURE_CHECK(server->m, file != NULL);
	for (size_t i = 0; i < size; i++)
		fputc('a' + (int)(i % 26), file);
	MEASURE_CHECK(server->m, fclose(file) == 0 && chmod(path, 0644) == 0);
}

/* Asks for @name a few times; returns how often. */
static inline double http_file_ask(const struct http_server *server,
				   const char *name, size_t size)
{
	struct http_reply reply;
	int fd = http_connect(server);

	MEASURE_CHECK(server->m, fd >= 0);
	for (int i = 0; i < HTTP_FILE_QUICK; i++) {
		http_send(server, fd, name);
		http_receive(server, fd, &reply);
		MEASURE_CHECK(server->m, reply.body_size == size);
	}
	close(fd);
	return HTTP_FILE_QUICK;
}

static inline void http_file_load(const struct http_server *server,
				  const char *name, size_t size,
				  const char *metric)
{
	static const char *const fields[] = { HTTP_FILE_FIELDS, NULL };
	struct http_figures figures;
	uint64_t cpu;

	http_check_answer(server, name, size, fields);
	if (!server->m->quick) /* warm */
		http_load(server, HTTP_CONNECTIONS, 1, NULL, name, &figures);
	cpu = http_sum(server, http_cpu_of);
	if (server->m->quick)
		figures.requests = http_file_ask(server, name, size);
	else
		http_load(server, HTTP_CONNECTIONS, 3, NULL, name, &figures);
	measure_report(metric, (double)(http_sum(server, http_cpu_of) - cpu) /
				       figures.requests);
}

static inline void http_file(const struct measure *m, http_serve_fn *serve)
{
	struct http_server server;

	http_need_wrk(m);
	http_prepare(&server, m);
	http_make_file(&server, "/4k", 4096);
	http_make_file(&server, "/1m", 1 << 20);
	http_start(&server, serve, 0);
	http_file_load(&server, "/4k", 4096, "4k_ns");
	http_file_load(&server, "/1m", 1 << 20, "1m_ns");
	http_stop(&server);
}

#endif
