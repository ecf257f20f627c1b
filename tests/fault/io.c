/* SPDX-License-Identifier: MIT */
/*
 * io.c - <sley/io.h>: each call below it fails once and for ever.  Errors are
 * returned, no call hangs, and bytes that came are read.
 */
#include "fault/io_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* The reader waits first, as a rule. */
static void write_late(void *arg)
{
	const int *fd = arg;

	(void)!sley_sleep(SLEY_MSEC);
	CHECK_EQ(write(*fd, "abc", 3), 3);
}

static void read_with_wait(const int *fd)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char data[8];

	sley_spawn(&group, &task, write_late, (void *)(uintptr_t)&fd[1]);
	(void)TRY(PATIENT(sley_io_read_until(fd[0], data, sizeof(data),
					     in_time())),
		  -ECONNRESET, -EIO, NO_WAIT);
	sley_join(&group);
}

static void poll_with_wait(const int *fd)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, write_late, (void *)(uintptr_t)&fd[1]);
	(void)TRY(PATIENT(sley_io_poll_until(fd[0], POLLIN, in_time())),
		  NO_WAIT);
	sley_join(&group);
}

static void transfer_parts(const int *fd)
{
	char data[8] = "abcdefgh";
	struct iovec part[2] = { { data, 4 }, { data + 4, 4 } };

	if (!TRY(PATIENT(sley_io_writev_until(fd[1], part, 2, in_time())),
		 -EPIPE, -ENOBUFS, -ENOSPC, NO_WAIT))
		return;
	(void)TRY(PATIENT(sley_io_readv_until(fd[0], part, 2, in_time())),
		  -ECONNRESET, -EIO, NO_WAIT);
}

static void use_pair(const int *fd)
{
	char data[8] = "abcdefgh";

	read_with_wait(fd);
	poll_with_wait(fd);
	(void)TRY(PATIENT(sley_io_write_until(fd[1], data, sizeof(data),
					      in_time())),
		  -EPIPE, -ENOBUFS, -ENOSPC, NO_WAIT);
	transfer_parts(fd);
}

static void use_sockets(void *arg)
{
	int fd[2];

	(void)arg;
	open_sockets(fd);
	trial_mark();
	use_pair(fd);
	close_both(fd);
}

static void use_pipes(void *arg)
{
	int fd[2];

	(void)arg;
	CHECK_EQ(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
	trial_mark();
	use_pair(fd);
	close_both(fd);
}

SCENARIO(io_of_sockets)
{
	trial_play(use_sockets);
}

SCENARIO(io_of_pipes)
{
	trial_play(use_pipes);
}

/* ---- a thread in poll(2) ----------------------------------------------------------------- */

enum { NR_PAIRS = 17 }; /* more than the thread has room for at first */

struct pair {
	int fd[2];
	struct sley_task task;
};

static void read_one(void *arg)
{
	const struct pair *pair = arg;
	char data[8];

	(void)TRY(PATIENT(sley_io_read_until(pair->fd[0], data, sizeof(data),
					     in_time())),
		  -ECONNRESET, -ETIMEDOUT, NO_WAIT);
}

static void use_many_sockets(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct pair pair[NR_PAIRS];

	for (int i = 0; i < NR_PAIRS; i++) {
		open_sockets(pair[i].fd);
		sley_spawn(&group, &pair[i].task, read_one, &pair[i]);
	}
	(void)!sley_sleep(SLEY_MSEC);
	for (int i = 0; i < NR_PAIRS; i++)
		CHECK_EQ(write(pair[i].fd[1], "abc", 3), 3);
	sley_join(&group);
	for (int i = 0; i < NR_PAIRS; i++)
		close_both(pair[i].fd);
}

static void use_sockets_by_thread(void *arg)
{
	use_sockets(arg);
	use_many_sockets();
}

/* Here a thread of the library waits, in place of epoll. */
SCENARIO(io_by_a_thread)
{
	struct sley_config config = trial_config(2);

	config.io = SLEY_IO_THREADS;
	trial_play_with(&config, use_sockets_by_thread);
}

/* ---- connections ------------------------------------------------------------------------ */

static int listen_anywhere(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	CHECK_EQ(bind(fd, (struct sockaddr *)address, length), 0);
	CHECK_EQ(listen(fd, 4), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)address, &length), 0);
	return fd;
}

static void connect_and_accept(void *arg)
{
	struct sockaddr_in address;
	int fd = listen_anywhere(&address);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int server = -1;

	(void)arg;
	trial_mark();
	if (TRY(PATIENT(sley_io_connect_until(client,
					      (struct sockaddr *)&address,
					      sizeof(address), in_time())),
		-ECONNREFUSED, -ENOBUFS, NO_WAIT) &&
	    TRY(server = sley_io_accept_until(fd, NULL, NULL, in_time()),
		-ENOBUFS, NO_WAIT))
		close_it(server);
	close_it(client);
	close_it(fd);
}

SCENARIO(io_of_connections)
{
	trial_play(connect_and_accept);
}

/* ---- a close that waits for the peer -------------------------------------------------------- */

static void linger(int fd)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 5 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
		 0);
}

static void close_lingering(void *arg)
{
	int fd[2];

	(void)arg;
	open_sockets(fd);
	linger(fd[0]);
	trial_mark();
	(void)TRY((int)sley_io_send(fd[0], "a", 1, MSG_DONTWAIT), -EPIPE,
		  -ENOBUFS, NO_WAIT);
	close_both(fd);
}

SCENARIO(io_that_lingers)
{
	trial_play(close_lingering);
}

/* ---- files, and plain threads ------------------------------------------------------------ */

static void use_file(void *arg)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char data[8] = "abcdefgh";

	(void)arg;
	CHECK(fd >= 0);
	trial_mark();
	trial_may_absorb("eventfd"); /* without a ring, a thread of the pool */
	(void)TRY((int)sley_io_write(fd, data, sizeof(data)), -EIO, -ENOSPC,
		  -EAGAIN, NO_WAIT);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	(void)TRY((int)sley_io_read(fd, data, sizeof(data)), -EIO, -EAGAIN,
		  NO_WAIT);
	close_it(fd);
}

SCENARIO(io_of_files)
{
	trial_play(use_file);
}

static void *write_late_in_thread(void *arg)
{
	test_nap_ms(1);
	CHECK_EQ(write(*(int *)arg, "abc", 3), 3);
	return NULL;
}

SCENARIO(io_of_threads)
{
	pthread_t thread;
	char data[8];
	int fd[2];

	CHECK_EQ(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
	thread = test_thread(write_late_in_thread, &fd[1]);
	(void)TRY(PATIENT(sley_io_read_until(fd[0], data, sizeof(data),
					     in_time())),
		  -EIO, NO_WAIT);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	close_both(fd);
}
