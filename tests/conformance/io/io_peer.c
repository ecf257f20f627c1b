/* SPDX-License-Identifier: MIT */
/*
 * io_peer.c - peers that mean no good, below streams: one that sends byte by byte, one
 * that never reads, one that resets in the middle of a send, one that half-closes.
 */
#include "conformance/io/pairs.h"

#include <poll.h>

static char much[8 << 20];

static void reset(int fd)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
		 0);
	CHECK_EQ(sley_io_close(fd), 0);
}

struct sender {
	int fd;
	atomic_bool begun;
	ssize_t first, second;
};

static void send_twice(void *arg)
{
	struct sender *sender = arg;

	atomic_store(&sender->begun, true);
	sender->first = sley_io_write(sender->fd, much, sizeof(much));
	sender->second = sley_io_write(sender->fd, much, sizeof(much));
}

/* What was taken is reported, then the error; the wait for room does not last. */
TEST_WORKERS(a_peer_that_resets_ends_the_wait_for_room)
{
	struct sley *rt = start();
	struct pair pair = open_pair(PAIR_TCP);
	struct sender sender = { .fd = pair.to };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, send_twice, &sender);
	while (!atomic_load(&sender.begun))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	/* Some of it has been sent. */
	CHECK_GT(sley_io_poll(pair.from, POLLIN), 0);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	reset(pair.from);
	sley_join(&group);
	CHECK_GT(sender.first, 0);
	CHECK_LT(sender.first, sizeof(much));
	CHECK(sender.second == -ECONNRESET || sender.second == -EPIPE);
	CHECK_EQ(sley_io_close(pair.to), 0);
	stop(rt);
}

static void read_once(void *arg)
{
	struct sender *sender = arg;
	char data[8];

	atomic_store(&sender->begun, true);
	sender->first = sley_io_read(sender->fd, data, sizeof(data));
}

TEST_WORKERS(a_peer_that_resets_ends_a_read)
{
	struct sley *rt = start();
	struct pair pair = open_pair(PAIR_TCP);
	struct sender sender = { .fd = pair.from };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, read_once, &sender);
	while (!atomic_load(&sender.begun))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	reset(pair.to);
	sley_join(&group);
	CHECK_EQ(sender.first, -ECONNRESET);
	CHECK_EQ(sley_io_close(pair.from), 0);
	stop(rt);
}

/* The end is read once and again, and the other direction goes on. */
TEST_WORKERS(a_peer_that_half_closes_can_be_written_to)
{
	struct sley *rt = start();
	char data[8];

	for (enum pair_kind kind = PAIR_UNIX; kind <= PAIR_TCP; kind++) {
		struct pair pair = open_pair(kind);

		CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
		CHECK_EQ(shutdown(pair.to, SHUT_WR), 0);
		CHECK_EQ(sley_io_read(pair.from, data, 3), 3);
		CHECK_EQ(sley_io_read(pair.from, data, sizeof(data)), 0);
		CHECK_EQ(sley_io_read(pair.from, data, sizeof(data)), 0);
		CHECK_EQ(sley_io_write(pair.from, "defg", 4), 4);
		CHECK_EQ(sley_io_read(pair.to, data, sizeof(data)), 4);
		CHECK_EQ(sley_io_write(pair.to, "x", 1), -EPIPE);
		close_pair(&pair);
	}
	stop(rt);
}

static void send_bytes(void *arg)
{
	const int *fd = arg;

	for (int i = 0; i < 200; i++) {
		CHECK_EQ(sley_io_write(*fd, &"abcdefgh"[i % 8], 1), 1);
		if (i % 16 == 0)
			CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
	}
}

TEST_WORKERS(bytes_that_come_one_by_one_are_all_read)
{
	struct sley *rt = start();
	struct pair pair = open_pair(PAIR_TCP);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char data[64];

	sley_spawn(&group, &task, send_bytes, &pair.to);
	for (size_t sum = 0; sum < 200;) {
		ssize_t n = sley_io_read(pair.from, data, sizeof(data));

		CHECK_GT(n, 0);
		for (ssize_t i = 0; i < n; i++)
			CHECK_EQ(data[i], "abcdefgh"[(sum + (size_t)i) % 8]);
		sum += (size_t)n;
	}
	sley_join(&group);
	close_pair(&pair);
	stop(rt);
}

/* The writer waits for a peer that does not read, until its deadline: a task each. */
TEST_WORKERS(a_peer_that_never_reads_holds_its_writer_until_the_deadline)
{
	struct sley *rt = start();
	struct pair pair = open_pair(PAIR_TCP);
	uint64_t deadline_ns;
	ssize_t n;

	do {
		deadline_ns = in_ms(20);
		n = sley_io_write_until(pair.to, much, sizeof(much),
					deadline_ns);
		CHECK_LT(n, sizeof(much));
	} while (n > 0);
	CHECK_EQ(n, -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline_ns);
	close_pair(&pair);
	stop(rt);
}
