/* SPDX-License-Identifier: MIT */
/*
 * io_close.c - sley_io_close() wakes all that wait, and no number is closed under a call.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "conformance/io/pairs.h"
#include "io/descriptor.h"

struct waiting {
	int fd;
	atomic_int begun;
	atomic_int nr_bad;
};

static void wait_for_bytes(void *arg)
{
	struct waiting *waiting = arg;
	char data[8];

	atomic_fetch_add(&waiting->begun, 1);
	if (sley_io_read(waiting->fd, data, sizeof(data)) == -EBADF)
		atomic_fetch_add(&waiting->nr_bad, 1);
}

static void *wait_in_thread(void *arg)
{
	wait_for_bytes(arg);
	return NULL;
}

enum { NR_WAITING = 8 };

TEST_WORKERS(a_close_wakes_all_waiters)
{
	struct sley *rt = start();

	for (enum pair_kind kind = 0; kind < NR_PAIR_KINDS; kind++) {
		struct pair pair = open_pair(kind);
		struct waiting waiting = { .fd = pair.from };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[NR_WAITING];
		pthread_t thread = test_thread(wait_in_thread, &waiting);

		for (int i = 0; i < NR_WAITING; i++)
			sley_spawn(&group, &task[i], wait_for_bytes, &waiting);
		while (atomic_load(&waiting.begun) < NR_WAITING + 1)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		if (kind % 2)
			CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
		CHECK_EQ(sley_io_close(pair.from), 0);
		CHECK_EQ(sley_io_close(pair.from), -EBADF);
		sley_join(&group);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		CHECK_EQ(waiting.nr_bad, NR_WAITING + 1);
		CHECK_EQ(sley_io_close(pair.to), 0);
	}
	stop(rt);
}

/* How many calls use @fd. */
static uint32_t nr_users(int fd)
{
	const struct io_descriptor *descriptor =
		table_find(&descriptor_table, (uint32_t)fd);

	return descriptor
		       ? __atomic_load_n(&descriptor->users, __ATOMIC_ACQUIRE)
		       : 0;
}

/* Its number is used again at once, by a file that has something to read. */
TEST_WORKERS(no_number_is_closed_under_a_call)
{
	struct sley *rt = start();

	for (int i = 0, nr_same = 0; nr_same < test_scale(1000); i++) {
		struct pair first = open_pair(PAIR_UNIX), second;
		struct waiting waiting = { .fd = first.from };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;

		sley_spawn(&group, &task, wait_for_bytes, &waiting);
		while (!nr_users(first.from))
			sley_yield();
		CHECK_EQ(sley_io_close(first.from), 0);
		second = open_pair(PAIR_UNIX);
		/* A worker may get the number for a descriptor of its own. */
		nr_same += second.from == first.from;
		CHECK_LT(i, nr_same + 100);
		CHECK_EQ(write(second.to, "b", 1), 1);
		sley_join(&group);
		CHECK_EQ(waiting.nr_bad, 1);
		close_pair(&second);
		CHECK_EQ(sley_io_close(first.to), 0);
	}
	stop(rt);
}

TEST_WORKERS(a_number_that_is_used_again_starts_anew)
{
	struct sley *rt = start();
	char data[8];

	for (int i = 0; i < test_scale(200); i++) {
		struct pair pair = open_pair((enum pair_kind)(i % 4));

		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(0)),
			 -ETIMEDOUT);
		CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(5000)),
			 3);
		CHECK_EQ(sley_io_close(pair.to), 0);
		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(5000)),
			 0);
		CHECK_EQ(sley_io_close(pair.from), 0);
	}
	stop(rt);
}

/* ---- a plain close() ---------------------------------------------------------------------- */

static atomic_int nr_named;

static void count_line(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, "sley_io_pipe() got descriptor") &&
	    strstr(line, "which was closed by close()"))
		atomic_fetch_add(&nr_named, 1);
}

static void wait_until_cancelled(void *arg)
{
	const int *fd = arg;
	char data[8];

	CHECK_EQ(sley_io_read(*fd, data, sizeof(data)), -ECANCELED);
}

static void open_pipe(void *arg)
{
	CHECK_EQ(sley_io_pipe(arg), 0);
}

