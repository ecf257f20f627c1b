/* SPDX-License-Identifier: MIT */
/*
 * stream.h - what the files of this folder share of a stream.
 *
 * The reader's half is in stream.c, the writer's in stream_write.c.  They share no
 * field but the layer, so that two tasks may be at work.  stream_fd.c is the layer of
 * plain descriptors, and stream_life.c ends both halves.
 */
#ifndef SLEY_STREAM_STREAM_H
#define SLEY_STREAM_STREAM_H

#include "base/compiler.h"

#include <sley/stream.h>

extern const struct sley_stream_layer sley__stream_fd
	__attribute__((visibility("hidden")));

/*
 * A read of a stream on a plain descriptor, into a buffer that is borrowed when there is
 * something to read: the number of bytes in *@buffer, which the caller has from then on;
 * 0 at the end, or -errno.
 */
must_check ssize_t stream_fd_read_late(const struct sley_stream *stream,
				       uint64_t deadline_ns, char **buffer);

/* Gives the buffers back, with all that is in them. */
void stream_drop_in(struct sley_stream *stream);
void stream_drop_out(struct sley_stream *stream);

static inline bool stream_is_open(const struct sley_stream *stream)
{
	return stream->layer->close;
}

#endif
