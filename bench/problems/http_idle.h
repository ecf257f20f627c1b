/* SPDX-License-Identifier: MIT */
/*
 * http_idle.h - row `http-idle`: connections that wait for their next request: what
 * each adds to the resident memory of the server, and how often a thread of the server
 * wakes up meanwhile.
 *
 * Each connection has made one request.  The kernel's memory for sockets is not
 * counted: it is the same for all servers.
 */
#ifndef BENCH_PROBLEMS_HTTP_IDLE_H
#define BENCH_PROBLEMS_HTTP_IDLE_H

#include "http_client.h"

#include <sys/resource.h>

#define HTTP_IDLE_CONNECTIONS 10000
#define HTTP_IDLE_QUICK 500
#define HTTP_IDLE_SPARE 200 /* descriptors for everything else */

/* Longer than the row takes: no server closes a connection for being idle. */
#define HTTP_IDLE_SECONDS 600

/* Lets this process and the server have @nr connections, or skips the row. */
static inline void http_need_files(const struct measure *m, rlim_t nr)
{
	struct rlimit limit;

	MEASURE_CHECK(m, getrlimit(RLIMIT_NOFILE, &limit) == 0);
	if (limit.rlim_cur >= nr)
		return;
	if (limit.rlim_max < nr)
		limit.rlim_max = nr; /* for root */
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
		fprintf(stderr,
			"%s: needs %llu open files: raise the hard limit "
			"(ulimit -Hn)\n",
			m->row, (unsigned long long)nr);
		exit(MEASURE_SKIP);
	}
}

static inline int http_idle_connect(const struct http_server *server)
{
	struct http_reply reply;
	int fd = http_connect(server);

	MEASURE_CHECK(server->m, fd >= 0);
	http_send(server, fd, "/");
	http_receive(server, fd, &reply);
	MEASURE_CHECK(server->m, reply.body_size == sizeof(HTTP_BODY) - 1);
	return fd;
}

/* No server has closed a connection meanwhile. */
static inline void http_idle_check(const struct http_server *server,
				   const int *fds, int nr)
{
	for (int i = 0; i < nr; i++) {
		char c;

		MEASURE_CHECK(server->m, recv(fds[i], &c, 1, MSG_DONTWAIT) < 0);
	}
}

static inline void http_idle(const struct measure *m, http_serve_fn *serve)
{
	static int fds[HTTP_IDLE_CONNECTIONS];
	int nr = m->quick ? HTTP_IDLE_QUICK : HTTP_IDLE_CONNECTIONS;
	uint64_t idle_ns = m->quick ? 300000000u : 10000000000u;
	struct http_server server;
	uint64_t resident, sleeps;

	http_need_files(m, HTTP_IDLE_SPARE + (rlim_t)nr);
	http_prepare(&server, m);
	http_start(&server, serve, -1);
	close(http_idle_connect(&server)); /* warm */
	resident = http_sum(&server, http_resident_of);
	for (int i = 0; i < nr; i++)
		fds[i] = http_idle_connect(&server);
	measure_sleep_until(measure_now() + 200000000); /* all wait by now */
	measure_report("bytes", ((double)http_sum(&server, http_resident_of) -
				 (double)resident) /
					nr);
	sleeps = http_sum(&server, http_sleeps_of);
	measure_sleep_until(measure_now() + idle_ns);
	measure_report("sleeps",
		       (double)(http_sum(&server, http_sleeps_of) - sleeps));
	http_idle_check(&server, fds, nr);
	http_stop(&server);
}

#endif
