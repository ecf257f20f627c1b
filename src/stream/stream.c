/* SPDX-License-Identifier: MIT */
/*
 * stream.c - <sley/stream.h>: buffered reading.
 *
 *   in:   |  taken  |  buffered bytes  |  room  |
 *         0      in_from             in_to    SLEY_STREAM_BUFFER
 *
 * A stream has a buffer as long as bytes are in it.  A reader that finds no byte waits
 * in the layer's ready(), without a buffer, borrows one, and tries to read; if nothing
 * was there, the buffer goes back before the next wait.  On a plain descriptor one call
 * does all this (stream_fd_read_late()).  Only a reader that needs more bytes than it has
 * keeps its buffer over a wait: there are bytes in it.
 *
 * If the last read filled all of the room, there is more, and ready() is not asked.
 *
 * Rejected: a buffer of the stream's own (16 KiB for each silent connection); a try
 * before each wait (a borrowed buffer for nothing after each request, and for other
 * sockets than TCP a system call).
 */
#include "stream/stream.h"

#include "base/assert.h"
#include "stream/buffer.h"

#include <errno.h>
#include <string.h>

/* A read of so many bytes does not go through the buffer. */
#define DIRECT_MIN (SLEY_STREAM_BUFFER / 4)

static size_t nr_buffered(const struct sley_stream *stream)
{
	return stream->in_to - stream->in_from;
}

void stream_drop_in(struct sley_stream *stream)
{
	char *buffer = stream->in;

	stream->in = NULL;
	stream->in_from = stream->in_to = 0;
	if (buffer)
		buffer_put(buffer);
}

static void take(struct sley_stream *stream, size_t n)
{
	stream->in_from += (uint32_t)n;
	if (stream->in_from == stream->in_to)
		stream_drop_in(stream);
}

/* ---- one read of the layer ------------------------------------------------------------ */

/* 0 means "do not wait" to a layer. */
static uint64_t waiting(uint64_t deadline_ns)
{
	return deadline_ns ? deadline_ns : 1;
}

static ssize_t note(struct sley_stream *stream, ssize_t n, size_t room)
{
	stream->in_full = n > 0 && (size_t)n == room;
	stream->in_ended = n == 0;
	return n;
}

/* @n bytes are in @buffer. */
static void keep(struct sley_stream *stream, char *buffer, ssize_t n)
{
	stream->in = buffer;
	stream->in_from = 0;
	stream->in_to = (uint32_t)n;
}

/* Into a buffer that is borrowed now: bytes, 0 at the end, or -errno. */
static ssize_t read_borrowed(struct sley_stream *stream, uint64_t deadline_ns)
{
	char *buffer = buffer_get();
	ssize_t n;

	if (unlikely(!buffer))
		return -ENOMEM;
	n = note(stream,
		 stream->layer->read(stream->self, buffer, SLEY_STREAM_BUFFER,
				     deadline_ns),
		 SLEY_STREAM_BUFFER);
	if (likely(n > 0))
		keep(stream, buffer, n);
	else
		buffer_put(buffer);
	return n;
}

/* Nothing is buffered, and the stream is on a layer of the program. */
static noinline ssize_t read_first_of_layer(struct sley_stream *stream,
					    uint64_t deadline_ns)
{
	int (*ready)(void *self, uint64_t deadline_ns) = stream->layer->ready;
	ssize_t n;

	if (unlikely(!ready))
		return read_borrowed(stream, waiting(deadline_ns));
	do {
		if (!stream->in_full) {
			int err = ready(stream->self, waiting(deadline_ns));

			if (unlikely(err))
				return err;
		}
		n = read_borrowed(stream, 0);
	} while (n == -EAGAIN);
	return n;
}

/* Nothing is buffered. */
static ssize_t read_first(struct sley_stream *stream, uint64_t deadline_ns)
{
	char *buffer;
	ssize_t n;

	if (unlikely(stream->layer != &sley__stream_fd))
		return read_first_of_layer(stream, deadline_ns);
	n = note(stream, stream_fd_read_late(stream, deadline_ns, &buffer),
		 SLEY_STREAM_BUFFER);
	if (likely(n > 0))
		keep(stream, buffer, n);
	return n;
}

