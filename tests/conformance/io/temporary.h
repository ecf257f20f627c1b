/* SPDX-License-Identifier: MIT */
/*
 * temporary.h - files for a test, in a folder that the test removes; and tests that run
 * in a task and on a plain thread.
 */
#ifndef SLEY_TESTS_CONFORMANCE_IO_TEMPORARY_H
#define SLEY_TESTS_CONFORMANCE_IO_TEMPORARY_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "conformance/bound.h"

struct folder {
	char path[32];
	int fd;
};

static inline struct folder make_folder(void)
{
	struct folder folder = { .path = "/tmp/sley-io-XXXXXX" };

	CHECK(mkdtemp(folder.path) != NULL);
	folder.fd = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(folder.fd >= 0);
	return folder;
}

/* The folder is empty by now. */
static inline void remove_folder(const struct folder *folder)
{
	CHECK_EQ(sley_io_close(folder->fd), 0);
	CHECK_EQ(rmdir(folder->path), 0);
}

/* The byte of a pattern at @offset. */
static inline char pattern(size_t offset)
{
	return (char)(offset * 7 + offset / 4096 + 1);
}

static inline void fill(char *data, size_t size, size_t offset)
{
	for (size_t i = 0; i < size; i++)
		data[i] = pattern(offset + i);
}

static inline void check_pattern(const char *data, size_t size, size_t offset)
{
	for (size_t i = 0; i < size; i++)
		CHECK_EQ(data[i], pattern(offset + i));
}

/* A new file @name of @size bytes of the pattern, open for reading and writing. */
static inline int make_file(const struct folder *folder, const char *name,
			    size_t size)
{
	int fd = openat(folder->fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);
	char data[4096];

	CHECK(fd >= 0);
	for (size_t at = 0; at < size; at += sizeof(data)) {
		size_t n = size - at < sizeof(data) ? size - at : sizeof(data);

		fill(data, n, at);
		CHECK_EQ(pwrite(fd, data, n, (off_t)at), n);
	}
	return fd;
}

/* Nothing of @fd is in the page cache, as far as the file system obeys. */
static inline void make_cold(int fd)
{
	CHECK_EQ(fsync(fd), 0);
	CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
}

/* @fn runs in a task, and then on this thread. */
static inline void run_both(sley_fn *fn, void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, fn, arg);
	sley_join(&group);
	fn(arg);
}

/* @fn(@folder) in a task and on a thread, in a runtime of the fixture. */
static inline void check_in_folder(void (*fn)(void *folder))
{
	struct folder folder = make_folder();
	struct sley *rt = start();

	run_both(fn, &folder);
	remove_folder(&folder);
	stop(rt);
}

#endif
