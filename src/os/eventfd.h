/* SPDX-License-Identifier: MIT */
/*
 * eventfd.h - what a thread sleeps on that waits for other processes: bells that they
 * ring, and whatever else has a descriptor.
 *
 * Futexes cannot do it: a thread sleeps on one word, or on a few where the kernel
 * is new enough, and never on the end of a process.
 */
#ifndef SLEY_OS_EVENTFD_H
#define SLEY_OS_EVENTFD_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stdint.h>

/* A descriptor or -errno.  Rung twice is rung. */
must_check int os_eventfd_create(void);
void os_eventfd_signal(int bell);
void os_eventfd_clear(int bell);

/* What several descriptors are watched with: a descriptor, or -errno. */
must_check int os_epoll_create(void);
#ifdef SLEY_FAULTS
#define os_epoll_create()                                                      \
	(-fault_error("os_epoll_create", EMFILE, ENOMEM) ?: (os_epoll_create)())
#endif
/* @fd is watched as @tag until it is closed or removed: 0 or -errno. */
must_check int os_epoll_add(int watch, int fd, uint32_t tag);
#ifdef SLEY_FAULTS
#define os_epoll_add(watch, fd, tag)                                           \
	(-fault_error("os_epoll_add", ENOMEM, ENOSPC)                          \
		 ?: (os_epoll_add)(watch, fd, tag))
#endif
void os_epoll_remove(int watch, int fd);

/*
 * Sleeps until something can be read, or has ended, or until @deadline_ns of
 * os_now() or some time after it.  How many tags there are; perhaps none.
 */
must_check int os_epoll_wait(int watch, uint32_t *tags, int max,
			     uint64_t deadline_ns);

#endif
