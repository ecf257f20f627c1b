/* SPDX-License-Identifier: MIT */
/*
 * stream_write.c - <sley/stream.h>: writing, with back-pressure; corking.
 *
 * A stream that is not corked has no buffer: the layer takes all bytes, and the writer
 * waits until it has.  A corked stream collects bytes in a borrowed buffer.  What does
 * not fit goes to the layer together with the buffer, in one call, and the buffer goes
 * back.
 *
 * A layer that took a part of the bytes does not say why; the next call does.  So where
 * a part of the buffer was taken, the rest stays, and the layer is asked again.
 *
 * Corking without memory is no corking: each write goes to the layer.
 */
#include "stream/stream.h"

#include "io/parts.h"
#include "os/socket.h"
#include "stream/buffer.h"

#include <errno.h>
#include <sley/io_file.h>
#include <string.h>

void stream_drop_out(struct sley_stream *stream)
{
	char *buffer = stream->out;

	stream->out = NULL;
	stream->out_size = 0;
	if (buffer)
		buffer_put(buffer);
}

/* @n bytes of the buffer were written. */
static void keep_rest(struct sley_stream *stream, size_t n)
{
	stream->out_size -= (uint32_t)n;
	if (stream->out_size)
		memmove(stream->out, stream->out + n, stream->out_size);
	else
		stream_drop_out(stream);
}

int sley_stream_flush_until(struct sley_stream *stream, uint64_t deadline_ns)
{
	while (stream->out) {
		const struct iovec part = { stream->out, stream->out_size };
		ssize_t n = stream->layer->write(stream->self, &part, 1,
						 deadline_ns);

		if (n < 0)
			return (int)n;
		keep_rest(stream, (size_t)n);
	}
	return 0;
}

/* True: all @size bytes of the parts are in the buffer. */
static bool collect(struct sley_stream *stream, const struct iovec *part,
		    int nr, size_t size)
{
	if (size > SLEY_STREAM_BUFFER - stream->out_size)
		return false;
	if (!stream->out)
		stream->out = buffer_get();
	if (!stream->out)
		return false;
	for (int i = 0; i < nr; i++) {
		if (part[i].iov_len)
			memcpy(stream->out + stream->out_size, part[i].iov_base,
			       part[i].iov_len);
		stream->out_size += (uint32_t)part[i].iov_len;
	}
	return true;
}

/*
 * What was collected, and the parts behind it, in one call of the layer: bytes of the
 * parts.  -EAGAIN: the buffer was taken, or a part of it, and no byte of the parts.
 */
static ssize_t write_both(struct sley_stream *stream, const struct iovec *part,
			  int nr, uint64_t deadline_ns)
{
	struct iovec both[PARTS_WINDOW];
	size_t before = stream->out_size;
	ssize_t n;

	both[0] = (struct iovec){ stream->out, before };
	memcpy(&both[1], part, (size_t)nr * sizeof(*part));
	n = stream->layer->write(stream->self, both, nr + 1, deadline_ns);
	if (n < 0)
		return n;
	keep_rest(stream, (size_t)n < before ? (size_t)n : before);
	return (size_t)n > before ? n - (ssize_t)before : -EAGAIN;
}

static noinline ssize_t write_corked(struct sley_stream *stream,
				     const struct iovec *part, int nr,
				     uint64_t deadline_ns)
{
	struct parts parts;
	size_t size;
	int err = parts_init(&parts, part, nr, &size);

	if (err)
		return err;
	if (!size || (stream->corked && collect(stream, part, nr, size)))
		return (ssize_t)size;
	if (stream->out && nr < PARTS_WINDOW) {
		ssize_t n = write_both(stream, part, nr, deadline_ns);

		if (n != -EAGAIN)
			return n;
	}
	err = sley_stream_flush_until(stream, deadline_ns);
	if (err)
		return err;
	return stream->layer->write(stream->self, part, nr, deadline_ns);
}

ssize_t sley_stream_writev_until(struct sley_stream *stream,
				 const struct iovec *parts, int nr,
				 uint64_t deadline_ns)
{
	if (unlikely(stream->corked || stream->out))
		return write_corked(stream, parts, nr, deadline_ns);
	return stream->layer->write(stream->self, parts, nr, deadline_ns);
}

ssize_t sley_stream_write_until(struct sley_stream *stream, const void *data,
				size_t size, uint64_t deadline_ns)
{
	const struct iovec part = { (void *)(uintptr_t)data, size };

	return sley_stream_writev_until(stream, &part, 1, deadline_ns);
}

void sley_stream_cork(struct sley_stream *stream)
{
	stream->corked = true;
}

int sley_stream_uncork_until(struct sley_stream *stream, uint64_t deadline_ns)
{
	stream->corked = false;
	return sley_stream_flush_until(stream, deadline_ns);
}

/* ---- files ---------------------------------------------------------------------------- */

/* Through a buffer. */
static ssize_t copy_file(struct sley_stream *stream, int file, int64_t offset,
			 size_t size, uint64_t deadline_ns)
{
	char *buffer = buffer_get();
	size_t done = 0;
	ssize_t n = 0;

	if (!buffer)
		return -ENOMEM;
	while (done < size) {
		size_t left = size - done;
		struct iovec part = { .iov_base = buffer };

		n = sley_io_pread_until(
			file, buffer,
			left < SLEY_STREAM_BUFFER ? left : SLEY_STREAM_BUFFER,
			offset + (int64_t)done, deadline_ns);
		if (n <= 0)
			break;
		part.iov_len = (size_t)n;
		n = stream->layer->write(stream->self, &part, 1, deadline_ns);
		if (n > 0)
			done += (size_t)n;
		if (n != (ssize_t)part.iov_len)
			break;
	}
	buffer_put(buffer);
	return done || n > 0 ? (ssize_t)done : n;
}

ssize_t sley_stream_sendfile_until(struct sley_stream *stream, int file,
				   int64_t offset, size_t size,
				   uint64_t deadline_ns)
{
	int err = sley_stream_flush_until(stream, deadline_ns);
	int fd = sley_stream_fd(stream);
	ssize_t n;

	if (err)
		return err;
	if (offset < 0)
		return -EINVAL;
	if (fd >= 0) {
		off_t from = offset;

		n = sley_io_sendfile_until(fd, file, &from, size, deadline_ns);
		if (n != -EINVAL && n != -ENOSYS)
			return n;
	}
	return copy_file(stream, file, offset, size, deadline_ns);
}
