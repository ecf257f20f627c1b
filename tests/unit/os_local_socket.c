/* SPDX-License-Identifier: MIT */
/*
 * os_local_socket.c - sockets in the file system, packets with descriptors, peers, bells,
 * and memory that one process writes.
 */
#include "harness/test.h"

#include "os/eventfd.h"
#include "os/local_socket.h"
#include "os/map.h"
#include "os/pidfd.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"
#include "os/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[80], lock[88];

static void begin(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/sley-local-XXXXXX");
	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/socket", folder);
	(void)snprintf(lock, sizeof(lock), "%s.lock", path);
}

/* Nothing is left in the folder. */
static void end(void)
{
	CHECK_EQ(rmdir(folder), 0);
}

static bool is_there(const char *name)
{
	return access(name, F_OK) == 0;
}

/* ---- listening ------------------------------------------------------------------------ */

TEST(a_listener_leaves_nothing_behind)
{
	struct os_local_listener listener;
	struct stat status;

	begin();
	CHECK_EQ(os_local_listen(&listener, path, 0640), 0);
	CHECK_EQ(stat(path, &status), 0);
	CHECK_EQ(status.st_mode & 0777, 0640);
	os_local_unlisten(&listener);
	CHECK(!is_there(path) && !is_there(lock));
	end();
}

TEST(rc13_a_second_listener_is_refused)
{
	struct os_local_listener first, second;

	begin();
	CHECK_EQ(os_local_listen(&first, path, 0600), 0);
	CHECK_EQ(os_local_listen(&second, path, 0600), -EADDRINUSE);
	CHECK(is_there(path) && is_there(lock));
	os_local_unlisten(&first);
	CHECK_EQ(os_local_listen(&second, path, 0600), 0);
	os_local_unlisten(&second);
	end();
}

TEST(the_socket_of_a_dead_listener_is_replaced)
{
	struct os_local_listener listener;
	int pid, fd;

	begin();
	pid = fork();
	if (pid == 0) {
		_exit(os_local_listen(&listener, path, 0600) ? 1 : 0);
	}
	CHECK_EQ(waitpid(pid, &fd, 0), pid);
	CHECK_EQ(fd, 0);
	CHECK(is_there(path) && is_there(lock));
	CHECK_EQ(os_local_connect(path), -ECONNREFUSED);
	CHECK_EQ(os_local_listen(&listener, path, 0600), 0);
	fd = os_local_connect(path);
	CHECK_GE(fd, 0);
	os_close(fd);
	os_local_unlisten(&listener);
	end();
}

/* Another program may not know of the lock. */
TEST(a_live_socket_without_a_lock_is_in_use)
{
	struct os_local_listener first, second;

	begin();
	CHECK_EQ(os_local_listen(&first, path, 0600), 0);
	CHECK_EQ(unlink(lock), 0);
	CHECK_EQ(os_local_listen(&second, path, 0600), -EADDRINUSE);
	os_local_unlisten(&first);
	end();
}

TEST(a_file_that_is_no_socket_stays)
{
	struct os_local_listener listener;
	int fd;

	begin();
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	CHECK_GE(fd, 0);
	close(fd);
	CHECK_EQ(os_local_listen(&listener, path, 0600), -EEXIST);
	CHECK(is_there(path) && !is_there(lock));
	unlink(path);
	end();
}

TEST(a_folder_that_others_may_write_to_is_refused)
{
	struct os_local_listener listener;

	begin();
	CHECK_EQ(chmod(folder, 0770), 0);
	CHECK_EQ(os_local_listen(&listener, path, 0600), -EPERM);
	CHECK_EQ(chmod(folder, 01777), 0);
	CHECK_EQ(os_local_listen(&listener, path, 0600), -EPERM);
	CHECK(!is_there(path) && !is_there(lock));
	end();
	CHECK_EQ(os_local_listen(&listener, path, 0600), -ENOENT);
}

