/* SPDX-License-Identifier: MIT */
/*
 * stream_life.c - <sley/stream.h>: a stream on a layer, and its end.
 *
 * A closed stream stands on a layer whose functions say -EBADF, so a call that comes
 * too late is an error, and not a crash.
 *
 * A socket that is closed with bytes that no reader has taken sends a reset, and the
 * peer may lose the last bytes that were written.  So a close takes such bytes first,
 * but does not wait for bytes that are under way.
 */
#include "stream/stream.h"

#include "os/network.h"
#include "stream/buffer.h"

#include <errno.h>
#include <sley/io.h>

static ssize_t closed_read(void *self, void *data, size_t size,
			   uint64_t deadline_ns)
{
	(void)self;
	(void)data;
	(void)size;
	(void)deadline_ns;
	return -EBADF;
}

static ssize_t closed_write(void *self, const struct iovec *parts, int nr,
			    uint64_t deadline_ns)
{
	(void)self;
	(void)parts;
	(void)nr;
	(void)deadline_ns;
	return -EBADF;
}

/* What a stream stands on after its close. */
static const struct sley_stream_layer closed_layer = {
	.read = closed_read,
	.write = closed_write,
};

void sley_stream_init(struct sley_stream *stream,
		      const struct sley_stream_layer *layer, void *self)
{
	*stream =
		(struct sley_stream){ .layer = layer, .self = self, .fd = -1 };
}

int sley_stream_fd(const struct sley_stream *stream)
{
	return stream->layer->fd ? stream->layer->fd(stream->self) : -1;
}

int sley_stream_shut_until(struct sley_stream *stream, uint64_t deadline_ns)
{
	int err = sley_stream_flush_until(stream, deadline_ns);

	if (err)
		return err;
	if (!stream_is_open(stream))
		return -EBADF;
	return stream->layer->shut ? stream->layer->shut(stream->self) : 0;
}

static int close_layer(struct sley_stream *stream)
{
	int err = stream->layer->close(stream->self);

	sley_stream_init(stream, &closed_layer, NULL);
	return err;
}

/* A peer that sends on and on is not listened to for ever. */
#define DISCARDS_MAX 16

static void discard(const struct sley_stream *stream)
{
	int fd = sley_stream_fd(stream);
	char *buffer = fd < 0 || stream->in_ended ? NULL : buffer_get();
	int nr = 0;

	if (!buffer)
		return;
	while (nr++ < DISCARDS_MAX &&
	       sley_io_recv(fd, buffer, SLEY_STREAM_BUFFER, MSG_DONTWAIT) > 0)
		;
	buffer_put(buffer);
}

void sley_stream_abort(struct sley_stream *stream)
{
	int fd = sley_stream_fd(stream);

	if (!stream_is_open(stream))
		return;
	if (fd >= 0)
		os_reset_at_close(fd);
	stream_drop_in(stream);
	stream_drop_out(stream);
	(void)close_layer(stream);
}

int sley_stream_close_until(struct sley_stream *stream, uint64_t deadline_ns)
{
	int err = sley_stream_shut_until(stream, deadline_ns), err_close;

	if (stream->out) {
		sley_stream_abort(stream);
		return err;
	}
	if (!stream_is_open(stream))
		return -EBADF;
	discard(stream);
	stream_drop_in(stream);
	err_close = close_layer(stream);
	return err ? err : err_close;
}
