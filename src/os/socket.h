/* SPDX-License-Identifier: MIT */
/*
 * socket.h - one attempt to transfer bytes, or to make a connection, that never waits.
 *
 * Each call returns what the kernel returned, or -errno; -EAGAIN means that the call
 * would have to wait.  Signals do not end a call: it is made again.  No call changes
 * errno.  A call on a socket whose peer has gone raises no SIGPIPE.
 */
#ifndef SLEY_OS_SOCKET_H
#define SLEY_OS_SOCKET_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* ---- what a descriptor is --------------------------------------------------------- */

enum os_fd_kind {
	OS_FD_CLOSED, /* not open                                             */
	OS_FD_FILE,   /* regular, directory, block device: no attempt waits   */
	OS_FD_TCP,    /* a stream socket of TCP                               */
	OS_FD_SOCKET, /* any other socket                                     */
	OS_FD_OTHER,  /* pipe, terminal, eventfd, ...                         */
};

struct os_fd_traits {
	enum os_fd_kind kind;
	bool nonblocking; /* O_NONBLOCK is set          */
	bool appends;     /* O_APPEND is set            */
	bool direct;      /* O_DIRECT is set            */
	bool writable;    /* open for writing           */
};

must_check struct os_fd_traits os_fd_traits(int fd);

/* Is it of the kind OS_FD_FILE?  One system call; all traits are three. */
must_check bool os_fd_is_file(int fd);

/* Sets O_NONBLOCK, for every process that shares the open file: 0 or -errno. */
must_check int os_fd_set_nonblocking(int fd);

/* Takes O_NONBLOCK away again: 0 or -errno. */
must_check int os_fd_set_blocking(int fd);

/* Which of @events (POLLIN, POLLOUT, ...) hold now; 0: none. */
must_check short os_fd_poll(int fd, short events);

/* 0, or why data may be lost: -errno.  @fd is closed in any case, if it was open. */
must_check int os_close_checked(int fd);

/* ---- sockets ---------------------------------------------------------------------- */

must_check ssize_t os_recv(int fd, void *data, size_t size, int flags);
must_check ssize_t os_send(int fd, const void *data, size_t size, int flags);
must_check ssize_t os_recvmsg(int fd, struct msghdr *msg, int flags);
must_check ssize_t os_sendmsg(int fd, const struct msghdr *msg, int flags);

/* @fd is not blocking.  The new descriptor is not blocking, and closed by exec. */
must_check int os_accept(int fd, struct sockaddr *address, socklen_t *length);

/* @fd is not blocking: 0, or -EINPROGRESS: os_connected() when it can be written. */
must_check int os_connect(int fd, const struct sockaddr *address,
			  socklen_t length);

/* How the connecting of @fd ended: 0 or -errno. */
must_check int os_connected(int fd);

/* ---- pipes and other descriptors ---------------------------------------------------- */

/* @fd is not blocking, or can be read or written now. */
must_check ssize_t os_readv(int fd, const struct iovec *parts, int nr);
must_check ssize_t os_writev(int fd, const struct iovec *parts, int nr);

#endif
