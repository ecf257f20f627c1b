/* SPDX-License-Identifier: MIT */
/*
 * stream_life.c - how streams end, and what they own meanwhile: close, abort, cancel,
 * buffers; streams on pipes and files, by plain threads, on a layer with few functions.
 */
#include <sys/resource.h>

#include "conformance/descriptors.h"
#include "conformance/io/stutter.h"
#include "stream/buffer.h"

/* ---- the end -------------------------------------------------------------------------- */

static void close_corked(struct ends *ends)
{
	char data[8];

	sley_stream_cork(&ends->b);
	CHECK_EQ(sley_stream_write(&ends->b, "last", 4), 4);
	CHECK_EQ(sley_stream_close(&ends->b), 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, data, 8), 4);
	CHECK_EQ(memcmp(data, "last", 4), 0);
	CHECK_EQ(sley_stream_read(&ends->a, data, 8), 0);
	/* Nothing is left of it. */
	CHECK_EQ(sley_stream_read(&ends->b, data, 8), -EBADF);
	CHECK_EQ(sley_stream_write(&ends->b, data, 8), -EBADF);
	CHECK_EQ(sley_stream_shut(&ends->b), -EBADF);
	CHECK_EQ(sley_stream_close(&ends->b), -EBADF);
	CHECK_EQ(sley_stream_fd(&ends->b), -1);
	sley_stream_abort(&ends->b);
}

static void test_close(enum layer layer, void (*fn)(struct ends *ends))
{
	struct ends ends;

	open_ends(&ends, layer);
	fn(&ends);
	CHECK_EQ(sley_stream_close(&ends.a), 0);
}

TEST_WORKERS(a_close_delivers_what_was_collected)
{
	struct sley *rt = start();

	for (int i = 0; i < NR_LAYERS; i++)
		test_close((enum layer)i, close_corked);
	stop(rt);
}

/* The kernel would send a reset, which overtakes the answer. */
static void close_unread(struct ends *ends)
{
	char data[8];

	CHECK_EQ(sley_stream_write(&ends->a, "not read", 8), 8);
	CHECK_EQ(sley_stream_write(&ends->b, "answer", 6), 6);
	CHECK_EQ(sley_stream_close(&ends->b), 0);
	/* An exact read would take the error of a reset for an end. */
	CHECK_EQ(sley_stream_read(&ends->a, data, 8), 6);
	CHECK_EQ(memcmp(data, "answer", 6), 0);
	CHECK_EQ(sley_stream_read(&ends->a, data, 8), 0);
}

TEST_WORKERS(a_close_with_bytes_that_were_not_read_is_no_reset)
{
	struct sley *rt = start();

	test_close(LAYER_TCP, close_unread);
	test_close(LAYER_UNIX, close_unread);
	stop(rt);
}

static void abort_it(struct ends *ends)
{
	char data[8];

	sley_stream_cork(&ends->b);
	CHECK_EQ(sley_stream_write(&ends->b, "dropped", 7), 7);
	sley_stream_abort(&ends->b);
	CHECK_EQ(sley_stream_read(&ends->a, data, 8), -ECONNRESET);
}

TEST_WORKERS(an_abort_is_a_reset)
{
	struct sley *rt = start();

	test_close(LAYER_TCP, abort_it);
	stop(rt);
}

/* A peer must not take a part for the whole. */
static void lose_the_rest(struct ends *ends)
{
	static char data[1 << 20];
	ssize_t n;

	/* The kernel makes room a little later than the other side reads. */
	while (sley_stream_write_until(&ends->b, data, sizeof(data),
				       in_ms(100)) > 0)
		;
	sley_stream_cork(&ends->b);
	CHECK_EQ(sley_stream_write(&ends->b, "the rest", 8), 8);
	CHECK_EQ(sley_stream_close_until(&ends->b, in_ms(1)), -ETIMEDOUT);
	do {
		n = sley_stream_read(&ends->a, data, sizeof(data));
	} while (n > 0);
	CHECK_EQ(n, -ECONNRESET);
}

TEST_WORKERS(a_close_that_loses_bytes_is_a_reset)
{
	struct sley *rt = start();

	test_close(LAYER_TCP, lose_the_rest);
	stop(rt);
}

