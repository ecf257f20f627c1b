/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - <sley/io.h>: bytes from and to sockets, pipes and other descriptors.
 *
 * Sockets are asked with MSG_DONTWAIT.  Other descriptors have no such flag: if they
 * are blocking, the kernel is asked first whether they are ready, and a write takes no
 * more than a ready pipe has room for.  Files never wait for readiness: io/file.h.
 */
#include <sley/io.h>

#include "io/attempt.h"
#include "io/call.h"
#include "io/file.h"
#include "io/parts.h"
#include "io/room.h"

#include <limits.h>
#include <poll.h>

static bool is_socket(const struct io_call *call)
{
	enum os_fd_kind kind = traits_kind(call->traits);

	return kind == OS_FD_TCP || kind == OS_FD_SOCKET;
}

/* Is there nothing left after @n of @size bytes were received? */
static bool is_emptied(const struct io_call *call, ssize_t n, size_t size)
{
	return n > 0 && (size_t)n < size &&
	       traits_kind(call->traits) == OS_FD_TCP;
}

/* Would a blocking descriptor wait? */
static bool would_wait(const struct io_call *call, short events)
{
	return !(call->traits & TRAIT_NONBLOCKING) &&
	       !os_fd_poll(call->fd, events);
}

/* ---- one part ------------------------------------------------------------------------ */

static ssize_t attempt_recv(struct io_call *call)
{
	ssize_t n = os_recv(call->fd, call->data, call->size, call->flags);

	call->emptied = is_emptied(call, n, call->size);
	return n;
}

static ssize_t read_other(struct io_call *call)
{
	const struct iovec part = { call->data, call->size };

	return would_wait(call, POLLIN) ? -EAGAIN
					: os_readv(call->fd, &part, 1);
}

ssize_t io_attempt_read(struct io_call *call)
{
	return likely(is_socket(call)) ? attempt_recv(call) : read_other(call);
}

static ssize_t send_rest(struct io_call *call)
{
	return os_send(call->fd, (const char *)call->data + call->done,
		       call->size - call->done, call->flags);
}

static ssize_t write_rest(struct io_call *call)
{
	struct iovec part = { (char *)call->data + call->done,
			      call->size - call->done };

	if (would_wait(call, POLLOUT))
		return -EAGAIN;
	if (!(call->traits & TRAIT_NONBLOCKING) && part.iov_len > PIPE_BUF)
		part.iov_len = PIPE_BUF;
	return os_writev(call->fd, &part, 1);
}

/* All of it, by one @step after the other; -EAGAIN: the rest has to wait. */
static inline ssize_t go_on(struct io_call *call,
			    ssize_t (*step)(struct io_call *call))
{
	do {
		ssize_t n = step(call);

		if (n < 0)
			return n;
		call->done += (size_t)n;
	} while (call->done < call->size);
	return (ssize_t)call->done;
}

static ssize_t attempt_write(struct io_call *call)
{
	return likely(is_socket(call)) ? go_on(call, send_rest)
				       : go_on(call, write_rest);
}

static ssize_t attempt_send(struct io_call *call)
{
	return go_on(call, send_rest);
}

/* With MSG_WAITALL. */
static ssize_t attempt_recv_all(struct io_call *call)
{
	while (call->done < call->size) {
		ssize_t n = os_recv(call->fd, (char *)call->data + call->done,
				    call->size - call->done,
				    call->flags & ~MSG_WAITALL);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		call->done += (size_t)n;
	}
	return (ssize_t)call->done;
}

ssize_t io_attempt_read_file(struct io_call *call)
{
	const struct iovec part = { call->data, call->size };

	return file_readv(call, &part, 1, OS_FILE_POSITION);
}

static ssize_t write_file(struct io_call *call)
{
	const struct iovec part = { call->data, call->size };

	return file_writev(call, &part, 1, OS_FILE_POSITION);
}

ssize_t sley_io_read_until(int fd, void *data, size_t size,
			   uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = IO_IN,
		.deadline_ns = deadline_ns,
		.attempt = io_attempt_read,
		.on_file = io_attempt_read_file,
		.data = data,
		.size = size,
	};
	return io_call(&call);
}

ssize_t sley_io_write_until(int fd, const void *data, size_t size,
			    uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = IO_OUT,
		.deadline_ns = deadline_ns,
		.attempt = attempt_write,
		.on_file = write_file,
		.data = (void *)(uintptr_t)data,
		.size = size,
	};
	return io_call(&call);
}

/* Does a call with @flags leave the bytes where they are, or look for others? */
static bool is_apart(int flags)
{
	return flags & (MSG_PEEK | MSG_OOB | MSG_ERRQUEUE);
}

ssize_t sley_io_recv_until(int fd, void *data, size_t size, int flags,
			   uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = IO_IN,
		.deadline_ns = deadline_ns,
		.never_waits = flags & MSG_DONTWAIT,
		.apart = is_apart(flags),
		.attempt = (flags & MSG_WAITALL) && !is_apart(flags)
				   ? attempt_recv_all
				   : attempt_recv,
		.data = data,
		.size = size,
		.flags = flags,
	};

	return io_call(&call);
}

