/* SPDX-License-Identifier: MIT */
/*
 * echo.h - the row `io-echo`: a process that sends messages and waits for their
 * echo.
 *
 * The client is a child process on CPU 1 with an epoll loop, the same for all
 * participants.  The server is the measured process, on CPU 0.  A message has
 * ECHO_SIZE bytes; each connection has one message under way.
 */
#ifndef BENCH_PROBLEMS_ECHO_H
#define BENCH_PROBLEMS_ECHO_H

#include "loopback.h"

#include <sys/epoll.h>

#define ECHO_SIZE 64
#define ECHO_CONNECTIONS 64
#define ECHO_CONNECTIONS_MAX 1000
#define ECHO_SAMPLES 20000

/* What the client found out. */
struct echo_result {
	uint64_t p50_ns; /* of a round trip, seen by the client */
	uint64_t messages;
};

struct echo {
	const struct measure *m;
	int nr_connections;
	uint64_t messages; /* of all connections */
	int listener;
	struct sockaddr_in address;
	int result[2]; /* a pipe from the client */
	pid_t client;
	uint64_t cpu_ns;
};

/* ---- the client ----------------------------------------------------------------- */

struct echo_client {
	int epoll;
	uint64_t sent, received, nr_samples;
	uint64_t began[ECHO_CONNECTIONS_MAX];
	uint64_t samples[ECHO_SAMPLES];
	int fd[ECHO_CONNECTIONS_MAX];
};

static inline int echo_connect(const struct echo *echo)
{
	int one = 1, fd = loopback_connect(echo->m, &echo->address);

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static inline void echo_send(const struct echo *echo, struct echo_client *c,
			     int i)
{
	static const char message[ECHO_SIZE];

	c->began[i] = measure_now();
	c->sent++;
	MEASURE_CHECK(echo->m, send(c->fd[i], message, sizeof(message),
				    MSG_NOSIGNAL) == ECHO_SIZE);
}

static inline void echo_receive(const struct echo *echo, struct echo_client *c,
				int i)
{
	char message[ECHO_SIZE];
	ssize_t n = recv(c->fd[i], message, sizeof(message), MSG_WAITALL);

	MEASURE_CHECK(echo->m, n == ECHO_SIZE);
	c->received++;
	if (c->nr_samples < ECHO_SAMPLES)
		c->samples[c->nr_samples++] = measure_now() - c->began[i];
	if (c->sent < echo->messages)
		echo_send(echo, c, i);
}

static inline void echo_client_run(const void *arg)
{
	static struct echo_client c;
	const struct echo *echo = arg;
	struct epoll_event events[64];
	struct echo_result result;

	c.epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < echo->nr_connections; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		event.data.u32 = (uint32_t)i;
		c.fd[i] = echo_connect(echo);
		MEASURE_CHECK(echo->m, epoll_ctl(c.epoll, EPOLL_CTL_ADD,
						 c.fd[i], &event) == 0);
	}
	for (int i = 0; i < echo->nr_connections; i++)
		echo_send(echo, &c, i);
	while (c.received < echo->messages) {
		int nr = epoll_wait(c.epoll, events, 64, -1);

		for (int k = 0; k < nr; k++)
			echo_receive(echo, &c, (int)events[k].data.u32);
	}
	qsort(c.samples, c.nr_samples, sizeof(c.samples[0]), measure_compare);
	result =
		(struct echo_result){ c.samples[c.nr_samples / 2], c.received };
	MEASURE_CHECK(echo->m, write(echo->result[1], &result,
				     sizeof(result)) == sizeof(result));
}

/* ---- for the server --------------------------------------------------------------- */

/* Opens a listener and starts the client; the caller accepts and answers. */
static inline void echo_begin(struct echo *echo, const struct measure *m,
			      int nr_connections, uint64_t messages)
{
	*echo = (struct echo){ .m = m, .nr_connections = nr_connections };
	echo->messages = m->quick ? 200 : messages;
	if (echo->messages < (uint64_t)nr_connections)
		echo->messages = (uint64_t)nr_connections;
	echo->listener = loopback_listen(m, &echo->address);
	MEASURE_CHECK(m, pipe(echo->result) == 0);
	echo->client = loopback_start(m, echo_client_run, echo);
	echo->cpu_ns = measure_cpu_now();
}

/*
 * All connections have ended: CPU of this process a message, which is returned, too,
 * and the round trip.
 */
static inline double echo_end(struct echo *echo, const char *cpu_metric,
			      const char *p50_metric)
{
	uint64_t cpu_ns = measure_cpu_now() - echo->cpu_ns;
	struct echo_result result;
	double each_ns;

	MEASURE_CHECK(echo->m, read(echo->result[0], &result, sizeof(result)) ==
				       sizeof(result));
	MEASURE_CHECK(echo->m, result.messages == echo->messages);
	loopback_end(echo->m, echo->client);
	close(echo->listener);
	close(echo->result[0]);
	close(echo->result[1]);
	each_ns = (double)cpu_ns / (double)result.messages;
	measure_report(cpu_metric, each_ns);
	if (p50_metric)
		measure_report(p50_metric, (double)result.p50_ns);
	return each_ns;
}

/*
 * The row io-echo of a peer.  A loop of a peer does not spin: one_spin_ns is one_ns once
 * more, to stand beside ours.
 */
static inline void echo_peer(const struct measure *m,
			     void (*serve)(const struct echo *echo))
{
	struct echo echo;

	echo_begin(&echo, m, 1, ECHO_MESSAGES_ONE);
	serve(&echo);
	measure_report("one_spin_ns", echo_end(&echo, "one_ns", "one_p50_ns"));
	echo_begin(&echo, m, ECHO_CONNECTIONS, ECHO_MESSAGES);
	serve(&echo);
	(void)echo_end(&echo, "ns", NULL);
	echo_begin(&echo, m, ECHO_CONNECTIONS_MAX, ECHO_MESSAGES);
	serve(&echo);
	(void)echo_end(&echo, "many_ns", NULL);
}

#endif