static void write_to_gone(struct ends *ends)
{
	ssize_t n;

	sley_stream_abort(&ends->a);
	do {
		n = sley_stream_write(&ends->b, "x", 1);
	} while (n > 0);
	CHECK(n == -EPIPE || n == -ECONNRESET);
	CHECK_EQ(sley_stream_close(&ends->b), 0);
	open_ends(ends, LAYER_UNIX);
	CHECK_EQ(sley_stream_close(&ends->b), 0);
}

TEST_WORKERS(a_write_to_a_peer_that_is_gone_is_an_error)
{
	struct sley *rt = start();

	test_close(LAYER_TCP, write_to_gone);
	stop(rt);
}

/* ---- cancelled ------------------------------------------------------------------------ */

static void peek_ten(void *arg)
{
	struct ends *ends = arg;
	const char *data;

	CHECK_EQ(sley_stream_peek(&ends->a, &data, 10), -ECANCELED);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 5), 5);
}

static void find_line(void *arg)
{
	struct ends *ends = arg;
	const char *line;

	CHECK_EQ(sley_stream_find(&ends->a, &line, "\n", 1), -ECANCELED);
}

struct reader {
	sley_fn *fn;
	struct ends *ends;
	struct sley_event begun;
};

static void begin(void *arg)
{
	struct reader *reader = arg;

	sley_event_set(&reader->begun);
	reader->fn(reader->ends);
}

/* A task that was cancelled before it began would read nothing. */
static void cancel_it(struct ends *ends, sley_fn *fn)
{
	struct reader reader = { fn, ends, SLEY_EVENT_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, begin, &reader);
	CHECK_EQ(sley_event_wait(&reader.begun), 0);
	CHECK_EQ(sley_sleep(3 * SLEY_MSEC), 0);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(sley_task_status(&task), 0);
}

static void cancel_readers(struct ends *ends)
{
	char data[8];

	cancel_it(ends, find_line);
	CHECK_EQ(sley_stream_write(&ends->b, "abcde", 5), 5);
	cancel_it(ends, peek_ten);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, data, 5), 5);
	CHECK_EQ(memcmp(data, "abcde", 5), 0);
}

TEST_WORKERS(a_cancelled_reader_loses_nothing)
{
	on_all_layers(cancel_readers);
}

/* ---- buffers -------------------------------------------------------------------------- */

enum { NR_IDLE = 1000 };

struct idler {
	struct sley_stream stream;
	struct sley_task task;
	int peer;
};

static void answer_lines(void *arg)
{
	struct idler *idler = arg;
	const char *line;
	ssize_t n;

	while ((n = sley_stream_find(&idler->stream, &line, "\n", 1)) > 0) {
		CHECK_EQ(sley_stream_write(&idler->stream, line, (size_t)n), n);
		sley_stream_consume(&idler->stream, (size_t)n);
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(sley_stream_close(&idler->stream), 0);
}

TEST_WORKERS(a_thousand_idle_streams_own_no_buffer)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct idler *idler = calloc(NR_IDLE, sizeof(*idler));
	char data[8];

	CHECK(idler != NULL);
	allow_descriptors(2 * NR_IDLE + 100);
	for (int i = 0; i < NR_IDLE; i++) {
		struct pair pair = open_pair(PAIR_UNIX);

		sley_stream_open(&idler[i].stream, pair.from);
		idler[i].peer = pair.to;
		sley_spawn(&group, &idler[i].task, answer_lines, &idler[i]);
	}
	for (int i = 0; i < 2 * NR_IDLE; i++) {
		int peer = idler[i % NR_IDLE].peer;

		CHECK_EQ(sley_io_write(peer, "hello\n", 6), 6);
		CHECK_EQ(sley_io_recv(peer, data, 6, MSG_WAITALL), 6);
	}
	/* All wait now, or are about to. */
	CHECK_GT(buffers_made(), 0);
	CHECK_LT(buffers_made(), NR_IDLE);
	for (int i = 0; i < NR_IDLE; i++)
		CHECK_EQ(sley_io_close(idler[i].peer), 0);
	sley_join(&group);
	free(idler);
	stop(rt);
}

enum {
	NR_BORROWED = 16,
	NR_ROUNDS = 1000,
	NR_KEPT = 10000, /* more than the caches of 64 workers */
};

