/* SPDX-License-Identifier: MIT */
/*
 * poll.c - <sley/io.h>: waiting for a descriptor without a transfer, and closing it.
 */
#include <sley/io.h>

#include "io/call.h"
#include "io/ready.h"

#include <poll.h>

static ssize_t attempt_poll(struct io_call *call)
{
	short events = os_fd_poll(call->fd, (short)call->flags);

	if (events & POLLNVAL)
		return -EBADF;
	return events ? events : -EAGAIN;
}

/* A task waits in the lists of both directions. */
static ssize_t poll_both(struct io_call *call, struct io_descriptor *descriptor)
{
	for (;;) {
		struct side_look look[NR_IO_DIRECTIONS] = {
			side_look(&descriptor->side[IO_IN]),
			side_look(&descriptor->side[IO_OUT]),
		};
		ssize_t result = attempt_poll(call);

		if (result != -EAGAIN)
			return result;
		result = ready_wait_both(descriptor, call->fd, look,
					 call->deadline_ns);
		if (result)
			return result;
	}
}

int sley_io_poll_until(int fd, short events, uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = events & POLLIN ? IO_IN : IO_OUT,
		.deadline_ns = deadline_ns,
		.tries_first = true,
		.attempt = attempt_poll,
		.flags = events & (POLLIN | POLLOUT),
	};
	struct io_descriptor *descriptor;
	int result;

	if (!call.flags)
		return -EINVAL;
	if (call.flags != (POLLIN | POLLOUT))
		return (int)io_call(&call);
	result = descriptor_enter(fd, &descriptor);
	if (result)
		return result;
	result = (int)poll_both(&call, descriptor);
	descriptor_leave(descriptor);
	return result;
}

int sley_io_close(int fd)
{
	return descriptor_close(fd);
}