/* Bytes move to the front, where there is no room behind them. */
static void make_room(struct sley_stream *stream, size_t at_least)
{
	size_t nr = nr_buffered(stream);

	if (stream->in_from + at_least <= SLEY_STREAM_BUFFER &&
	    stream->in_to < SLEY_STREAM_BUFFER)
		return;
	memmove(stream->in, stream->in + stream->in_from, nr);
	stream->in_from = 0;
	stream->in_to = (uint32_t)nr;
}

/* More bytes than there are; there may be @at_least of them in the end. */
static ssize_t read_more(struct sley_stream *stream, size_t at_least,
			 uint64_t deadline_ns)
{
	size_t room;
	ssize_t n;

	if (likely(!stream->in))
		return read_first(stream, deadline_ns);
	make_room(stream, at_least);
	room = SLEY_STREAM_BUFFER - stream->in_to;
	n = note(stream,
		 stream->layer->read(stream->self, stream->in + stream->in_to,
				     room, waiting(deadline_ns)),
		 room);
	if (n > 0)
		stream->in_to += (uint32_t)n;
	return n;
}

/* ---- the calls ------------------------------------------------------------------------ */

static size_t copy_out(struct sley_stream *stream, void *data, size_t size)
{
	size_t n = nr_buffered(stream);

	if (n > size)
		n = size;
	memcpy(data, stream->in + stream->in_from, n);
	take(stream, n);
	return n;
}

ssize_t sley_stream_read_until(struct sley_stream *stream, void *data,
			       size_t size, uint64_t deadline_ns)
{
	if (!size)
		return 0;
	if (!stream->in) {
		ssize_t n;

		if (size >= DIRECT_MIN)
			return note(stream,
				    stream->layer->read(stream->self, data,
							size,
							waiting(deadline_ns)),
				    size);
		n = read_first(stream, deadline_ns);
		if (n <= 0)
			return n;
	}
	return (ssize_t)copy_out(stream, data, size);
}

ssize_t sley_stream_read_exactly_until(struct sley_stream *stream, void *data,
				       size_t size, uint64_t deadline_ns)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = sley_stream_read_until(stream, (char *)data + done,
						   size - done, deadline_ns);

		if (n <= 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t sley_stream_peek_until(struct sley_stream *stream, const char **data,
			       size_t at_least, uint64_t deadline_ns)
{
	if (unlikely(at_least > SLEY_STREAM_BUFFER))
		return -EINVAL;
	while (nr_buffered(stream) < at_least) {
		ssize_t n = read_more(stream, at_least, deadline_ns);

		if (unlikely(n < 0))
			return n;
		if (n == 0)
			break;
	}
	*data = stream->in ? stream->in + stream->in_from : "";
	return (ssize_t)nr_buffered(stream);
}

void sley_stream_consume(struct sley_stream *stream, size_t n)
{
	sley_check(n <= nr_buffered(stream),
		   "only bytes that sley_stream_peek() or sley_stream_find() "
		   "has shown can be consumed");
	if (n)
		take(stream, n);
}

/*
 * The end of the delimiter, or NULL.  @seen bytes were looked at before, but a
 * delimiter may have begun in the last of them.
 */
static const char *find_end(const struct sley_stream *stream, size_t seen,
			    const void *delimiter, size_t size)
{
	const char *first = stream->in + stream->in_from, *found;

	if (seen >= size)
		first += seen - size + 1;
	found = memmem(first, (size_t)(stream->in + stream->in_to - first),
		       delimiter, size);
	return found ? found + size : NULL;
}

ssize_t sley_stream_find_until(struct sley_stream *stream, const char **data,
			       const void *delimiter, size_t size,
			       uint64_t deadline_ns)
{
	size_t seen = 0;

	if (unlikely(!size || size > SLEY_STREAM_BUFFER))
		return -EINVAL;
	for (;;) {
		size_t nr = nr_buffered(stream);
		ssize_t n;

		if (nr > seen) {
			const char *end =
				find_end(stream, seen, delimiter, size);

			if (end) {
				*data = stream->in + stream->in_from;
				return end - *data;
			}
			seen = nr;
		}
		if (unlikely(nr == SLEY_STREAM_BUFFER))
			return -EMSGSIZE;
		n = read_more(stream, 0, deadline_ns);
		if (unlikely(n < 0))
			return n;
		if (n == 0)
			return nr ? -ENODATA : 0;
	}
}
