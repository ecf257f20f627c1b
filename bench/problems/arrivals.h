/* SPDX-License-Identifier: MIT */
/*
 * arrivals.h - the row `io-accept`: connections that come, and are closed at once.
 *
 * The client connects a burst of connections, and waits until the server has closed
 * each.  So there are never more of them than the backlog of the listener has room
 * for: a connection that finds it full would be tried again after a second.
 *
 * The server closes first, and its socket would stay behind in TIME_WAIT for a minute:
 * after 28,000 connections there would be no port left.  So the client closes with
 * SO_LINGER 0, that is by a reset, which ends the socket of the server, too.  A socket
 * of AF_UNIX has no such state, but servers accept TCP.
 *
 * The handshake is done by the kernel on the CPU of the client.  The figure of the
 * server is what is left: to wait, to accept, to close.
 */
#ifndef BENCH_PROBLEMS_ARRIVALS_H
#define BENCH_PROBLEMS_ARRIVALS_H

#include "loopback.h"

struct arrivals {
	const struct measure *m;
	uint64_t nr;    /* connections in all        */
	uint64_t burst; /* of them at a time         */
	int listener;
	struct sockaddr_in address;
	pid_t client;
	uint64_t cpu_ns;
};

/* ---- the client ----------------------------------------------------------------- */

static inline int arrivals_connect(const struct arrivals *arrivals)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	int fd = loopback_connect(arrivals->m, &arrivals->address);

	MEASURE_CHECK(arrivals->m, setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset,
					      sizeof(reset)) == 0);
	return fd;
}

static inline void arrivals_client(const void *arg)
{
	const struct arrivals *arrivals = arg;
	int fd[ACCEPT_BURST];

	for (uint64_t left = arrivals->nr; left;) {
		uint64_t nr = left < arrivals->burst ? left : arrivals->burst;
		char byte;

		for (uint64_t i = 0; i < nr; i++)
			fd[i] = arrivals_connect(arrivals);
		for (uint64_t i = 0; i < nr; i++) {
			MEASURE_CHECK(arrivals->m,
				      recv(fd[i], &byte, 1, 0) == 0);
			close(fd[i]);
		}
		left -= nr;
	}
}

/* ---- for the server --------------------------------------------------------------- */

/* Opens a listener and starts the client; the caller accepts and closes. */
static inline void arrivals_begin(struct arrivals *arrivals,
				  const struct measure *m, uint64_t nr,
				  uint64_t burst)
{
	*arrivals = (struct arrivals){ .m = m,
				       .nr = measure_size(m, nr),
				       .burst = burst };
	arrivals->listener = loopback_listen(m, &arrivals->address);
	arrivals->client = loopback_start(m, arrivals_client, arrivals);
	arrivals->cpu_ns = measure_cpu_now();
}

/* All have come, and were closed: CPU of this process a connection. */
static inline void arrivals_end(struct arrivals *arrivals, const char *metric)
{
	uint64_t cpu_ns = measure_cpu_now() - arrivals->cpu_ns;

	loopback_end(arrivals->m, arrivals->client);
	close(arrivals->listener);
	measure_report(metric, (double)cpu_ns / (double)arrivals->nr);
}

/* The row io-accept of a peer. */
static inline void arrivals_peer(const struct measure *m,
				 void (*serve)(const struct arrivals *arrivals))
{
	struct arrivals arrivals;

	arrivals_begin(&arrivals, m, ACCEPT_CONNECTIONS_ONE, 1);
	serve(&arrivals);
	arrivals_end(&arrivals, "one_ns");
	arrivals_begin(&arrivals, m, ACCEPT_CONNECTIONS, ACCEPT_BURST);
	serve(&arrivals);
	arrivals_end(&arrivals, "ns");
}

#endif