ssize_t sley_io_send_until(int fd, const void *data, size_t size, int flags,
			   uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = IO_OUT,
		.deadline_ns = deadline_ns,
		.never_waits = flags & MSG_DONTWAIT,
		.attempt = attempt_send,
		.data = (void *)(uintptr_t)data,
		.size = size,
		.flags = flags,
	};

	return io_call(&call);
}

/* ---- several parts --------------------------------------------------------------------- */

struct parts_call {
	struct io_call call;
	struct parts parts;
};

static ssize_t attempt_readv(struct io_call *call)
{
	const struct parts *parts =
		&container_of(call, struct parts_call, call)->parts;
	struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)parts->part,
			      .msg_iovlen = parts->nr };
	ssize_t n;

	if (unlikely(!is_socket(call)))
		return would_wait(call, POLLIN)
			       ? -EAGAIN
			       : os_readv(call->fd, parts->part,
					  (int)parts->nr);
	n = os_recvmsg(call->fd, &msg, 0);
	call->emptied = is_emptied(call, n, call->size);
	return n;
}

static ssize_t write_window(struct io_call *call)
{
	struct parts *parts =
		&container_of(call, struct parts_call, call)->parts;
	size_t most = SIZE_MAX;
	ssize_t n;

	if (likely(is_socket(call))) {
		struct msghdr msg = { .msg_iov = parts->window };

		parts_window(parts, most);
		msg.msg_iovlen = parts->nr_window;
		n = os_sendmsg(call->fd, &msg, 0);
	} else {
		if (would_wait(call, POLLOUT))
			return -EAGAIN;
		if (!(call->traits & TRAIT_NONBLOCKING))
			most = PIPE_BUF;
		parts_window(parts, most);
		n = os_writev(call->fd, parts->window, (int)parts->nr_window);
	}
	if (n > 0)
		parts_advance(parts, (size_t)n);
	return n;
}

static ssize_t attempt_writev(struct io_call *call)
{
	return go_on(call, write_window);
}

static ssize_t readv_file(struct io_call *call)
{
	const struct parts *parts =
		&container_of(call, struct parts_call, call)->parts;

	return file_readv(call, parts->part, (int)parts->nr, OS_FILE_POSITION);
}

static ssize_t writev_file(struct io_call *call)
{
	const struct parts *parts =
		&container_of(call, struct parts_call, call)->parts;

	return file_writev(call, parts->part, (int)parts->nr, OS_FILE_POSITION);
}

/* The rest of @vector is set. */
static ssize_t call_with_parts(struct parts_call *vector,
			       const struct iovec *part, int nr)
{
	int err = parts_init(&vector->parts, part, nr, &vector->call.size);

	return err ? err : io_call(&vector->call);
}

ssize_t sley_io_readv_until(int fd, const struct iovec *part, int nr,
			    uint64_t deadline_ns)
{
	struct parts_call readv = {
		.call = { .fd = fd,
			  .direction = IO_IN,
			  .deadline_ns = deadline_ns,
			  .attempt = attempt_readv,
			  .on_file = readv_file },
	};

	return call_with_parts(&readv, part, nr);
}

ssize_t sley_io_writev_until(int fd, const struct iovec *part, int nr,
			     uint64_t deadline_ns)
{
	struct parts_call writev = {
		.call = { .fd = fd,
			  .direction = IO_OUT,
			  .deadline_ns = deadline_ns,
			  .attempt = attempt_writev,
			  .on_file = writev_file },
	};

	return call_with_parts(&writev, part, nr);
}

/* ---- messages ---------------------------------------------------------------------------- */

static ssize_t attempt_recvmsg(struct io_call *call)
{
	return os_recvmsg(call->fd, call->data, call->flags);
}

/*
 * The socket has room, but the receiver that the message names has none: a datagram
 * socket of AF_UNIX.  The kernel does not tell when there is room.
 */
#define RECEIVER_IS_FULL (-EBUSY)

static ssize_t attempt_sendmsg(struct io_call *call)
{
	const struct msghdr *msg = call->data;
	ssize_t n = os_sendmsg(call->fd, msg, call->flags);

	if (n == -EAGAIN && msg->msg_name && !call->never_waits &&
	    os_fd_poll(call->fd, POLLOUT))
		return RECEIVER_IS_FULL;
	return n;
}

ssize_t sley_io_recvmsg_until(int fd, struct msghdr *msg, int flags,
			      uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = IO_IN,
		.deadline_ns = deadline_ns,
		.never_waits = flags & MSG_DONTWAIT,
		.apart = is_apart(flags),
		.attempt = attempt_recvmsg,
		.data = msg,
		.flags = flags,
	};

	return io_call(&call);
}

ssize_t sley_io_sendmsg_until(int fd, const struct msghdr *msg, int flags,
			      uint64_t deadline_ns)
{
	struct io_call call = {
		.fd = fd,
		.direction = IO_OUT,
		.deadline_ns = deadline_ns,
		.never_waits = flags & MSG_DONTWAIT,
		.apart = msg->msg_name,
		.attempt = attempt_sendmsg,
		.data = (void *)(uintptr_t)msg,
		.flags = flags,
	};
	uint64_t ns = 0;
	ssize_t n;

	do {
		n = io_call(&call);
	} while (n == RECEIVER_IS_FULL && !(n = room_wait(&ns, deadline_ns)));
	return n;
}
