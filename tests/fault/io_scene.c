/* SPDX-License-Identifier: MIT */
/*
 * io_scene.c - see io_scene.h.
 */
#include "fault/io_scene.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

uint64_t in_time(void)
{
	return sley_now() +
	       (trial_may_give_up() ? 400 * SLEY_MSEC : 10 * SLEY_SEC);
}

/* Another thread may have opened another file under the number of @before. */
static bool is_open(int fd, const struct stat *before)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == before->st_dev &&
	       now.st_ino == before->st_ino;
}

void close_it(int fd)
{
	static const int errors[] = { -EIO, -EDQUOT, 0 };
	struct stat before;
	int err;

	CHECK_EQ(fstat(fd, &before), 0);
	err = sley_io_close(fd);
	(void)!trial_failed(TEST_PLACE("sley_io_close"), err, errors);
	CHECK(!is_open(fd, &before));
}

void close_both(const int *fd)
{
	close_it(fd[0]);
	close_it(fd[1]);
}

void open_sockets(int *fd)
{
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
}