TEST(a_path_that_does_not_fit_is_refused)
{
	struct os_local_listener listener;
	char name[200];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = 0;
	CHECK_EQ(os_local_listen(&listener, name, 0600), -ENAMETOOLONG);
	CHECK_EQ(os_local_listen(&listener, "", 0600), -ENAMETOOLONG);
	CHECK_EQ(os_local_connect(name), -ENAMETOOLONG);
}

TEST(a_socket_that_was_given_stays)
{
	struct os_local_listener listener, given;
	int pair[2];

	begin();
	CHECK_EQ(os_local_listen(&listener, path, 0600), 0);
	CHECK_EQ(os_local_adopt(&given, listener.fd), 0);
	CHECK_STR(given.path, path);
	os_local_unlisten(&given);
	CHECK(is_there(path) && is_there(lock));
	listener.fd = -1;
	os_local_unlisten(&listener);
	CHECK_EQ(os_seqpacket_pair(pair), 0);
	CHECK_EQ(os_local_adopt(&given, pair[0]), -EINVAL);
	os_close(pair[0]);
	os_close(pair[1]);
	end();
}

/* ---- peers ---------------------------------------------------------------------------- */

/* A child that connects, and lives until it is killed. */
static int start_peer(void)
{
	int pid = fork();

	if (pid == 0) {
		if (os_local_connect(path) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	return pid;
}

static int accept_one(const struct os_local_listener *listener)
{
	int fd;

	CHECK(os_fd_wait(listener->fd, 1 /* POLLIN */, -1, UINT64_MAX));
	fd = os_accept(listener->fd, NULL, NULL);
	CHECK_GE(fd, 0);
	return fd;
}

TEST(c40_the_end_of_a_peer_is_heard_by_its_pidfd)
{
	struct os_local_listener listener;
	struct os_peer peer;
	int pid, fd, pidfd;

	begin();
	CHECK_EQ(os_local_listen(&listener, path, 0600), 0);
	pid = start_peer();
	fd = accept_one(&listener);
	CHECK_EQ(os_local_peer(fd, &peer), 0);
	CHECK_EQ(peer.pid, pid);
	CHECK_EQ(peer.uid, getuid());
	CHECK_EQ(peer.gid, getgid());
	pidfd = os_local_peer_pidfd(fd, &peer);
	CHECK_GE(pidfd, 0);
	CHECK(!os_fd_is_readable(pidfd));
	kill(pid, SIGKILL);
	CHECK(os_fd_wait(pidfd, 1 /* POLLIN */, -1, UINT64_MAX));
	waitpid(pid, NULL, 0);
	os_close(pidfd);
	os_close(fd);
	os_local_unlisten(&listener);
	end();
}

/* ---- packets -------------------------------------------------------------------------- */

static int nr_open(void)
{
	int fd = dup(0), nr = fd;

	close(fd);
	return nr;
}

TEST(packets_carry_as_many_descriptors_as_are_due)
{
	int pair[2], sent[5] = { 0, 1, 2, 0, 1 }, came[4];
	uint32_t data = 7, got = 0;

	CHECK_EQ(os_seqpacket_pair(pair), 0);
	for (uint32_t nr = 0; nr <= 4; nr++) {
		CHECK_EQ(os_seqpacket_send(pair[0], &data, sizeof(data), sent,
					   nr),
			 0);
		CHECK_EQ(os_seqpacket_recv(pair[1], &got, sizeof(got), came, 4,
					   true),
			 1);
		for (uint32_t i = 0; i < 4; i++) {
			CHECK_EQ(came[i] >= 0, i < nr);
			os_close(came[i]);
		}
	}
	os_close(pair[0]);
	os_close(pair[1]);
}

TEST(descriptors_that_are_too_many_are_closed)
{
	int pair[2], sent[4] = { 0, 1, 2, 0 }, came[2], before;
	uint32_t data = 7, got = 0;

	CHECK_EQ(os_seqpacket_pair(pair), 0);
	before = nr_open();
	CHECK_EQ(os_seqpacket_send(pair[0], &data, sizeof(data), sent, 4), 0);
	CHECK_EQ(os_seqpacket_recv(pair[1], &got, sizeof(got), came, 2, true),
		 -EPROTO);
	CHECK_EQ(came[0], -1);
	CHECK_EQ(nr_open(), before);
	CHECK_EQ(os_seqpacket_send(pair[0], &data, sizeof(data), sent, 1), 0);
	CHECK_EQ(os_seqpacket_recv(pair[1], &got, sizeof(got), NULL, 0, true),
		 -EPROTO);
	CHECK_EQ(nr_open(), before);
	os_close(pair[0]);
	os_close(pair[1]);
}

/* More than the library ever sends: the kernel drops what does not fit. */
TEST(a_flood_of_descriptors_is_refused_whole)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(100 * sizeof(int))];
	} control = { .room = { 0 } };
	uint32_t data = 7, got = 0;
	struct iovec bytes = { &data, sizeof(data) };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int pair[2], came[4], before;

	CHECK_EQ(os_seqpacket_pair(pair), 0);
	before = nr_open();
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(100 * sizeof(int));
	CHECK_EQ(sendmsg(pair[0], &message, 0), (ssize_t)sizeof(data));
	CHECK_EQ(os_seqpacket_recv(pair[1], &got, sizeof(got), came, 4, true),
		 -EPROTO);
	CHECK_EQ(nr_open(), before);
	os_close(pair[0]);
	os_close(pair[1]);
}

