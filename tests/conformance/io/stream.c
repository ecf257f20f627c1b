/* SPDX-License-Identifier: MIT */
/*
 * stream.c - reading and writing streams: what is there, so many bytes, a look, up to a
 * delimiter; corked writes; the end.  All on two layers: plain descriptors, and a layer
 * that gives and takes one byte at a time.
 */
#include "conformance/io/stutter.h"

/* ---- reading -------------------------------------------------------------------------- */

static void read_what_is_there(struct ends *ends)
{
	char data[8];

	CHECK_EQ(sley_stream_write(&ends->b, "hello", 5), 5);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, data, 3), 3);
	CHECK_EQ(memcmp(data, "hel", 3), 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, data, 2), 2);
	CHECK_EQ(memcmp(data, "lo", 2), 0);
	CHECK_EQ(sley_stream_read(&ends->a, data, 0), 0);
	CHECK_EQ(sley_stream_read_until(&ends->a, data, 8, in_ms(2)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_shut(&ends->b), 0);
	CHECK_EQ(sley_stream_read(&ends->a, data, 8), 0);
	CHECK_EQ(sley_stream_read(&ends->a, data, 8), 0);
}

TEST_WORKERS(a_read_gives_what_is_there_and_the_end)
{
	on_all_layers(read_what_is_there);
}

static void read_exactly(struct ends *ends)
{
	static char sent[3 * SLEY_STREAM_BUFFER], got[sizeof(sent)];

	fill(sent, sizeof(sent));
	write_later(ends, sent, sizeof(sent));
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 5), 5);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got + 5, sizeof(got) - 5),
		 sizeof(got) - 5);
	CHECK_EQ(memcmp(got, sent, sizeof(sent)), 0);
	join_writer(ends);
	/* Ten bytes come before the end. */
	CHECK_EQ(sley_stream_write(&ends->b, sent, 10), 10);
	CHECK_EQ(sley_stream_shut(&ends->b), 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 11), 10);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 11), 0);
}

TEST_WORKERS(an_exact_read_waits_for_all_bytes)
{
	on_all_layers(read_exactly);
}

static void peek(struct ends *ends)
{
	static char sent[SLEY_STREAM_BUFFER];
	const char *data;

	fill(sent, sizeof(sent));
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 0), 0);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, SLEY_STREAM_BUFFER + 1),
		 -EINVAL);
	CHECK_EQ(sley_stream_write(&ends->b, "abcdef", 6), 6);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 6), 6);
	CHECK_EQ(memcmp(data, "abcdef", 6), 0);
	sley_stream_consume(&ends->a, 2);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 1), 4);
	CHECK_EQ(memcmp(data, "cdef", 4), 0);
	CHECK_EQ(sley_stream_peek_until(&ends->a, &data, 5, in_ms(2)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 0), 4);
	sley_stream_consume(&ends->a, 3);
	/* The last byte, and all but one of a buffer, move to the front. */
	write_later(ends, sent, SLEY_STREAM_BUFFER - 1);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, SLEY_STREAM_BUFFER),
		 SLEY_STREAM_BUFFER);
	CHECK_EQ(data[0], 'f');
	CHECK_EQ(memcmp(data + 1, sent, SLEY_STREAM_BUFFER - 1), 0);
	join_writer(ends);
	sley_stream_consume(&ends->a, SLEY_STREAM_BUFFER);
	CHECK_EQ(sley_stream_write(&ends->b, "xy", 2), 2);
	CHECK_EQ(sley_stream_shut(&ends->b), 0);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 3), 2);
	sley_stream_consume(&ends->a, 2);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 3), 0);
}

TEST_WORKERS(a_peek_waits_for_bytes_and_takes_none)
{
	on_all_layers(peek);
}

