/* SPDX-License-Identifier: MIT */
/*
 * eventfd.h - descriptors for a thread that sleeps until another process signals or
 * ends: eventfds, which other processes signal, and an epoll over any descriptors.
 *
 * Futexes do not suffice: a thread sleeps on one word, or on a few where the kernel
 * is new enough, and never on the end of a process.
 */
#ifndef SLEY_OS_EVENTFD_H
#define SLEY_OS_EVENTFD_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stdbool.h>
#include <stdint.h>

/* A descriptor or -errno.  Two signals without a clear count as one. */
must_check int os_eventfd_create(void);
void os_eventfd_signal(int fd);
void os_eventfd_clear(int fd);

/* Is @fd open: 0, or -EBADF. */
must_check int os_fd_check(int fd);

/* Would a read of @fd return at once, with data, the end or an error? */
bool os_fd_is_readable(int fd);

/* Watches several descriptors: a descriptor, or -errno. */
must_check int os_epoll_create(void);
#ifdef SLEY_FAULTS
#define os_epoll_create()                                                      \
	(-fault_error("os_epoll_create", EMFILE, ENOMEM) ?: (os_epoll_create)())
#endif
/* @fd is watched as @tag until @fd is closed or removed: 0 or -errno. */
must_check int os_epoll_add(int watch, int fd, uint32_t tag);
#ifdef SLEY_FAULTS
#define os_epoll_add(watch, fd, tag)                                           \
	(-fault_error("os_epoll_add", ENOMEM, ENOSPC)                          \
		 ?: (os_epoll_add)(watch, fd, tag))
#endif
/* The same; but each signal of @fd is told once, and @fd need not be cleared. */
must_check int os_epoll_add_edge(int watch, int fd, uint32_t tag);
#ifdef SLEY_FAULTS
#define os_epoll_add_edge(watch, fd, tag)                                      \
	(-fault_error("os_epoll_add_edge", ENOMEM, ENOSPC)                     \
		 ?: (os_epoll_add_edge)(watch, fd, tag))
#endif
void os_epoll_remove(int watch, int fd);

/*
 * Sleeps until one of the descriptors can be read, or until @deadline_ns of os_now():
 * the bits of the descriptors that can be read; perhaps none (a signal).  An epoll can
 * be read if there is something to wait for.
 */
#define OS_POLL_FIRST 1u
#define OS_POLL_SECOND 2u
must_check unsigned int os_poll_two(int first, int second,
				    uint64_t deadline_ns);
#define OS_POLL_THIRD 4u
must_check unsigned int os_poll_three(int first, int second, int third,
				      uint64_t deadline_ns);

/*
 * The same until one of @events (POLLIN, POLLOUT) holds for @fd, or @second can be
 * read.  True: @fd; false: anything else.
 */
must_check bool os_fd_wait(int fd, short events, int second,
			   uint64_t deadline_ns);

/*
 * Sleeps until an event of one of @nr descriptors has come: poll(2).  After a signal no
 * entry has an event.
 */
struct pollfd;
void os_poll_many(struct pollfd *fds, uint32_t nr);

/*
 * Sleeps until a descriptor can be read, or has ended, or until @deadline_ns of
 * os_now() or some time after.  Returns the number of tags; perhaps 0.
 */
must_check int os_epoll_wait(int watch, uint32_t *tags, int max,
			     uint64_t deadline_ns);

#endif
