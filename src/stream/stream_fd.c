/* SPDX-License-Identifier: MIT */
/*
 * stream_fd.c - the layer of plain descriptors: sockets, pipes, terminals, files.
 *
 * The stream itself is the layer's memory: its number, and what its last read found.
 * There is no ready(): the first bytes are read by stream_fd_read_late(), which waits
 * without a buffer, and is one call for the wait and the read.
 */
#include "stream/stream.h"

#include "io/attempt.h"
#include "os/network.h"
#include "stream/buffer.h"

#include <errno.h>
#include <sley/io.h>

static ssize_t fd_read(void *self, void *data, size_t size,
		       uint64_t deadline_ns)
{
	const struct sley_stream *stream = self;

	return sley_io_read_until(stream->fd, data, size, deadline_ns);
}

/* An attempt of io/attempt.h, into a buffer that is kept if there were bytes. */
static ssize_t borrow_and_try(struct io_call *call,
			      ssize_t (*attempt)(struct io_call *call))
{
	ssize_t n;

	call->data = buffer_get();
	if (unlikely(!call->data))
		return -ENOMEM;
	n = attempt(call);
	if (unlikely(n <= 0 && !call->done))
		buffer_put(call->data);
	return n;
}

static ssize_t attempt_late(struct io_call *call)
{
	return borrow_and_try(call, io_attempt_read);
}

/* A file is read now or fails: its disk is not a peer that may be late. */
static ssize_t read_file_late(struct io_call *call)
{
	call->deadline_ns = UINT64_MAX;
	return borrow_and_try(call, io_attempt_read_file);
}

ssize_t stream_fd_read_late(const struct sley_stream *stream,
			    uint64_t deadline_ns, char **buffer)
{
	struct io_call call = {
		.fd = stream->fd,
		.direction = IO_IN,
		.deadline_ns = deadline_ns,
		.tries_first = stream->in_full,
		.attempt = attempt_late,
		.on_file = read_file_late,
		.size = SLEY_STREAM_BUFFER,
	};
	ssize_t n = io_call(&call);

	*buffer = call.data;
	return n;
}

static ssize_t fd_write(void *self, const struct iovec *parts, int nr,
			uint64_t deadline_ns)
{
	const struct sley_stream *stream = self;

	if (likely(nr == 1))
		return sley_io_write_until(stream->fd, parts->iov_base,
					   parts->iov_len, deadline_ns);
	return sley_io_writev_until(stream->fd, parts, nr, deadline_ns);
}

/* A pipe has one direction; and a peer that is gone knows that nothing comes. */
static int fd_shut(void *self)
{
	const struct sley_stream *stream = self;
	int err = os_shut(stream->fd);

	return err == -ENOTSOCK || err == -ENOTCONN ? 0 : err;
}

static int fd_close(void *self)
{
	const struct sley_stream *stream = self;

	return sley_io_close(stream->fd);
}

static int fd_fd(void *self)
{
	const struct sley_stream *stream = self;

	return stream->fd;
}

const struct sley_stream_layer sley__stream_fd = {
	.read = fd_read,
	.write = fd_write,
	.shut = fd_shut,
	.close = fd_close,
	.fd = fd_fd,
};

void sley_stream_open(struct sley_stream *stream, int fd)
{
	sley_stream_init(stream, &sley__stream_fd, stream);
	stream->fd = fd;
}