static void find(struct ends *ends)
{
	static char sent[SLEY_STREAM_BUFFER + 1];
	const char *line;

	CHECK_EQ(sley_stream_find(&ends->a, &line, "", 0), -EINVAL);
	CHECK_EQ(sley_stream_write(&ends->b, "one\r\ntwo\r", 9), 9);
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\r\n", 2), 5);
	CHECK_EQ(memcmp(line, "one\r\n", 5), 0);
	sley_stream_consume(&ends->a, 5);
	/* Half of the delimiter is there. */
	CHECK_EQ(sley_stream_find_until(&ends->a, &line, "\r\n", 2, in_ms(2)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_write(&ends->b, "\nthree", 6), 6);
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\r\n", 2), 5);
	CHECK_EQ(memcmp(line, "two\r\n", 5), 0);
	sley_stream_consume(&ends->a, 5);
	/* A line that ends with the last byte of the buffer, and one too long. */
	memset(sent, 'x', sizeof(sent));
	sent[SLEY_STREAM_BUFFER - 6] = '\n';
	write_later(ends, sent, SLEY_STREAM_BUFFER - 5);
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\n", 1),
		 SLEY_STREAM_BUFFER);
	sley_stream_consume(&ends->a, SLEY_STREAM_BUFFER);
	join_writer(ends);
	sent[SLEY_STREAM_BUFFER - 6] = 'x';
	sent[SLEY_STREAM_BUFFER] = '\n';
	write_later(ends, sent, sizeof(sent));
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\n", 1), -EMSGSIZE);
	CHECK_EQ(sley_stream_peek(&ends->a, &line, 0), SLEY_STREAM_BUFFER);
	sley_stream_consume(&ends->a, SLEY_STREAM_BUFFER);
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\n", 1), 1);
	sley_stream_consume(&ends->a, 1);
	join_writer(ends);
	CHECK_EQ(sley_stream_write(&ends->b, "half", 4), 4);
	CHECK_EQ(sley_stream_shut(&ends->b), 0);
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\n", 1), -ENODATA);
	sley_stream_consume(&ends->a, 4);
	CHECK_EQ(sley_stream_find(&ends->a, &line, "\n", 1), 0);
}

TEST_WORKERS(a_delimiter_is_found_wherever_it_is)
{
	on_all_layers(find);
}

static void read_sooner(struct ends *ends)
{
	static char got[2 * SLEY_STREAM_BUFFER];
	const char *data;

	CHECK_EQ(sley_stream_write(&ends->b, "abc", 3), 3);
	CHECK_EQ(sley_stream_peek(&ends->a, &data, 3), 3);
	/* What is buffered comes alone, also to a read that is large. */
	CHECK_EQ(sley_stream_write(&ends->b, "def", 3), 3);
	CHECK_EQ(sley_stream_read(&ends->a, got, sizeof(got)), 3);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 3), 3);
	CHECK_EQ(memcmp(got, "def", 3), 0);
	/* With a deadline that has passed, what is there is read. */
	CHECK_EQ(sley_stream_write(&ends->b, "ghi", 3), 3);
	CHECK_EVENTUALLY(sley_stream_read_until(&ends->a, got, 1, 0) == 1);
	CHECK_EQ(sley_stream_read_until(&ends->a, got, 1, 1), 1);
	CHECK_EQ(sley_stream_read_until(&ends->a, got, sizeof(got), 0), 1);
	CHECK_EQ(sley_stream_read_until(&ends->a, got, sizeof(got), 0),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_read_until(&ends->a, got, 1, 0), -ETIMEDOUT);
	CHECK_EQ(sley_stream_peek_until(&ends->a, &data, 1, 0), -ETIMEDOUT);
}

TEST_WORKERS(bytes_in_the_buffer_come_first)
{
	on_all_layers(read_sooner);
}

TEST_ABORTS(more_bytes_than_shown_cannot_be_consumed, "can be consumed")
{
	struct sley *rt = start();
	struct ends ends;
	const char *data;

	open_ends(&ends, LAYER_TCP);
	CHECK_EQ(sley_stream_write(&ends.b, "ab", 2), 2);
	CHECK_EQ(sley_stream_peek(&ends.a, &data, 2), 2);
	sley_stream_consume(&ends.a, 3);
	stop(rt);
}

/* ---- writing -------------------------------------------------------------------------- */

static void cork(struct ends *ends)
{
	static char sent[SLEY_STREAM_BUFFER], got[2 * SLEY_STREAM_BUFFER];
	struct iovec parts[2] = { { (void *)(uintptr_t) "cd", 2 },
				  { (void *)(uintptr_t) "ef", 2 } };

	fill(sent, sizeof(sent));
	sley_stream_cork(&ends->b);
	CHECK_EQ(sley_stream_write(&ends->b, "ab", 2), 2);
	CHECK_EQ(sley_stream_writev(&ends->b, parts, 2), 4);
	CHECK_EQ(sley_stream_writev(&ends->b, parts, -1), -EINVAL);
	CHECK_EQ(sley_stream_read_until(&ends->a, got, 8, in_ms(2)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_flush(&ends->b), 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 6), 6);
	CHECK_EQ(memcmp(got, "abcdef", 6), 0);
	/* Still corked.  What does not fit goes out, and all before it. */
	CHECK_EQ(sley_stream_write(&ends->b, "12", 2), 2);
	write_later(ends, sent, sizeof(sent));
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 2 + sizeof(sent)),
		 2 + sizeof(sent));
	CHECK_EQ(memcmp(got, "12", 2), 0);
	CHECK_EQ(memcmp(got + 2, sent, sizeof(sent)), 0);
	join_writer(ends);
	CHECK_EQ(sley_stream_write(&ends->b, "34", 2), 2);
	CHECK_EQ(sley_stream_uncork(&ends->b), 0);
	CHECK_EQ(sley_stream_write(&ends->b, "5", 1), 1);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 3), 3);
	CHECK_EQ(memcmp(got, "345", 3), 0);
	CHECK(ends->b.out == NULL);
}