static void borrow_all(char **buffer)
{
	for (int i = 0; i < NR_BORROWED; i++) {
		buffer[i] = sley_stream_borrow();
		CHECK(buffer[i] != NULL);
		CHECK_EQ((uintptr_t)buffer[i] % 64, 0);
		buffer[i][0] = buffer[i][SLEY_STREAM_BUFFER - 1] = (char)i;
	}
}

static void give_back_all(void *arg)
{
	char **buffer = arg;

	for (int i = 0; i < NR_BORROWED; i++) {
		CHECK_EQ(buffer[i][0], i);
		CHECK_EQ(buffer[i][SLEY_STREAM_BUFFER - 1], i);
		sley_stream_give_back(buffer[i]);
	}
}

/* Borrowed here, and given back here or on another worker. */
TEST_WORKERS(a_buffer_that_was_given_back_serves_again)
{
	struct sley *rt = start();
	char *buffer[NR_BORROWED];

	for (int i = 0; i < NR_ROUNDS; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;

		borrow_all(buffer);
		if (i % 2) {
			sley_spawn(&group, &task, give_back_all, buffer);
			sley_join(&group);
		} else {
			give_back_all(buffer);
		}
	}
	CHECK_LT(buffers_made(), NR_KEPT);
	stop(rt);
}

enum { NR_HELD = 64 };

/* Without memory: a read fails, and loses nothing; a corked write goes out. */
TEST(without_memory_for_a_buffer_no_byte_is_lost)
{
	struct sley *rt = start();
	struct ends *ends = calloc(NR_HELD, sizeof(*ends));
	struct rlimit limit, low;
	const char *data;
	char byte;
	int held = 0;
	ssize_t n = 1;

	if (test_sanitizer())
		test_skip("a sanitizer needs its memory");
	CHECK(ends != NULL);
	for (int i = 0; i < NR_HELD; i++) {
		open_ends(&ends[i], LAYER_UNIX);
		CHECK_EQ(sley_stream_write(&ends[i].b, "ab", 2), 2);
	}
	CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	low = limit;
	low.rlim_cur = 1 << 20;
	CHECK_EQ(setrlimit(RLIMIT_AS, &low), 0);
	while (held < NR_HELD &&
	       (n = sley_stream_peek(&ends[held].a, &data, 1)) > 0)
		held++;
	CHECK_LT(held, NR_HELD);
	CHECK_EQ(n, -ENOMEM);
	sley_stream_cork(&ends[held].b);
	CHECK_EQ(sley_stream_write(&ends[held].b, "c", 1), 1);
	CHECK_EQ(sley_stream_peek(&ends[held].a, &data, 3), -ENOMEM);
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	CHECK_EQ(sley_stream_peek(&ends[held].a, &data, 3), 3);
	CHECK_EQ(memcmp(data, "abc", 3), 0);
	CHECK_EQ(sley_stream_read(&ends[held].a, &byte, 1), 1);
	for (int i = 0; i < NR_HELD; i++)
		close_ends(&ends[i]);
	free(ends);
	stop(rt);
}

/* ---- other places --------------------------------------------------------------------- */

