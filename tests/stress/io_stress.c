/* SPDX-License-Identifier: MIT */
/*
 * io_stress.c - tasks of several runtimes and plain threads over a few descriptors.
 *
 * Messages: each that was written is read once, whatever deadlines and cancels come
 * between.  Numbers: descriptors are closed under their users and opened again at
 * once, while runtimes come and go; every call returns.
 *
 * The numbers of the second part are above those of the library: a user that is late
 * meets a descriptor of this test, never one of the runtime.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "stress/stress.h"

static int nr_open(void)
{
	int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* ---- messages ---------------------------------------------------------------------------- */

enum { NR_TALKS = 3, NR_READERS = 3, NR_WRITERS = 3, NR_ROUNDS = 40 };

static struct talk {
	int from, to;
	atomic_ullong written, nr_written; /* the sum of the numbers */
	atomic_ullong read, nr_read;
	atomic_bool ended; /* no writer is left */
} talks[NR_TALKS];
static atomic_ullong next_message;

static void write_messages(struct talk *talk)
{
	for (int i = 0; i < NR_ROUNDS; i++) {
		uint64_t message = 1 + atomic_fetch_add(&next_message, 1);
		ssize_t n =
			sley_io_write_until(talk->to, &message, sizeof(message),
					    one_in(2) ? soon() : SLEY_FOREVER);

		if (n < 0) {
			CHECK(n == -ETIMEDOUT || n == -ECANCELED);
			continue;
		}
		CHECK_EQ(n, sizeof(message));
		atomic_fetch_add(&talk->written, message);
		atomic_fetch_add(&talk->nr_written, 1);
		dawdle();
	}
}

/* One message; false: none came in time. */
static bool read_message(struct talk *talk, uint64_t deadline_ns)
{
	uint64_t message;
	ssize_t n = sley_io_read_until(talk->from, &message, sizeof(message),
				       deadline_ns);

	if (n < 0) {
		CHECK(n == -ETIMEDOUT || n == -ECANCELED);
		return false;
	}
	CHECK_EQ(n, sizeof(message));
	atomic_fetch_add(&talk->read, message);
	atomic_fetch_add(&talk->nr_read, 1);
	test_count(1);
	return true;
}

static void read_messages(struct talk *talk)
{
	while (!atomic_load(&talk->ended)) {
		int events;

		(void)read_message(talk, one_in(2) ? soon() : in_ms(1));
		events = sley_io_poll_until(talk->from, POLLIN | POLLOUT,
					    soon());
		CHECK(events > 0 || events == -ETIMEDOUT ||
		      events == -ECANCELED);
		if (sley_cancelled())
			return;
		dawdle();
	}
}

static void write_task(void *arg)
{
	write_messages(arg);
}

static void read_task(void *arg)
{
	read_messages(arg);
}

static void *write_thread(void *arg)
{
	write_messages(arg);
	return NULL;
}

static void *read_thread(void *arg)
{
	read_messages(arg);
	return NULL;
}

struct talkers {
	struct sley_group group;
	struct sley_task task[NR_TALKS][NR_READERS];
};

static void spawn_talkers(struct talkers *talkers, void (*fn)(void *))
{
	talkers->group = (struct sley_group)SLEY_GROUP_INIT;
	for (int i = 0; i < NR_TALKS; i++)
		for (int j = 0; j < NR_READERS; j++)
			sley_spawn(&talkers->group, &talkers->task[i][j], fn,
				   &talks[i]);
}

static void cancel_some(struct talkers *talkers)
{
	for (int i = 0; i < NR_TALKS; i++)
		sley_cancel(&talkers->task[i][0]);
}

static atomic_bool is_written; /* all of the second runtime */

/* A second runtime reads and writes the same descriptors. */
static void *talk_elsewhere(void *arg)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct talkers readers, writers;

	(void)arg;
	spawn_talkers(&readers, read_task);
	spawn_talkers(&writers, write_task);
	sley_join(&writers.group);
	atomic_store(&is_written, true);
	sley_join(&readers.group);
	stop(rt);
	return NULL;
}

static void check_talk(struct talk *talk)
{
	while (read_message(talk, 0))
		continue;
	CHECK_EQ(talk->nr_read, talk->nr_written);
	CHECK_EQ(talk->read, talk->written);
	CHECK_EQ(sley_io_close(talk->from), 0);
	CHECK_EQ(sley_io_close(talk->to), 0);
}

static void exchange_messages(void)
{
	struct talkers readers, writers;
	pthread_t reading[NR_TALKS], writing[NR_TALKS], other;

	for (int i = 0; i < NR_TALKS; i++) {
		int fd[2];

		CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    fd),
			 0);
		memset(&talks[i], 0, sizeof(talks[i]));
		talks[i].from = fd[0];
		talks[i].to = fd[1];
		reading[i] = test_thread(read_thread, &talks[i]);
		writing[i] = test_thread(write_thread, &talks[i]);
	}
	spawn_talkers(&readers, read_task);
	spawn_talkers(&writers, write_task);
	atomic_store(&is_written, false);
	other = test_thread(talk_elsewhere, NULL);
	dawdle();
	cancel_some(&readers);
	cancel_some(&writers);
	sley_join(&writers.group);
	for (int i = 0; i < NR_TALKS; i++)
		CHECK_EQ(pthread_join(writing[i], NULL), 0);
	while (!atomic_load(&is_written))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
	for (int i = 0; i < NR_TALKS; i++)
		atomic_store(&talks[i].ended, true);
	sley_join(&readers.group);
	CHECK_EQ(pthread_join(other, NULL), 0);
	for (int i = 0; i < NR_TALKS; i++) {
		CHECK_EQ(pthread_join(reading[i], NULL), 0);
		check_talk(&talks[i]);
	}
}