TEST_WORKERS(a_corked_stream_collects_what_is_written)
{
	on_all_layers(cork);
}

static void hold_back(struct ends *ends)
{
	static char sent[1 << 20], got[sizeof(sent)];
	size_t size = ends->layer == LAYER_STUTTER ? 1 << 14 : sizeof(sent);
	size_t done = 0;
	ssize_t n;

	fill(sent, sizeof(sent));
	/* The peer does not read: after a while there is no room. */
	while ((n = sley_stream_write_until(&ends->b, sent + done, size - done,
					    in_ms(20))) > 0 &&
	       done + (size_t)n < size)
		done += (size_t)n;
	CHECK_EQ(n, -ETIMEDOUT);
	CHECK_GT(done, 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, done), done);
	CHECK_EQ(memcmp(got, sent, done), 0);
	/* And a writer without a deadline waits for a reader. */
	write_later(ends, sent, size);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, size), size);
	CHECK_EQ(memcmp(got, sent, size), 0);
}

TEST_WORKERS(a_writer_waits_for_its_reader)
{
	on_all_layers(hold_back);
}

static void flush_in_part(struct ends *ends)
{
	static char sent[1 << 20], got[sizeof(sent) + 16];
	size_t done = 0, rest;
	ssize_t n;

	if (ends->layer == LAYER_STUTTER)
		return;
	fill(sent, sizeof(sent));
	/*
	 * The kernel takes its time to move bytes to the other end of a TCP
	 * connection, which makes room here.  So wait until there is none for long.
	 */
	while ((n = sley_stream_write_until(&ends->b, sent + done,
					    sizeof(sent) - done, in_ms(100))) >
		       0 &&
	       done + (size_t)n < sizeof(sent))
		done += (size_t)n;
	CHECK_EQ(n, -ETIMEDOUT);
	sley_stream_cork(&ends->b);
	CHECK_EQ(sley_stream_write(&ends->b, "the rest", 8), 8);
	CHECK_EQ(sley_stream_flush_until(&ends->b, in_ms(1)), -ETIMEDOUT);
	CHECK_EQ(sley_stream_write_until(&ends->b, sent, SLEY_STREAM_BUFFER,
					 in_ms(1)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_stream_uncork_until(&ends->b, in_ms(1)), -ETIMEDOUT);
	rest = done;
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, rest), rest);
	CHECK_EQ(memcmp(got, sent, rest), 0);
	CHECK_EQ(sley_stream_flush(&ends->b), 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 8), 8);
	CHECK_EQ(memcmp(got, "the rest", 8), 0);
}

TEST_WORKERS(a_flush_that_ends_early_can_go_on)
{
	on_all_layers(flush_in_part);
}

static void send_file(struct ends *ends)
{
	static char sent[300000], got[sizeof(sent)];
	size_t size = ends->layer == LAYER_STUTTER ? 5000 : sizeof(sent);
	FILE *file = tmpfile();

	CHECK(file != NULL);
	fill(sent, sizeof(sent));
	CHECK_EQ(fwrite(sent, 1, size, file), size);
	CHECK_EQ(fflush(file), 0);
	sley_stream_cork(&ends->b);
	CHECK_EQ(sley_stream_write(&ends->b, "head", 4), 4);
	sendfile_later(ends, fileno(file), 7, size);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, 4), 4);
	CHECK_EQ(memcmp(got, "head", 4), 0);
	CHECK_EQ(sley_stream_read_exactly(&ends->a, got, size - 7), size - 7);
	CHECK_EQ(memcmp(got, sent + 7, size - 7), 0);
	join_writer(ends);
	/* It ends before. */
	CHECK_EQ(ends->written, size - 7);
	CHECK_EQ(sley_stream_sendfile(&ends->b, fileno(file), (int64_t)size, 9),
		 0);
	CHECK_EQ(sley_stream_sendfile(&ends->b, fileno(file), -1, 9), -EINVAL);
	CHECK_EQ(fclose(file), 0);
}

TEST_WORKERS(a_part_of_a_file_is_sent)
{
	on_all_layers(send_file);
}
