/* SPDX-License-Identifier: MIT */
/*
 * stream_fd.c - the layer of plain descriptors: sockets, pipes, terminals, files.
 *
 * The stream itself is the layer's memory: its number, and what its last read found.
 */
#include "stream/stream.h"

#include "io/try.h"
#include "os/network.h"

#include <errno.h>
#include <sley/io.h>

static ssize_t fd_read(void *self, void *data, size_t size,
		       uint64_t deadline_ns)
{
	const struct sley_stream *stream = self;

	if (likely(!deadline_ns))
		return io_read_now(stream->fd, data, size);
	return sley_io_read_until(stream->fd, data, size, deadline_ns);
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

static int fd_ready(void *self, uint64_t deadline_ns)
{
	const struct sley_stream *stream = self;

	return io_await_in(stream->fd, stream->in_empty, deadline_ns);
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
	.ready = fd_ready,
	.shut = fd_shut,
	.close = fd_close,
	.fd = fd_fd,
};

void sley_stream_open(struct sley_stream *stream, int fd)
{
	sley_stream_init(stream, &sley__stream_fd, stream);
	stream->fd = fd;
}
