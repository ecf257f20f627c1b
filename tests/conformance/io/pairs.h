/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - two connected descriptors of each kind.
 */
#ifndef SLEY_TESTS_CONFORMANCE_IO_PAIRS_H
#define SLEY_TESTS_CONFORMANCE_IO_PAIRS_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "conformance/bound.h"

enum pair_kind {
	PAIR_PIPE,          /* non-blocking                         */
	PAIR_BLOCKING_PIPE, /* as a shell gives it                  */
	PAIR_UNIX,          /* AF_UNIX, stream                      */
	PAIR_TCP,
	NR_PAIR_KINDS,
};

/* What is written to .to can be read from .from. */
struct pair {
	int from;
	int to;
};

/* A listening socket on the loop-back device; *@address is its address. */
static inline int tcp_listener(struct sockaddr_in *address, int backlog)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	CHECK(fd >= 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)address, length), 0);
	CHECK_EQ(listen(fd, backlog), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)address, &length), 0);
	return fd;
}

static inline struct pair tcp_pair(void)
{
	struct sockaddr_in address;
	int listener = tcp_listener(&address, 1);
	struct pair pair;

	pair.to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(pair.to >= 0);
	CHECK_EQ(connect(pair.to, (struct sockaddr *)&address, sizeof(address)),
		 0);
	pair.from = accept(listener, NULL, NULL);
	CHECK(pair.from >= 0);
	CHECK_EQ(close(listener), 0);
	return pair;
}

static inline struct pair open_pair(enum pair_kind kind)
{
	int fd[2];

	switch (kind) {
	case PAIR_PIPE:
		CHECK_EQ(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
		break;
	case PAIR_BLOCKING_PIPE:
		CHECK_EQ(pipe2(fd, O_CLOEXEC), 0);
		break;
	case PAIR_UNIX:
		CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd),
			 0);
		break;
	default:
		return tcp_pair();
	}
	return (struct pair){ .from = fd[0], .to = fd[1] };
}

static inline void close_pair(const struct pair *pair)
{
	CHECK_EQ(sley_io_close(pair->from), 0);
	CHECK_EQ(sley_io_close(pair->to), 0);
}

#endif
