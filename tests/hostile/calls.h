/* SPDX-License-Identifier: MIT */
/*
 * calls.h - how many system calls the threads of this process make.
 *
 * A filter stops each call until a thread that is not counted, the *watcher*, has counted it
 * and lets it go on.
 */
#ifndef SLEY_TESTS_HOSTILE_CALLS_H
#define SLEY_TESTS_HOSTILE_CALLS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * From now on, for ever, calls of the caller are counted, and of threads that it makes; but
 * for clock_gettime(), which is a system call on some machines only.  0, or -errno: this
 * kernel cannot (it is older than Linux 5.5), or may not.
 */
int calls_watch(void);

/* So far: of the thread @tid; and of all threads.  These make no call. */
uint64_t calls_of(pid_t tid);
uint64_t calls_of_all(void);

#endif
