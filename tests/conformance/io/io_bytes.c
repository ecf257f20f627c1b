/* SPDX-License-Identifier: MIT */
/*
 * io_bytes.c - <sley/io.h>: bytes that come and go, on each kind of descriptor.
 */
#include <poll.h>
#include <pthread.h>

#include "conformance/io/pairs.h"

#define FOR_EACH_KIND(kind)                                                    \
	for (enum pair_kind kind = 0; kind < NR_PAIR_KINDS; kind++)

/* ---- a reader waits ------------------------------------------------------------------- */

struct reading {
	int fd;
	atomic_int begun;
	ssize_t result;
	char data[16];
};

static void read_once(void *arg)
{
	struct reading *reading = arg;

	atomic_fetch_add(&reading->begun, 1);
	reading->result =
		sley_io_read(reading->fd, reading->data, sizeof(reading->data));
}

/* Other tasks run while the reader waits: this task and the reader share a worker. */
TEST_WORKERS(a_reader_waits_for_the_first_byte)
{
	struct sley *rt = start();

	FOR_EACH_KIND(kind)
	{
		struct pair pair = open_pair(kind);
		struct reading reading = { .fd = pair.from };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;

		sley_spawn(&group, &task, read_once, &reading);
		while (!atomic_load(&reading.begun))
			sley_yield();
		CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
		CHECK_EQ(sley_io_write(pair.to, "hello", 5), 5);
		sley_join(&group);
		CHECK_EQ(reading.result, 5);
		CHECK(memcmp(reading.data, "hello", 5) == 0);
		close_pair(&pair);
	}
	stop(rt);
}

/* ---- nothing is lost, and the order is kept -------------------------------------------- */

struct transfer {
	struct pair pair;
	size_t size;
	bool in_parts;
};

static char byte_at(size_t i)
{
	return (char)(i * 31 + i / 251);
}

static ssize_t write_some(const struct transfer *transfer, const char *data,
			  size_t size)
{
	struct iovec part[12];
	size_t step = size / 12;

	if (!transfer->in_parts)
		return sley_io_write(transfer->pair.to, data, size);
	for (size_t i = 0; i < 12; i++)
		part[i] = (struct iovec){ (char *)data + i * step,
					  i < 11 ? step : size - 11 * step };
	return sley_io_writev(transfer->pair.to, part, 12);
}

static void write_all(void *arg)
{
	const struct transfer *transfer = arg;
	char *data = malloc(transfer->size);

	CHECK(data != NULL);
	for (size_t i = 0; i < transfer->size; i++)
		data[i] = byte_at(i);
	CHECK_EQ(write_some(transfer, data, transfer->size), transfer->size);
	free(data);
	CHECK_EQ(sley_io_close(transfer->pair.to), 0);
}

static ssize_t read_some(const struct transfer *transfer, char *data,
			 size_t size)
{
	struct iovec part[3] = { { data, 1 },
				 { data + 1, 0 },
				 { data + 1, size - 1 } };

	return transfer->in_parts
		       ? sley_io_readv(transfer->pair.from, part, 3)
		       : sley_io_read(transfer->pair.from, data, size);
}