STRESS(messages_are_read_once, exchange_messages);

/* ---- numbers ------------------------------------------------------------------------------- */

enum { NR_SLOTS = 4, NR_USERS = 6, FIRST_NUMBER = 300 };

static atomic_int slots[NR_SLOTS][2];
static atomic_bool is_over;

static int move_up(int fd)
{
	int number = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_NUMBER);

	CHECK(number >= FIRST_NUMBER);
	CHECK_EQ(close(fd), 0);
	return number;
}

/* TCP is not here: its numbers in TIME_WAIT would run out. */
static void open_slot(int i)
{
	int fd[2];

	CHECK_EQ(one_in(3) ? pipe2(fd, O_CLOEXEC | O_NONBLOCK)
			   : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
					fd),
		 0);
	atomic_store(&slots[i][0], move_up(fd[0]));
	atomic_store(&slots[i][1], move_up(fd[1]));
}

static bool close_number(int fd)
{
	int err = sley_io_close(fd);

	CHECK(err == 0 || err == -EBADF);
	return err == 0;
}

static uint64_t some_deadline(void)
{
	return one_in(2) ? soon() : SLEY_FOREVER;
}

static void use_number(int fd)
{
	char data[64] = "";
	ssize_t n;

	switch (test_random(4)) {
	case 0:
		n = sley_io_write_until(fd, data, sizeof(data),
					some_deadline());
		break;
	case 1:
		n = sley_io_poll_until(fd,
				       one_in(2) ? POLLIN : POLLIN | POLLOUT,
				       some_deadline());
		break;
	default:
		n = sley_io_read_until(fd, data, sizeof(data), some_deadline());
	}
	CHECK(n >= 0 || n == -EBADF || n == -ETIMEDOUT || n == -ECANCELED ||
	      n == -EPIPE || n == -ECONNRESET);
	test_count(1);
}

static void use_numbers(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over) && !sley_cancelled()) {
		use_number(atomic_load(
			&slots[test_random(NR_SLOTS)][test_random(2)]));
		dawdle();
	}
}

static void *use_in_thread(void *arg)
{
	use_numbers(arg);
	return NULL;
}

/* Runtimes come and go. */
static void *use_in_runtimes(void *arg)
{
	struct sley_config config = config_of(arg ? 2 : SLEY_SINGLE);

	while (!atomic_load(&is_over)) {
		struct sley *rt = start_with(&config);
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[NR_USERS];

		for (int i = 0; i < NR_USERS; i++)
			sley_spawn(&group, &task[i], use_numbers, NULL);
		CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
		for (int i = 0; i < NR_USERS; i++)
			sley_cancel(&task[i]);
		sley_join(&group);
		stop(rt);
	}
	return NULL;
}

/* By a task: a user, or its runtime, may close the other end at the same time. */
static void close_and_open(void *arg)
{
	uint64_t end_ns = stress_end();

	(void)arg;
	do {
		int i = (int)test_random(NR_SLOTS);
		int fd[2] = { atomic_load(&slots[i][0]),
			      atomic_load(&slots[i][1]) };

		CHECK(close_number(fd[0]));
		CHECK(!close_number(fd[0]));
		CHECK(close_number(fd[1]));
		open_slot(i);
		dawdle();
	} while (sley_now() < end_ns);
	atomic_store(&is_over, true);
	for (int i = 0; i < NR_SLOTS; i++)
		for (int j = 0; j < 2; j++)
			CHECK(close_number(atomic_load(&slots[i][j])));
}

TEST(numbers_are_closed_and_used_again)
{
	struct sley_config config = stress_config();
	int nr_before = nr_open();
	struct sley *rt = start_with(&config);
	struct sley_group users = SLEY_GROUP_INIT, closer = SLEY_GROUP_INIT;
	struct sley_task task[NR_USERS + 1];
	pthread_t thread[4];

	for (int i = 0; i < NR_SLOTS; i++)
		open_slot(i);
	for (int i = 0; i < NR_USERS; i++)
		sley_spawn(&users, &task[i], use_numbers, NULL);
	thread[0] = test_thread(use_in_runtimes, NULL);
	thread[1] = test_thread(use_in_runtimes, &config);
	thread[2] = test_thread(use_in_thread, NULL);
	thread[3] = test_thread(use_in_thread, NULL);
	sley_spawn(&closer, &task[NR_USERS], close_and_open, NULL);
	sley_join(&closer);
	sley_join(&users);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	stop(rt);
	CHECK_EQ(nr_open(), nr_before);
}
