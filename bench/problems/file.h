/* SPDX-License-Identifier: MIT */
/*
 * file.h - the row `io-file`: the files that are read.
 *
 * A file is in the folder TMPDIR, or in /var/tmp: /tmp is memory on many machines.  It
 * has no name from the beginning on, so nothing is left, however the program ends.
 * Each block begins with its number, so that a reader can tell what it has read.
 */
#ifndef BENCH_PROBLEMS_FILE_H
#define BENCH_PROBLEMS_FILE_H

#include "../measure.h"
#include "splitmix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#define FILE_BLOCK 4096u
#define FILE_CHUNK (1u << 20)

static inline const char *file_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

/* Aligned as O_DIRECT wants it. */
static inline char *file_memory(const struct measure *m, size_t size)
{
	void *memory = aligned_alloc(FILE_BLOCK, size);

	MEASURE_CHECK(m, memory != NULL);
	memset(memory, 0, size);
	return memory;
}

static inline void file_fill(const struct measure *m, int fd, uint64_t size)
{
	char *chunk = file_memory(m, FILE_CHUNK);

	for (uint64_t at = 0; at < size; at += FILE_CHUNK) {
		for (uint64_t i = 0; i < FILE_CHUNK; i += FILE_BLOCK) {
			uint64_t block = (at + i) / FILE_BLOCK;

			memcpy(chunk + i, &block, sizeof(block));
		}
		MEASURE_CHECK(m, pwrite(fd, chunk, FILE_CHUNK, (off_t)at) ==
					 FILE_CHUNK);
	}
	free(chunk);
}

/* A file without a name, of @size bytes; @flags of open(2).  -1: errno says why. */
static inline int file_make(const struct measure *m, uint64_t size, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/sley-bench.XXXXXX", file_folder());
	fd = mkostemp(path, O_CLOEXEC | flags);
	if (fd < 0)
		return -1;
	unlink(path);
	file_fill(m, fd, size);
	return fd;
}

/*
 * A file to be read from the disk, past the page cache; -1 after a line that says why
 * there is none here.
 */
static inline int file_make_direct(const struct measure *m)
{
	uint64_t size = m->quick ? FILE_DIRECT_QUICK : FILE_DIRECT_SIZE;
	struct statfs fs;
	int fd = -1;

	if (statfs(file_folder(), &fs) == 0 && fs.f_type == TMPFS_MAGIC) {
		fprintf(stderr, "%s: %s is in memory; set TMPDIR\n", m->row,
			file_folder());
		return -1;
	}
	fd = file_make(m, size, O_DIRECT);
	if (fd < 0)
		fprintf(stderr, "%s: a file in %s with O_DIRECT: %s\n", m->row,
			file_folder(), strerror(errno));
	else
		MEASURE_CHECK(m, fsync(fd) == 0);
	return fd;
}

/* Did a read of @nr bytes at @offset bring its first and its last block? */
static inline void file_check(const struct measure *m, const char *data,
			      size_t nr, uint64_t offset)
{
	uint64_t first, last;

	memcpy(&first, data, sizeof(first));
	memcpy(&last, data + nr - FILE_BLOCK, sizeof(last));
	MEASURE_CHECK(m, first == offset / FILE_BLOCK &&
				 last == (offset + nr) / FILE_BLOCK - 1);
}

/* ---- reads of the page cache, one after the other --------------------------------- */

typedef ssize_t file_pread_fn(int fd, void *data, size_t size, off_t offset);

/* Inlined, so that @pread is called directly. */
__attribute__((always_inline)) static inline void
file_read_cached(const struct measure *m, int fd, size_t size, uint64_t times,
		 const char *metric, file_pread_fn *pread)
{
	char *data = file_memory(m, size);
	uint64_t nr = measure_size(m, times), cpu_ns;

	for (uint64_t at = 0; at < FILE_CACHED_SIZE; at += size)
		MEASURE_CHECK(m, pread(fd, data, size, (off_t)at) ==
					 (ssize_t)size);
	cpu_ns = measure_cpu_now();
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t at = i * size % FILE_CACHED_SIZE;

		MEASURE_CHECK(m, pread(fd, data, size, (off_t)at) ==
					 (ssize_t)size);
		file_check(m, data, size, at);
	}
	cpu_ns = measure_cpu_now() - cpu_ns;
	measure_report(metric, (double)cpu_ns / (double)nr);
	free(data);
}

#endif