static void read_all(void *arg)
{
	const struct transfer *transfer = arg;
	char data[777];
	size_t done = 0;
	ssize_t n;

	while ((n = read_some(transfer, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			CHECK_EQ(data[i], byte_at(done + (size_t)i));
		done += (size_t)n;
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(done, transfer->size);
	CHECK_EQ(sley_io_close(transfer->pair.from), 0);
}

/* A write to a socket is many: its room is small.  A pipe has little room anyway. */
static void make_small(int fd)
{
	const int size = 4096;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static void transfer_all(bool in_parts)
{
	struct sley *rt = start();

	FOR_EACH_KIND(kind)
	{
		struct transfer transfer = { .pair = open_pair(kind),
					     .size = 100000,
					     .in_parts = in_parts };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[2];

		make_small(transfer.pair.to);
		sley_spawn(&group, &task[0], write_all, &transfer);
		sley_spawn(&group, &task[1], read_all, &transfer);
		sley_join(&group);
	}
	stop(rt);
}

TEST_WORKERS(a_long_write_arrives_whole_and_in_order)
{
	transfer_all(false);
}

TEST_WORKERS(parts_arrive_whole_and_in_order)
{
	transfer_all(true);
}

/* ---- round trips ------------------------------------------------------------------------ */

static void echo(void *arg)
{
	const int *fd = arg;
	char data[64];
	ssize_t n;

	while ((n = sley_io_recv(*fd, data, sizeof(data), 0)) > 0)
		CHECK_EQ(sley_io_send(*fd, data, (size_t)n, 0), n);
	CHECK_EQ(n, 0);
}

/* The socket is known to be empty after each short read, and the wait begins at once. */
TEST_WORKERS(each_of_many_messages_comes_back)
{
	struct sley *rt = start();

	for (enum pair_kind kind = PAIR_UNIX; kind <= PAIR_TCP; kind++) {
		struct pair pair = open_pair(kind);
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;

		sley_spawn(&group, &task, echo, &pair.from);
		for (int i = 0; i < test_scale(3000); i++) {
			int back = -1;

			CHECK_EQ(sley_io_send(pair.to, &i, sizeof(i), 0),
				 sizeof(i));
			CHECK_EQ(sley_io_recv(pair.to, &back, sizeof(back), 0),
				 sizeof(back));
			CHECK_EQ(back, i);
		}
		CHECK_EQ(shutdown(pair.to, SHUT_WR), 0);
		sley_join(&group);
		close_pair(&pair);
	}
	stop(rt);
}

/* The end comes together with the data: a short read, and no edge after it. */
TEST_WORKERS(an_end_that_came_with_the_data_is_seen)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(200); i++) {
		struct pair pair = tcp_pair();
		struct reading reading = { .fd = pair.from };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;
		char more[8];

		sley_spawn(&group, &task, read_once, &reading);
		if (i % 2)
			sley_yield();
		CHECK_EQ(send(pair.to, "last", 4, MSG_MORE), 4);
		CHECK_EQ(shutdown(pair.to, SHUT_WR), 0);
		sley_join(&group);
		CHECK_EQ(reading.result, 4);
		CHECK_EQ(sley_io_read_until(pair.from, more, sizeof(more),
					    in_ms(5000)),
			 0);
		close_pair(&pair);
	}
	stop(rt);
}

/* A read stops at urgent data, although there is more: it is no empty socket. */
TEST_WORKERS(bytes_behind_urgent_data_are_read)
{
	struct sley *rt = start();
	struct pair pair = tcp_pair();
	char data[16] = "";

	CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data), in_ms(1)),
		 -ETIMEDOUT);
	CHECK_EQ(send(pair.to, "ab", 2, 0), 2);
	CHECK_EQ(send(pair.to, "!", 1, MSG_OOB), 1);
	CHECK_EQ(send(pair.to, "cd", 2, 0), 2);
	/* Both parts are there. */
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data), in_ms(5000)),
		 2);
	CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data), in_ms(5000)),
		 2);
	CHECK(memcmp(data, "cd", 2) == 0);
	close_pair(&pair);
	stop(rt);
}

TEST_WORKERS(all_that_was_asked_for_is_waited_for)
{
	struct sley *rt = start();
	struct pair pair = tcp_pair();
	char data[8] = "";

	CHECK_EQ(sley_io_send(pair.to, "abc", 3, 0), 3);
	CHECK_EQ(sley_io_recv_until(pair.from, data, 8, MSG_WAITALL, in_ms(5)),
		 3);
	CHECK_EQ(sley_io_send(pair.to, "defghijkl", 9, 0), 9);
	CHECK_EQ(sley_io_recv(pair.from, data, 8, MSG_WAITALL), 8);
	CHECK(memcmp(data, "defghijk", 8) == 0);
	CHECK_EQ(sley_io_recv(pair.from, data, 8, MSG_DONTWAIT), 1);
	CHECK_EQ(sley_io_recv(pair.from, data, 8, MSG_DONTWAIT), -EAGAIN);
	close_pair(&pair);
	stop(rt);
}

