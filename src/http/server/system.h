/* SPDX-License-Identifier: MIT */
/*
 * system.h - the calls of libsley-http into the operating system: all of them.
 *
 * The library stands on the public headers of libsley, which has no calls for these.
 */
#ifndef SLEY_HTTP_SYSTEM_H
#define SLEY_HTTP_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The seconds of the wall clock.  A few instructions: no system call. */
time_t system_seconds(void);

/* The end of what can be read from a socket comes now; errors do not matter. */
void system_end_reading(int fd);

/* 0; -EINVAL: no regular file; or the error of fstat(2). */
int system_file(int fd, uint64_t *size, struct timespec *changed);

/*
 * Bytes of a file, as far as the kernel has them in memory: it does not wait for a
 * disk.  Fewer than @size, or -1: the caller reads in another way.
 */
ssize_t system_read_cached(int fd, void *data, size_t size, uint64_t from);

#endif