TEST(packets_of_another_size_are_refused)
{
	uint32_t data[2] = { 7, 8 }, got = 0;
	int pair[2], sent[1] = { 0 }, came[1], before;

	CHECK_EQ(os_seqpacket_pair(pair), 0);
	before = nr_open();
	CHECK_EQ(os_seqpacket_send(pair[0], data, 8, sent, 1), 0);
	CHECK_EQ(os_seqpacket_recv(pair[1], &got, 4, came, 1, true), -EPROTO);
	CHECK_EQ(os_seqpacket_send(pair[0], data, 3, sent, 1), 0);
	CHECK_EQ(os_seqpacket_recv(pair[1], &got, 4, came, 1, true), -EPROTO);
	CHECK_EQ(nr_open(), before);
	os_close(pair[0]);
	CHECK_EQ(os_seqpacket_recv(pair[1], &got, 4, came, 1, true), 0);
	os_close(pair[1]);
}

/* ---- bells, pages --------------------------------------------------------------------- */

TEST(a_bell_rings_once_and_is_cleared_as_an_eventfd)
{
	int bell[2];

	CHECK_EQ(os_bell_create(bell), 0);
	CHECK(!os_fd_is_readable(bell[1]));
	os_bell_ring(bell[0]);
	CHECK(os_fd_is_readable(bell[1]));
	os_eventfd_clear(bell[1]);
	CHECK(!os_fd_is_readable(bell[1]));
	os_eventfd_clear(bell[1]);
	os_close(bell[0]);
	os_close(bell[1]);
}

/* The listener makes its end blocking, never clears, and goes: the ringer goes on. */
TEST(a_bell_never_stops_its_ringer)
{
	int bell[2];

	CHECK_EQ(os_bell_create(bell), 0);
	CHECK_EQ(fcntl(bell[1], F_SETFL, 0), 0);
	for (int i = 0; i < 100000; i++)
		os_bell_ring(bell[0]);
	os_close(bell[1]);
	os_bell_ring(bell[0]);
	os_close(bell[0]);
}

TEST(a_page_is_written_by_its_maker_alone)
{
	uint32_t *ours = NULL;
	const uint32_t *theirs;
	int fd = os_shared_page_create("page", 4096, (void **)&ours);

	CHECK_GE(fd, 0);
	CHECK_EQ(os_shared_memory_size(fd), 4096);
	CHECK(!os_shared_memory_map(fd, 4096));
	theirs = os_shared_memory_map_to_read(fd, 4096);
	CHECK(theirs);
	*(volatile uint32_t *)ours = 42;
	CHECK_EQ(*(const volatile uint32_t *)theirs, 42);
	CHECK_LT(ftruncate(fd, 0), 0);
	os_unmap((void *)(uintptr_t)theirs, 4096);
	os_unmap(ours, 4096);
	os_close(fd);
}