/* False: a worker got the number, for a descriptor of its own. */
static bool close_under_waiter(void)
{
	struct pair pair = open_pair(PAIR_UNIX);
	struct sley_group waiting = SLEY_GROUP_INIT, opening = SLEY_GROUP_INIT;
	struct sley_task waiter, opener;
	int fd[2];

	sley_spawn(&waiting, &waiter, wait_until_cancelled, &pair.from);
	while (!nr_users(pair.from))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	/* Not by libc: a race detector would name the mistake of this test. */
	CHECK_EQ(syscall(SYS_close, pair.from), 0);
	sley_spawn(&opening, &opener, open_pipe, fd);
	sley_join(&opening);
	sley_cancel(&waiter);
	sley_join(&waiting);
	CHECK_EQ(sley_io_close(fd[0]), 0);
	CHECK_EQ(sley_io_close(fd[1]), 0);
	CHECK_EQ(sley_io_close(pair.to), 0);
	return fd[0] == pair.from;
}

/* The next file of the number comes from the library, which notices, and says so. */
TEST_WORKERS(a_plain_close_under_a_waiter_is_named)
{
	struct sley_config config = *test_config();
	struct sley *rt;
	int nr_tries = 0;

	config.report = count_line;
	rt = start_with(&config);
	while (!close_under_waiter())
		CHECK_LT(nr_tries++, 100);
	CHECK_GE(nr_named, 1);
	stop(rt);
}

/* ---- SO_LINGER ------------------------------------------------------------------------ */

struct lingering {
	struct pair pair;
	int result;
	atomic_bool closed;
};

/* The kernel holds a close until the peer has taken all bytes, for up to a minute. */
static void fill_and_linger(int fd)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 60 };
	static char data[1 << 16];

	while (sley_io_send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
		 0);
}

static void close_slowly(void *arg)
{
	struct lingering *lingering = arg;

	lingering->result = sley_io_close(lingering->pair.to);
	atomic_store(&lingering->closed, true);
}

/* Neither the worker nor the next owner of the number waits for the peer. */
TEST_WORKERS(a_close_that_lingers_holds_its_task_alone)
{
	struct sley *rt = start();
	struct lingering lingering = { .pair = tcp_pair(), .result = 1 };
	struct pair next = open_pair(PAIR_UNIX);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char data[4096];
	ssize_t n;

	fill_and_linger(lingering.pair.to);
	sley_spawn(&group, &task, close_slowly, &lingering);
	while (fcntl(lingering.pair.to, F_GETFD) >= 0)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(fcntl(next.to, F_DUPFD_CLOEXEC, lingering.pair.to),
		 lingering.pair.to);
	CHECK_EQ(sley_io_write(lingering.pair.to, "abc", 3), 3);
	CHECK(!atomic_load(&lingering.closed));
	do
		n = sley_io_read(lingering.pair.from, data, sizeof(data));
	while (n > 0);
	CHECK_EQ(n, 0);
	sley_join(&group);
	CHECK_EQ(lingering.result, 0);
	CHECK_EQ(sley_io_close(lingering.pair.to), 0);
	CHECK_EQ(sley_io_close(lingering.pair.from), 0);
	close_pair(&next);
	stop(rt);
}

/* ---- a descriptor that was opened and not used ------------------------------------------- */

static atomic_int nr_complaints;

static void count_complaints(void *self, const char *line)
{
	(void)self;
	if (strstr(line, "closed by close()"))
		atomic_fetch_add(&nr_complaints, 1);
}

static uint32_t known_traits(int fd)
{
	const struct io_descriptor *descriptor =
		table_find(&descriptor_table, (uint32_t)fd);

	return descriptor->traits;
}

static int open_for(int access)
{
	int fd = sley_io_openat(SLEY_IO_CWD, "/dev/null", access, 0);

	CHECK(fd >= 0);
	/* What a close has to know of a file that was not written. */
	CHECK_EQ(known_traits(fd),
		 access == O_RDONLY ? TRAIT_OPENED_TO_READ : 0);
	return fd;
}

static void open_and_close(void *arg)
{
	char data[8];
	int fd, next;

	(void)arg;
	for (int i = 0; i < 10; i++)
		CHECK_EQ(close(open_for(i % 2 ? O_RDWR : O_RDONLY)), 0);
	CHECK_EQ(nr_complaints, 0);
	/* A worker that starts may take the number away. */
	do {
		fd = open_for(O_RDONLY);
		CHECK_EQ(sley_io_read(fd, data, sizeof(data)), 0);
		CHECK_EQ(close(fd), 0);
		next = open_for(O_RDONLY);
		CHECK_EQ(sley_io_close(next), 0);
	} while (next != fd);
	CHECK_GT(nr_complaints, 0);
}

/* A close by the program is a mistake only after a call that has used the number. */
TEST_WORKERS(an_open_alone_is_no_use_of_a_descriptor)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;

	config.report = count_complaints;
	rt = start_with(&config);
	sley_spawn(&group, &task, open_and_close, NULL);
	sley_join(&group);
	stop(rt);
}