TEST_WORKERS(a_stream_may_be_a_pipe_or_a_file)
{
	struct sley *rt = start();
	struct sley_stream in, out;
	FILE *file = tmpfile();
	const char *line;
	int fd[2];

	CHECK_EQ(sley_io_pipe(fd), 0);
	sley_stream_open(&in, fd[0]);
	sley_stream_open(&out, fd[1]);
	CHECK_EQ(sley_stream_find_until(&in, &line, "\n", 1, in_ms(1)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_write(&out, "one\ntwo", 7), 7);
	CHECK_EQ(sley_stream_find(&in, &line, "\n", 1), 4);
	CHECK_EQ(sley_stream_close(&out), 0);
	sley_stream_consume(&in, 4);
	CHECK_EQ(sley_stream_find(&in, &line, "\n", 1), -ENODATA);
	CHECK_EQ(sley_stream_close(&in), 0);

	CHECK(file != NULL);
	CHECK_EQ(fputs("three\n", file) < 0, 0);
	rewind(file);
	sley_stream_open(&in, dup(fileno(file)));
	CHECK_EQ(sley_stream_find(&in, &line, "\n", 1), 6);
	CHECK_EQ(memcmp(line, "three\n", 6), 0);
	sley_stream_consume(&in, 6);
	CHECK_EQ(sley_stream_find(&in, &line, "\n", 1), 0);
	CHECK_EQ(sley_stream_close(&in), 0);
	CHECK_EQ(fclose(file), 0);
	stop(rt);
}

static void *echo_once(void *arg)
{
	struct ends *ends = arg;
	const char *line;
	ssize_t n = sley_stream_find(&ends->a, &line, "\n", 1);

	CHECK_EQ(n, 6);
	CHECK_EQ(sley_stream_write(&ends->a, line, 6), 6);
	sley_stream_consume(&ends->a, 6);
	CHECK_EQ(sley_stream_find_until(&ends->a, &line, "\n", 1, in_ms(2)),
		 -ETIMEDOUT);
	return NULL;
}

TEST(plain_threads_use_streams_too)
{
	for (int i = 0; i < NR_LAYERS; i++) {
		struct ends ends;
		pthread_t thread;
		char data[6];

		open_ends(&ends, (enum layer)i);
		thread = test_thread(echo_once, &ends);
		CHECK_EQ(sley_stream_write(&ends.b, "hel", 3), 3);
		CHECK_EQ(sley_stream_write(&ends.b, "lo\n", 3), 3);
		CHECK_EQ(sley_stream_read_exactly(&ends.b, data, 6), 6);
		CHECK_EQ(memcmp(data, "hello\n", 6), 0);
		pthread_join(thread, NULL);
		close_ends(&ends);
	}
}

/* Reads and writes, and has no other function than close. */
TEST_WORKERS(a_layer_needs_three_functions)
{
	const struct sley_stream_layer small = { .read = stutter_read,
						 .write = stutter_write,
						 .close = stutter_close };
	struct sley *rt = start();
	struct ends ends;
	const char *line;

	open_ends(&ends, LAYER_STUTTER);
	sley_stream_init(&ends.a, &small, &ends.below[0]);
	CHECK_EQ(sley_stream_fd(&ends.a), -1);
	write_later(&ends, "line\nrest", 9);
	CHECK_EQ(sley_stream_find(&ends.a, &line, "\n", 1), 5);
	sley_stream_consume(&ends.a, 5);
	CHECK_EQ(sley_stream_peek(&ends.a, &line, 4), 4);
	CHECK_EQ(sley_stream_peek_until(&ends.a, &line, 5, 0), -ETIMEDOUT);
	CHECK_EQ(sley_stream_shut(&ends.a), 0);
	close_ends(&ends);
	stop(rt);
}

/* Takes three bytes, and has no room the next time. */
struct miser {
	char taken[16];
	size_t nr;
	bool full;
};

static ssize_t miser_write(void *self, const struct iovec *parts, int nr,
			   uint64_t deadline_ns)
{
	struct miser *miser = self;
	size_t n = 0;

	(void)deadline_ns;
	miser->full = !miser->full;
	if (!miser->full)
		return -ETIMEDOUT;
	for (int i = 0; i < nr; i++)
		for (size_t k = 0; k < parts[i].iov_len && n < 3; k++, n++)
			miser->taken[miser->nr++] =
				((const char *)parts[i].iov_base)[k];
	return (ssize_t)n;
}

static int miser_close(void *self)
{
	(void)self;
	return 0;
}

TEST(a_flush_goes_on_where_the_last_one_ended)
{
	const struct sley_stream_layer layer = { .write = miser_write,
						 .close = miser_close };
	static char large[SLEY_STREAM_BUFFER];
	struct miser miser = { .nr = 0 };
	struct sley_stream stream;

	sley_stream_init(&stream, &layer, &miser);
	sley_stream_cork(&stream);
	CHECK_EQ(sley_stream_write(&stream, "abcdefgh", 8), 8);
	CHECK_EQ(sley_stream_flush(&stream), -ETIMEDOUT);
	CHECK_EQ(miser.nr, 3);
	/* Does not fit: the buffer goes first, and nothing of it is taken. */
	CHECK_EQ(sley_stream_write(&stream, large, sizeof(large)), -ETIMEDOUT);
	CHECK_EQ(miser.nr, 6);
	CHECK_EQ(sley_stream_uncork(&stream), 0);
	CHECK_EQ(miser.nr, 8);
	CHECK_EQ(memcmp(miser.taken, "abcdefgh", 8), 0);
	CHECK_EQ(sley_stream_close(&stream), 0);
}
