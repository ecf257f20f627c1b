/* SPDX-License-Identifier: MIT */
/*
 * io_denied.c - a filter of the program denies io_uring, epoll or memory, before the
 * runtime starts or while its tasks wait.
 *
 * Without io_uring all works.  Without epoll a call that has to wait says so, and
 * takes nothing; a call that need not wait is carried out; descriptors that are
 * watched already stay so.
 */
#include <poll.h>
#include <sys/syscall.h>

#include "conformance/io/pairs.h"
#include "conformance/io/temporary.h"
#include "hostile/filter.h"

static void deny(int number, int err)
{
	if (filter_forbid(number, err))
		test_skip("seccomp is not to be had");
}

static void deny_io_uring(void)
{
	deny(SYS_io_uring_setup, EPERM);
	deny(SYS_io_uring_enter, EPERM);
	deny(SYS_io_uring_register, EPERM);
}

static struct sley *start_as(enum sley_io io)
{
	struct sley_config config = *test_config();

	config.io = io;
	return start_with(&config);
}

/* ---- io_uring --------------------------------------------------------------------------- */

static void write_soon(void *arg)
{
	const int *fd = arg;

	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	CHECK_EQ(sley_io_write(*fd, "abc", 3), 3);
}

static void exchange(void)
{
	struct pair pair = open_pair(PAIR_TCP);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char data[8];

	sley_spawn(&group, &task, write_soon, &pair.to);
	CHECK_EQ(sley_io_read(pair.from, data, sizeof(data)), 3);
	sley_join(&group);
	close_pair(&pair);
}

/* fsync() always goes to the ring, if there is one. */
static void write_file(void)
{
	struct folder folder = make_folder();
	int fd = make_file(&folder, "file", 4096);
	char data[64];

	CHECK_EQ(sley_io_fsync(fd), 0);
	CHECK_EQ(sley_io_pread(fd, data, sizeof(data), 100), sizeof(data));
	check_pattern(data, sizeof(data), 100);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
}

static void use_both(void *arg)
{
	(void)arg;
	exchange();
	write_file();
}

TEST_WORKERS(without_io_uring_all_calls_work)
{
	struct sley *rt;

	deny_io_uring();
	rt = start_as(SLEY_IO_URING);
	run_task(use_both, NULL);
	stop(rt);
}

static void lose_io_uring(void *arg)
{
	use_both(arg);
	deny_io_uring();
	for (int i = 0; i < 3; i++)
		use_both(arg);
}

TEST_WORKERS(io_uring_may_be_denied_while_it_is_in_use)
{
	struct sley *rt = start_as(SLEY_IO_URING);

	run_task(lose_io_uring, NULL);
	stop(rt);
}

/* ---- epoll ------------------------------------------------------------------------------ */

static void wait_without_epoll(void *arg)
{
	struct pair pair = open_pair(PAIR_UNIX);
	char data[8];

	(void)arg;
	CHECK_EQ(sley_io_read(pair.from, data, sizeof(data)), -EPERM);
	CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
	CHECK_EQ(sley_io_read(pair.from, data, sizeof(data)), 3);
	CHECK_EQ(sley_io_read(pair.from, data, sizeof(data)), -EPERM);
	close_pair(&pair);
}

TEST_WORKERS(without_epoll_a_call_that_has_to_wait_says_so)
{
	struct sley *rt;

	deny(SYS_epoll_create1, EPERM);
	rt = start_as(SLEY_IO_EPOLL);
	run_task(wait_without_epoll, NULL);
	stop(rt);
}

TEST_WORKERS(threads_wait_where_epoll_is_denied)
{
	struct sley *rt;

	deny(SYS_epoll_create1, EPERM);
	deny(SYS_epoll_ctl, EPERM);
	rt = start_as(SLEY_IO_THREADS);
	for (int i = 0; i < 3; i++)
		exchange();
	run_task(use_both, NULL);
	stop(rt);
}

static void lose_epoll(void *arg)
{
	struct pair known = open_pair(PAIR_UNIX);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char data[8];

	CHECK_EQ(sley_io_read_until(known.from, data, sizeof(data), in_ms(1)),
		 -ETIMEDOUT);
	deny(SYS_epoll_ctl, EPERM);
	wait_without_epoll(arg);
	sley_spawn(&group, &task, write_soon, &known.to);
	CHECK_EQ(sley_io_read(known.from, data, sizeof(data)), 3);
	sley_join(&group);
	close_pair(&known);
}

TEST_WORKERS(epoll_that_is_denied_later_keeps_what_it_watches)
{
	struct sley *rt = start_as(SLEY_IO_EPOLL);

	run_task(lose_epoll, NULL);
	stop(rt);
}

/* ---- memory of the kernel ----------------------------------------------------------------- */

struct starved {
	struct pair pair;
	atomic_bool begun;
	ssize_t written;
};

static char many[8 << 20];

static void write_much(void *arg)
{
	struct starved *starved = arg;

	atomic_store(&starved->begun, true);
	starved->written = sley_io_write(starved->pair.to, many, sizeof(many));
	CHECK_EQ(sley_io_write(starved->pair.to, many, 1), -ENOBUFS);
	CHECK_EQ(sley_io_close(starved->pair.to), 0);
}

/* The writer waits for room, and when there is room the kernel has no memory. */
TEST_WORKERS(without_memory_for_a_send_no_byte_is_lost)
{
	struct sley *rt = start();
	struct starved starved = { .pair = open_pair(PAIR_TCP) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	static char data[1 << 16];
	ssize_t n, sum = 0;

	sley_spawn(&group, &task, write_much, &starved);
	while (!atomic_load(&starved.begun))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	/* Some of it has been sent. */
	CHECK_GT(sley_io_poll(starved.pair.from, POLLIN), 0);
	CHECK_EQ(sley_sleep(10 * SLEY_MSEC), 0);
	deny(SYS_sendto, ENOBUFS);
	while ((n = sley_io_read(starved.pair.from, data, sizeof(data))) > 0)
		sum += n;
	CHECK_EQ(n, 0);
	sley_join(&group);
	CHECK_GT(starved.written, 0);
	CHECK_LT(starved.written, sizeof(many));
	CHECK_EQ(sum, starved.written);
	CHECK_EQ(sley_io_close(starved.pair.from), 0);
	stop(rt);
}
