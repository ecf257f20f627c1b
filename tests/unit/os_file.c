/* SPDX-License-Identifier: MIT */
/*
 * os_file.c - a file is written whole, or the reason is known at the end.
 */
#include "harness/test.h"

#include "os/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Create @path, write @nr_bytes to it in small pieces, and close it. */
static int written(const char *path, int nr_bytes)
{
	FILE *file;

	CHECK_EQ(os_file_create(&file, path), 0);
	for (int i = 0; i < nr_bytes; i++)
		(void)fputc('x', file);
	return os_file_close(file);
}

TEST(what_was_written_is_there_when_the_file_is_closed)
{
	char path[] = "/tmp/sley-os-file-XXXXXX";
	int fd = mkstemp(path);

	CHECK_GE(fd, 0);
	CHECK_EQ(written(path, 10000), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 10000);
	CHECK_EQ(close(fd), 0);
	CHECK_EQ(unlink(path), 0);
}

TEST(a_file_that_cannot_be_created_says_why)
{
	FILE *file;

	CHECK_EQ(os_file_create(&file, "/does/not/exist"), -ENOENT);
}

/* stdio keeps the reason of the last write only: any may be the one that failed. */
TEST(a_file_that_cannot_take_it_all_says_why_at_every_length)
{
	for (int nr_bytes = 1; nr_bytes <= 2 * 4096 + 64; nr_bytes++)
		CHECK_EQ(written("/dev/full", nr_bytes), -ENOSPC);
}
