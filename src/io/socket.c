/* SPDX-License-Identifier: MIT */
/*
 * socket.c - <sley/io.h>: connections come, and connections are made.
 */
#include <sley/io.h>

#include "io/call.h"
#include "io/room.h"
#include "os/shared_memory.h"

#include <poll.h>

struct address_call {
	struct io_call call;
	struct sockaddr *address;
	socklen_t *length;
	socklen_t given; /* *length at first */
	bool begun;
};

/* A connection that failed before it was accepted: accept(2) lists the errors. */
static bool is_passed_over(int err)
{
	switch (-err) {
	case ECONNABORTED:
	case EPROTO:
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENONET:
		return true;
	default:
		return false;
	}
}

static ssize_t attempt_accept(struct io_call *call)
{
	struct address_call *accept =
		container_of(call, struct address_call, call);
	/* A blocking one would hold its worker if the peer gives up meanwhile. */
	int fd = io_call_become_nonblocking(call);

	if (fd)
		return fd;
	do {
		if (accept->length)
			*accept->length = accept->given;
		fd = os_accept(call->fd, accept->address, accept->length);
	} while (is_passed_over(fd));
	return fd;
}

int sley_io_accept_until(int fd, struct sockaddr *address, socklen_t *length,
			 uint64_t deadline_ns)
{
	struct address_call accept = {
		.call = { .fd = fd,
			  .direction = IO_IN,
			  .deadline_ns = deadline_ns,
			  .attempt = attempt_accept },
		.address = address,
		.length = address ? length : NULL,
		.given = address && length ? *length : 0,
	};
	int connection = (int)io_call(&accept.call);
	int err;

	if (connection < 0)
		return connection;
	err = descriptor_is_new(connection, "sley_io_accept");
	if (!err)
		return connection;
	os_close(connection);
	return err;
}

/* A listener of AF_UNIX is full, and the kernel does not tell when there is room. */
#define LISTENER_IS_FULL (-EBUSY)

static ssize_t attempt_connect(struct io_call *call)
{
	struct address_call *connect =
		container_of(call, struct address_call, call);
	int err = io_call_become_nonblocking(call);

	if (err)
		return err;
	if (connect->begun)
		return os_fd_poll(call->fd, POLLOUT) ? os_connected(call->fd)
						     : -EAGAIN;
	err = os_connect(call->fd, connect->address, connect->given);
	connect->begun = err == -EINPROGRESS;
	if (connect->begun)
		return -EAGAIN;
	return err == -EAGAIN ? LISTENER_IS_FULL : err;
}

int sley_io_connect_until(int fd, const struct sockaddr *address,
			  socklen_t length, uint64_t deadline_ns)
{
	struct address_call connect = {
		.call = { .fd = fd,
			  .direction = IO_OUT,
			  .deadline_ns = deadline_ns,
			  .tries_first = true,
			  .attempt = attempt_connect },
		.address = (struct sockaddr *)(uintptr_t)address,
		.given = length,
	};
	uint64_t ns = 0;
	int err;

	do {
		err = (int)io_call(&connect.call);
	} while (err == LISTENER_IS_FULL &&
		 !(err = room_wait(&ns, deadline_ns)));
	return err;
}