/* ---- deadlines and cancels --------------------------------------------------------------- */

TEST_WORKERS(a_deadline_ends_a_read_and_nothing_is_read)
{
	struct sley *rt = start();

	FOR_EACH_KIND(kind)
	{
		struct pair pair = open_pair(kind);
		uint64_t start_ns = sley_now();
		char data[8] = "-------";

		CHECK_EQ(sley_io_read_until(pair.from, data, 7, in_ms(5)),
			 -ETIMEDOUT);
		CHECK_GE(ms_since(start_ns), 5);
		CHECK_STR(data, "-------");
		/* A deadline that has passed does not keep a call from its data. */
		CHECK_EQ(sley_io_write_until(pair.to, "ready", 5, 0), 5);
		CHECK_EVENTUALLY(sley_io_poll(pair.from, POLLIN) > 0);
		CHECK_EQ(sley_io_read_until(pair.from, data, 7, 0), 5);
		close_pair(&pair);
	}
	stop(rt);
}

TEST_WORKERS(a_deadline_ends_a_write_in_the_middle)
{
	struct sley *rt = start();
	static char data[8 << 20];

	FOR_EACH_KIND(kind)
	{
		struct pair pair = open_pair(kind);
		ssize_t n = sley_io_write_until(pair.to, data, sizeof(data),
						in_ms(5));

		CHECK_GT(n, 0);
		CHECK_LT(n, sizeof(data));
		CHECK_EQ(sley_io_write_until(pair.to, data, sizeof(data),
					     in_ms(1)),
			 -ETIMEDOUT);
		close_pair(&pair);
	}
	stop(rt);
}

static int read_in_scope(void *arg)
{
	const int *fd = arg;
	char data[8];

	return (int)sley_io_read(*fd, data, sizeof(data));
}

static int fail_soon(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	return -ECONNRESET;
}

TEST_WORKERS(the_first_failure_of_a_scope_ends_its_reads)
{
	struct sley *rt = start();

	FOR_EACH_KIND(kind)
	{
		struct pair pair = open_pair(kind);
		struct sley_task task[2];
		struct sley_scope scope;

		sley_scope_open(&scope);
		sley_scope_spawn(&scope, &task[0], read_in_scope, &pair.from);
		sley_scope_spawn(&scope, &task[1], fail_soon, NULL);
		CHECK_EQ(sley_scope_close(&scope), -ECONNRESET);
		close_pair(&pair);
	}
	stop(rt);
}

/* ---- several callers ---------------------------------------------------------------------- */

enum { NR_READERS = 4, NR_DATAGRAMS = 2000 };

struct crowd {
	int fd;
	atomic_int nr;
	atomic_int sum;
};

static void read_datagrams(void *arg)
{
	struct crowd *crowd = arg;
	int value;

	for (;;) {
		CHECK_EQ(sley_io_recv(crowd->fd, &value, sizeof(value), 0),
			 sizeof(value));
		if (value < 0)
			return;
		atomic_fetch_add(&crowd->nr, 1);
		atomic_fetch_add(&crowd->sum, value);
	}
}

/* An edge stands for several datagrams: no reader sleeps beside one. */
TEST_WORKERS(readers_of_one_socket_share_what_comes)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_READERS];
	struct crowd crowd = { .fd = -1 };
	int fd[2], nr = test_scale(NR_DATAGRAMS);

	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fd), 0);
	crowd.fd = fd[0];
	for (int i = 0; i < NR_READERS; i++)
		sley_spawn(&group, &task[i], read_datagrams, &crowd);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_io_send(fd[1], &i, sizeof(i), 0), sizeof(i));
	for (int i = 0, end = -1; i < NR_READERS; i++)
		CHECK_EQ(sley_io_send(fd[1], &end, sizeof(end), 0),
			 sizeof(end));
	sley_join(&group);
	CHECK_EQ(crowd.nr, nr);
	CHECK_EQ(crowd.sum, nr * (nr - 1) / 2);
	CHECK_EQ(sley_io_close(fd[0]), 0);
	CHECK_EQ(sley_io_close(fd[1]), 0);
	stop(rt);
}

