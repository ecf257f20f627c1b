/* SPDX-License-Identifier: MIT */
/*
 * files.c - <sley/io_file.h>, by a ring, by the pool of blocking calls and from a plain
 * thread.
 *
 * A ring that fails leaves its calls to the pool, and a pool without threads leaves its
 * calls to the worker: only what the kernel says of the file itself is an error.
 */
#include "fault/io_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NO_FILE -EIO, -ENOSPC, -EACCES, -EFBIG, NO_WAIT

/* ---- names -------------------------------------------------------------------------------- */

static struct place {
	char folder[32];
	char path[48];
	char other[48];
} place;

static void make_place(void)
{
	snprintf(place.folder, sizeof(place.folder), "/tmp/sley-fault-XXXXXX");
	CHECK(mkdtemp(place.folder) != NULL);
	snprintf(place.path, sizeof(place.path), "%s/one", place.folder);
	snprintf(place.other, sizeof(place.other), "%s/other", place.folder);
}

/* The scene has removed both files, unless calls failed for ever. */
static void remove_place(void)
{
	if (trial_may_give_up()) {
		(void)unlink(place.path);
		(void)unlink(place.other);
	}
	CHECK_EQ(rmdir(place.folder), 0);
}

static void open_beneath(void)
{
	int folder = open(place.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	CHECK(folder >= 0);
	if (TRY(fd = sley_io_open_beneath(folder, "one", O_RDONLY, 0), NO_FILE))
		close_it(fd);
	close_it(folder);
}

static void name_and_remove(void)
{
	struct statx about;

	if (TRY(sley_io_statx(SLEY_IO_CWD, place.path, 0, STATX_SIZE, &about),
		NO_FILE))
		CHECK_EQ(about.stx_size, 4);
	if (TRY(sley_io_rename(place.path, place.other), NO_FILE))
		(void)TRY(sley_io_unlink(place.other), NO_FILE);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void write_and_read(int fd)
{
	char data[8] = "abcdefgh";
	struct iovec part[2] = { { data, 3 }, { data + 3, 5 } };

	if (!TRY((int)sley_io_pwrite(fd, data, 8, 0), NO_FILE) ||
	    !TRY((int)sley_io_pwritev(fd, part, 2, 8), NO_FILE))
		return;
	memset(data, 0, sizeof(data));
	if (TRY((int)sley_io_pread(fd, data, 8, 8), NO_FILE))
		CHECK_EQ(memcmp(data, "abcdefgh", 8), 0);
	memset(data, 0, sizeof(data));
	if (TRY((int)sley_io_preadv(fd, part, 2, 0), NO_FILE))
		CHECK_EQ(memcmp(data, "abcdefgh", 8), 0);
}

static void shorten(int fd)
{
	(void)TRY(sley_io_fsync(fd), NO_FILE);
	(void)TRY(sley_io_fdatasync(fd), NO_FILE);
	if (!TRY(sley_io_ftruncate(fd, 4), NO_FILE))
		CHECK_EQ(ftruncate(fd, 4), 0);
}

/* By the page cache, and, without an offset, by another thread. */
static void send_file(int file)
{
	char data[8];
	off_t from = 0;
	int fd[2];

	open_sockets(fd);
	if (TRY(PATIENT(sley_io_sendfile_until(fd[1], file, &from, 4,
					       in_time())),
		-EPIPE, -ETIMEDOUT, NO_FILE)) {
		CHECK_EQ(from, 4);
		CHECK_EQ(read(fd[0], data, sizeof(data)), 4);
	}
	CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
	if (TRY(PATIENT(sley_io_sendfile_until(fd[1], file, NULL, 4, in_time())),
		-EPIPE, -ETIMEDOUT, NO_FILE))
		CHECK_EQ(read(fd[0], data, sizeof(data)), 4);
	close_both(fd);
}

/* From the file to a pipe, and from there to a socket. */
static void splice_file(int file)
{
	int fd[2], pipe[2];
	off_t from = 0;
	char data[8];

	if (!TRY(sley_io_pipe(pipe), NO_WAIT))
		return;
	open_sockets(fd);
	if (TRY(PATIENT(sley_io_splice_until(file, &from, pipe[1], NULL, 4,
					     in_time())),
		-EPIPE, -ETIMEDOUT, NO_FILE) &&
	    TRY(PATIENT(sley_io_splice_until(pipe[0], NULL, fd[1], NULL, 4,
					     in_time())),
		-EPIPE, -ETIMEDOUT, NO_FILE))
		CHECK_EQ(read(fd[0], data, sizeof(data)), 4);
	close_both(fd);
	close_both(pipe);
}

/* ---- scenes ----------------------------------------------------------------------------------- */

static void use_files(void *arg)
{
	int fd = -1;

	(void)arg;
	trial_mark();
	if (!TRY(fd = sley_io_open(place.path, O_RDWR | O_CREAT, 0600),
		 NO_FILE))
		return;
	write_and_read(fd);
	shorten(fd);
	send_file(fd);
	splice_file(fd);
	close_it(fd);
	open_beneath();
	name_and_remove();
}

static void play(enum sley_io io)
{
	struct sley_config config = trial_config(2);

	config.io = io;
	make_place();
	trial_may_absorb("eventfd"); /* without a ring, a thread of the pool */
	trial_play_with(&config, use_files);
	remove_place();
}

SCENARIO(files_by_ring)
{
	play(SLEY_IO_URING);
}

SCENARIO(files_by_pool)
{
	play(SLEY_IO_EPOLL);
}

SCENARIO(files_of_threads)
{
	make_place();
	use_files(NULL);
	remove_place();
}
