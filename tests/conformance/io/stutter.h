/* SPDX-License-Identifier: MIT */
/*
 * stutter.h - two connected streams on each layer.
 *
 * The stutterer is a layer on a stream: it gives one byte for each read, takes one byte
 * for each write, and waits before each.  What works on it relies on no size and no
 * moment; and it knows nothing of streams but <sley/stream.h>.
 */
#ifndef SLEY_TESTS_CONFORMANCE_IO_STUTTER_H
#define SLEY_TESTS_CONFORMANCE_IO_STUTTER_H

#include <poll.h>
#include <stdio.h>

#include "conformance/io/pairs.h"

enum layer {
	LAYER_TCP,
	LAYER_UNIX,
	LAYER_STUTTER,
	NR_LAYERS,
};

struct stutter {
	int fd;
	bool again; /* the next try that does not wait finds nothing */
};

struct ends {
	struct sley_stream a, b;
	enum layer layer;
	struct stutter below[2];
	/* A task that writes to b. */
	struct sley_group group;
	struct sley_task task;
	const char *data;
	size_t size;
	int file;
	int64_t offset;
	ssize_t written;
};

/* ---- the layer ------------------------------------------------------------------------ */

static inline ssize_t stutter_read(void *self, void *data, size_t size,
				   uint64_t deadline_ns)
{
	struct stutter *stutter = self;

	CHECK_GT(size, 0);
	if (deadline_ns)
		return sley_io_read_until(stutter->fd, data, 1, deadline_ns);
	stutter->again = !stutter->again;
	if (stutter->again)
		return -EAGAIN;
	return sley_io_recv(stutter->fd, data, 1, MSG_DONTWAIT);
}

static inline ssize_t stutter_write(void *self, const struct iovec *parts,
				    int nr, uint64_t deadline_ns)
{
	struct stutter *stutter = self;
	ssize_t done = 0;

	for (int i = 0; i < nr; i++) {
		for (size_t k = 0; k < parts[i].iov_len; k++) {
			const char *byte = (const char *)parts[i].iov_base + k;
			ssize_t n = sley_io_write_until(stutter->fd, byte, 1,
							deadline_ns);

			if (n < 0)
				return done ? done : n;
			done++;
			if (done % 16 == 0)
				sley_yield();
		}
	}
	return done;
}

static inline int stutter_ready(void *self, uint64_t deadline_ns)
{
	const struct stutter *stutter = self;
	int events = sley_io_poll_until(stutter->fd, POLLIN, deadline_ns);

	return events < 0 ? events : 0;
}

static inline int stutter_shut(void *self)
{
	const struct stutter *stutter = self;

	return shutdown(stutter->fd, SHUT_WR) ? -errno : 0;
}

static inline int stutter_close(void *self)
{
	const struct stutter *stutter = self;

	return sley_io_close(stutter->fd);
}

static const struct sley_stream_layer stutter_layer = {
	.read = stutter_read,
	.write = stutter_write,
	.ready = stutter_ready,
	.shut = stutter_shut,
	.close = stutter_close,
};

/* ---- two ends ------------------------------------------------------------------------- */

static inline void open_ends(struct ends *ends, enum layer layer)
{
	struct pair pair = open_pair(layer == LAYER_TCP ? PAIR_TCP : PAIR_UNIX);
	int size = 1 << 16;

	/* Small, so that a writer soon finds no room. */
	CHECK_EQ(setsockopt(pair.to, SOL_SOCKET, SO_SNDBUF, &size, 4), 0);
	CHECK_EQ(setsockopt(pair.from, SOL_SOCKET, SO_RCVBUF, &size, 4), 0);
	*ends = (struct ends){ .layer = layer };
	ends->below[0].fd = pair.from;
	ends->below[1].fd = pair.to;
	if (layer == LAYER_STUTTER) {
		sley_stream_init(&ends->a, &stutter_layer, &ends->below[0]);
		sley_stream_init(&ends->b, &stutter_layer, &ends->below[1]);
	} else {
		sley_stream_open(&ends->a, pair.from);
		sley_stream_open(&ends->b, pair.to);
	}
}

static inline void join_writer(struct ends *ends)
{
	sley_join(&ends->group);
}

static inline void close_ends(struct ends *ends)
{
	join_writer(ends);
	CHECK_EQ(sley_stream_close(&ends->a), 0);
	CHECK_EQ(sley_stream_close(&ends->b), 0);
}

static inline void write_task(void *arg)
{
	struct ends *ends = arg;

	ends->written = sley_stream_write(&ends->b, ends->data, ends->size);
	CHECK_EQ(ends->written, ends->size);
}

/* By a task: there may not be enough room for all of it. */
static inline void write_later(struct ends *ends, const char *data, size_t size)
{
	join_writer(ends);
	ends->data = data;
	ends->size = size;
	sley_spawn(&ends->group, &ends->task, write_task, ends);
}

static inline void sendfile_task(void *arg)
{
	struct ends *ends = arg;

	ends->written = sley_stream_sendfile(&ends->b, ends->file, ends->offset,
					     ends->size);
}

static inline void sendfile_later(struct ends *ends, int file, int64_t offset,
				  size_t size)
{
	join_writer(ends);
	ends->file = file;
	ends->offset = offset;
	ends->size = size;
	sley_spawn(&ends->group, &ends->task, sendfile_task, ends);
}

static inline void fill(char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[i] = (char)(i * 7 + i / 251);
}

struct layer_test {
	void (*fn)(struct ends *ends);
	enum layer layer;
};

static inline void test_layer(void *arg)
{
	const struct layer_test *test = arg;
	struct ends ends;

	open_ends(&ends, test->layer);
	test->fn(&ends);
	close_ends(&ends);
}

/* @fn on each layer, from bound code and from a task. */
static inline void on_all_layers(void (*fn)(struct ends *ends))
{
	struct sley *rt = start();

	for (int i = 0; i < NR_LAYERS; i++) {
		struct layer_test test = { fn, (enum layer)i };

		run_task(test_layer, &test);
		test_layer(&test);
	}
	stop(rt);
}

#endif
