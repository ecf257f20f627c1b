/* SPDX-License-Identifier: MIT */
/*
 * direct.h - system calls that never wait, past the wrappers of the C library.
 *
 * recv(), send() and epoll_wait() are places where a thread may be cancelled.  In a
 * program with threads glibc therefore makes the thread cancellable before the system
 * call, and takes that back afterwards: two locked instructions, for a call that returns
 * at once.  syscall() does nothing of this.  A thread that waits can still be cancelled:
 * it waits elsewhere (os_futex_wait(), poll(2)).
 *
 * Sanitizers learn from the wrappers which memory the kernel reads and writes, and what a
 * descriptor orders: they get the wrappers.
 *
 * As the functions of the C library, each returns -1 and sets errno.
 */
#ifndef SLEY_OS_DIRECT_H
#define SLEY_OS_DIRECT_H

#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DIRECT_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
	__has_feature(memory_sanitizer)
#define DIRECT_IS_WATCHED 1
#endif
#endif

#ifdef DIRECT_IS_WATCHED

#define direct_recv recv
#define direct_send send
#define direct_recvmsg recvmsg
#define direct_sendmsg sendmsg

static inline int direct_epoll_look(int epoll, struct epoll_event *events,
				    int max)
{
	return epoll_wait(epoll, events, max, 0);
}

#else

static inline ssize_t direct_recv(int fd, void *data, size_t size, int flags)
{
	/* fault: the caller has the site. */
	return syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);
}

static inline ssize_t direct_send(int fd, const void *data, size_t size,
				  int flags)
{
	/* fault: the caller has the site. */
	return syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
}

static inline ssize_t direct_recvmsg(int fd, struct msghdr *msg, int flags)
{
	/* fault: the caller has the site. */
	return syscall(SYS_recvmsg, fd, msg, flags);
}

static inline ssize_t direct_sendmsg(int fd, const struct msghdr *msg,
				     int flags)
{
	/* fault: the caller has the site. */
	return syscall(SYS_sendmsg, fd, msg, flags);
}

/* AArch64 and younger processors have no epoll_wait(2). */
static inline int direct_epoll_look(int epoll, struct epoll_event *events,
				    int max)
{
	/* fault: the caller says why there is no site. */
#ifdef SYS_epoll_wait
	return (int)syscall(SYS_epoll_wait, epoll, events, max, 0);
#else
	return (int)syscall(SYS_epoll_pwait, epoll, events, max, 0, NULL,
			    (size_t)(_NSIG / 8));
#endif
}

#endif

#endif
