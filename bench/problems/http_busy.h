/* SPDX-License-Identifier: MIT */
/*
 * http_busy.h - row `http-busy`: how long requests take while something computes for a
 * second.
 *
 * The client sends at fixed times, 2,000 requests a second over 64 connections in
 * turn, whether or not earlier ones were answered.  The time of a request counts from
 * the time at which it should have been sent, so a client that was late itself, or
 * waited for a slow server, hides nothing.
 */
#ifndef BENCH_PROBLEMS_HTTP_BUSY_H
#define BENCH_PROBLEMS_HTTP_BUSY_H

#include "http_client.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>

#define HTTP_BUSY_CONNECTIONS 64
#define HTTP_BUSY_EACH_NS 500000u
#define HTTP_BUSY_LEAD 400 /* requests before, and after, the busy second */
#define HTTP_BUSY_MAX 4096 /* requests in all */

/* Memory that the client shares with the server: when something computed. */
struct http_busy_span {
	uint64_t from_ns, to_ns; /* 0: not yet */
};

/* Computes for @ns, and says when. */
static inline void http_busy_hold(struct http_busy_span *span, uint64_t ns)
{
	uint64_t start = measure_now(), now;

	__atomic_store_n(&span->from_ns, start, __ATOMIC_RELEASE);
	do {
		now = measure_now();
	} while (now - start < ns);
	__atomic_store_n(&span->to_ns, now, __ATOMIC_RELEASE);
}

struct http_busy {
	const struct http_server *server;
	struct http_busy_span *span;
	uint64_t start_ns; /* request i is due at start_ns + i * EACH_NS */
	uint32_t nr, nr_sent, nr_received;
	struct pollfd fds[HTTP_BUSY_CONNECTIONS];
	uint32_t next[HTTP_BUSY_CONNECTIONS]; /* the oldest without an answer */
	size_t seen[HTTP_BUSY_CONNECTIONS];   /* bytes of its answer */
	size_t answer_size;                   /* of each answer */
	uint64_t took_ns[HTTP_BUSY_MAX];
};

static inline uint64_t http_busy_due(const struct http_busy *busy, uint32_t i)
{
	return busy->start_ns + i * (uint64_t)HTTP_BUSY_EACH_NS;
}

/* Opens the connections.  All answers have the same size; the first one tells. */
static inline void http_busy_connect(struct http_busy *busy)
{
	const struct measure *m = busy->server->m;
	struct http_reply reply;

	for (uint32_t i = 0; i < HTTP_BUSY_CONNECTIONS; i++) {
		int fd = http_connect(busy->server);

		MEASURE_CHECK(m, fd >= 0);
		http_send(busy->server, fd, "/");
		http_receive(busy->server, fd, &reply);
		busy->fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
		busy->next[i] = i;
	}
	busy->answer_size = strlen(reply.head) + 2 + reply.body_size;
}

/* Sends all that is due. */
static inline void http_busy_send(struct http_busy *busy)
{
	while (busy->nr_sent < busy->nr &&
	       http_busy_due(busy, busy->nr_sent) <= measure_now()) {
		uint32_t connection = busy->nr_sent % HTTP_BUSY_CONNECTIONS;

		http_send(busy->server, busy->fds[connection].fd, "/");
		busy->nr_sent++;
	}
}

/* Takes the answers that have come on connection @i. */
static inline void http_busy_receive(struct http_busy *busy, uint32_t i)
{
	char data[16384];
	ssize_t n = recv(busy->fds[i].fd, data, sizeof(data), MSG_DONTWAIT);
	uint64_t now = measure_now();

	MEASURE_CHECK(busy->server->m, n > 0);
	busy->seen[i] += (size_t)n;
	while (busy->seen[i] >= busy->answer_size) {
		uint32_t request = busy->next[i];

		MEASURE_CHECK(busy->server->m, request < busy->nr_sent);
		busy->took_ns[request] = now - http_busy_due(busy, request);
		busy->seen[i] -= busy->answer_size;
		busy->next[i] += HTTP_BUSY_CONNECTIONS;
		busy->nr_received++;
	}
}

/* Waits for answers, until the next request is due. */
static inline void http_busy_wait(struct http_busy *busy)
{
	uint64_t now = measure_now(), due = now + 1000000000u;
	struct timespec wait = { 0, 0 };

	if (busy->nr_sent < busy->nr)
		due = http_busy_due(busy, busy->nr_sent);
	if (due > now)
		wait = (struct timespec){ (time_t)((due - now) / 1000000000u),
					  (long)((due - now) % 1000000000u) };
	if (ppoll(busy->fds, HTTP_BUSY_CONNECTIONS, &wait, NULL) <= 0)
		return;
	for (uint32_t i = 0; i < HTTP_BUSY_CONNECTIONS; i++) {
		if (busy->fds[i].revents)
			http_busy_receive(busy, i);
	}
}

/* Reports the times of the requests that were due while something computed. */
static inline void http_busy_report(struct http_busy *busy)
{
	const struct http_busy_span *span = busy->span;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < busy->nr; i++) {
		uint64_t due = http_busy_due(busy, i);

		if (due >= span->from_ns && due < span->to_ns)
			busy->took_ns[nr++] = busy->took_ns[i];
	}
	MEASURE_CHECK(busy->server->m, nr > 0);
	measure_report_percentiles(busy->took_ns, nr);
}

/*
 * The server gets a request for "/hold" after a while, and computes for @hold_ns: it
 * calls http_busy_hold().
 */
static inline void http_busy(struct http_busy *busy, uint64_t hold_ns)
{
	const struct measure *m = busy->server->m;
	uint64_t deadline = measure_now() + 60000000000u;
	int hold = http_connect(busy->server);

	prctl(PR_SET_TIMERSLACK, 1);
	MEASURE_CHECK(m, hold >= 0);
	http_busy_connect(busy);
	busy->nr = (uint32_t)(hold_ns / HTTP_BUSY_EACH_NS) + 2 * HTTP_BUSY_LEAD;
	MEASURE_CHECK(m, busy->nr <= HTTP_BUSY_MAX);
	busy->start_ns = measure_now();
	while (busy->nr_received < busy->nr) {
		MEASURE_CHECK(m, measure_now() < deadline);
		http_busy_send(busy);
		if (busy->nr_sent >= HTTP_BUSY_LEAD && hold >= 0) {
			http_send(busy->server, hold, "/hold");
			hold = -1;
		}
		http_busy_wait(busy);
	}
	MEASURE_CHECK(m, busy->span->to_ns - busy->span->from_ns >= hold_ns);
	http_busy_report(busy);
}

/* Memory that a child shares. */
static inline struct http_busy_span *http_busy_span(const struct measure *m)
{
	void *memory = mmap(NULL, sizeof(struct http_busy_span),
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);

	MEASURE_CHECK(m, memory != MAP_FAILED);
	return (struct http_busy_span *)memory;
}

#endif