static void *echo_thread(void *arg)
{
	echo(arg);
	return NULL;
}

TEST_WORKERS(a_plain_thread_waits_by_itself)
{
	struct sley *rt = start();
	struct pair pair = tcp_pair();
	pthread_t thread = test_thread(echo_thread, &pair.from);

	for (int i = 0; i < 100; i++) {
		int back = -1;

		CHECK_EQ(sley_io_write(pair.to, &i, sizeof(i)), sizeof(i));
		CHECK_EQ(sley_io_read(pair.to, &back, sizeof(back)),
			 sizeof(back));
		CHECK_EQ(back, i);
	}
	CHECK_EQ(shutdown(pair.to, SHUT_WR), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	close_pair(&pair);
	stop(rt);
}

TEST(a_thread_without_any_runtime_reads_and_writes)
{
	struct pair pair = tcp_pair();
	pthread_t thread = test_thread(echo_thread, &pair.from);
	char data[8];

	CHECK_EQ(sley_io_write(pair.to, "plain", 5), 5);
	CHECK_EQ(sley_io_read(pair.to, data, sizeof(data)), 5);
	CHECK_EQ(sley_io_read_until(pair.to, data, sizeof(data), in_ms(3)),
		 -ETIMEDOUT);
	CHECK_EQ(shutdown(pair.to, SHUT_WR), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	close_pair(&pair);
}

/* Bytes are always there, and yet another task of the worker has its turn. */
static void set_flag(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
}

TEST(a_reader_that_never_waits_gives_way)
{
	struct sley *rt = start_single();
	struct pair pair = open_pair(PAIR_PIPE);
	struct sley_group group = SLEY_GROUP_INIT;
	atomic_bool ran = false;
	struct sley_task task;
	int nr = 0;
	char byte;

	sley_spawn(&group, &task, set_flag, &ran);
	while (!atomic_load(&ran)) {
		CHECK_EQ(sley_io_write(pair.to, "x", 1), 1);
		CHECK_EQ(sley_io_read(pair.from, &byte, 1), 1);
		CHECK_LT(++nr, 100);
	}
	sley_join(&group);
	close_pair(&pair);
	stop(rt);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

TEST(a_descriptor_that_is_not_open_is_an_error)
{
	struct sley *rt = start();
	char data[8];

	CHECK_EQ(sley_io_read(-1, data, sizeof(data)), -EBADF);
	CHECK_EQ(sley_io_write(-1, data, sizeof(data)), -EBADF);
	CHECK_EQ(sley_io_read(9999, data, sizeof(data)), -EBADF);
	CHECK_EQ(sley_io_read(INT32_MAX, data, sizeof(data)), -EBADF);
	CHECK_EQ(sley_io_close(-1), -EBADF);
	CHECK_EQ(sley_io_close(9999), -EBADF);
	CHECK_EQ(sley_io_poll(0, 0), -EINVAL);
	CHECK_EQ(sley_io_poll(9999, POLLIN), -EBADF);
	CHECK_EQ(sley_io_readv(0, NULL, -1), -EINVAL);
	stop(rt);
}

TEST_WORKERS(a_peer_that_has_gone_is_an_error_and_no_signal)
{
	struct sley *rt = start();

	FOR_EACH_KIND(kind)
	{
		struct pair pair = open_pair(kind);
		ssize_t n;

		CHECK_EQ(sley_io_close(pair.from), 0);
		do {
			n = sley_io_write(pair.to, "x", 1);
		} while (n == 1);
		CHECK(n == -EPIPE || (kind == PAIR_TCP && n == -ECONNRESET));
		CHECK_EQ(sley_io_close(pair.to), 0);
	}
	stop(rt);
}
