/* SPDX-License-Identifier: MIT */
/*
 * loopback.h - the rows `io-...` about sockets: a server on CPU 0, which is the measured
 * process, and a client on CPU 1, which is the same for all participants.
 */
#ifndef BENCH_PROBLEMS_LOOPBACK_H
#define BENCH_PROBLEMS_LOOPBACK_H

#include "../measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LOOPBACK_BACKLOG 1024

/* Listens at a free port of 127.0.0.1: the descriptor; *@address gets the port. */
static inline int loopback_listen(const struct measure *m,
				  struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MEASURE_CHECK(m, fd >= 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	MEASURE_CHECK(m, bind(fd, (struct sockaddr *)address, length) == 0 &&
				 listen(fd, LOOPBACK_BACKLOG) == 0 &&
				 getsockname(fd, (struct sockaddr *)address,
					     &length) == 0);
	return fd;
}

static inline int loopback_connect(const struct measure *m,
				   const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MEASURE_CHECK(m, fd >= 0);
	MEASURE_CHECK(m, connect(fd, (const struct sockaddr *)address,
				 sizeof(*address)) == 0);
	return fd;
}

/*
 * Starts @client(@arg) in a process on CPU 1; it ends with this process at the latest.
 * The caller goes to CPU 0.
 */
static inline pid_t loopback_start(const struct measure *m,
				   void (*client)(const void *arg),
				   const void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MEASURE_CHECK(m, pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		measure_pin(1);
		client(arg);
		_exit(0);
	}
	measure_pin(0);
	return pid;
}

/* Waits for the end of the client, which has found nothing wrong. */
static inline void loopback_end(const struct measure *m, pid_t client)
{
	int status;

	MEASURE_CHECK(m, waitpid(client, &status, 0) == client && status == 0);
}

#endif
