/* SPDX-License-Identifier: MIT */
/*
 * local_socket.h - sockets in the file system, to which processes of this machine
 * connect: SEQPACKET, whose packets are os/seqpacket.h.
 *
 * A listener holds a lock on the file PATH.lock as long as it lives.  So of two
 * programs that begin at the same time one finds the other, and a socket that a dead
 * program has left behind is replaced by one of them.  The kernel gives the lock back
 * when its holder dies.  The file has the number of the holder, for people: the lock counts.
 *
 * Rejected: to connect, and to replace a socket that refuses, without a lock.  Two
 * programs could both find the dead socket, and the second would remove the socket of
 * the first.
 *
 * No call changes errno.
 */
#ifndef SLEY_OS_LOCAL_SOCKET_H
#define SLEY_OS_LOCAL_SOCKET_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#define OS_LOCAL_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

struct os_local_listener {
	int fd;     /* not blocking                                      */
	int lock;   /* of the file PATH.lock; -1: the socket was given   */
	int holder; /* after -EADDRINUSE: the process; 0: not known      */
	char path[OS_LOCAL_PATH_MAX + 1];
};

/*
 * Listens at @path, with the rights @mode.
 *
 *   -EADDRINUSE    another program listens there
 *   -EPERM         users other than root and the user of the program may write to the
 *                  folder, or own it
 *   -EEXIST        there is a file of that name which is no socket
 *   -ENAMETOOLONG  the path is longer than OS_LOCAL_PATH_MAX, or empty
 *   -ENOENT, -EACCES, -EMFILE, ...
 */
must_check int os_local_listen(struct os_local_listener *out, const char *path,
			       uint32_t mode);

/* The same with @fd, which listens already: -EINVAL if it does not. */
must_check int os_local_adopt(struct os_local_listener *out, int fd);

/* Listens no more.  The files are removed, unless the socket was given. */
void os_local_unlisten(struct os_local_listener *listener);

/*
 * The folder of @path is there afterwards: made with the rights @mode, or it was.  0 or
 * -errno.
 */
must_check int os_local_make_folder(const char *path, uint32_t mode);

/*
 * A descriptor that is not blocking, or -errno: -ENOENT, -ECONNREFUSED: nobody listens;
 * -EAGAIN: too many connect at a time; -EACCES: this user may not.
 */
must_check int os_local_connect(const char *path);

/* The process that connected, or that listens. */
struct os_peer {
	int pid; /* 0: a process that this process cannot name */
	uint32_t uid;
	uint32_t gid;
};

must_check int os_local_peer(int fd, struct os_peer *out);

/*
 * A descriptor that can be read when the process that connected has ended; or -errno:
 * the kernel has no such descriptors, or the process is of another pid namespace.  Before
 * Linux 6.5 it is the process that has the pid of @peer now: the caller looks afterwards
 * whether the connection still stands.
 */
must_check int os_local_peer_pidfd(int fd, const struct os_peer *peer);

/*
 * Two ends of a bell, neither blocking: fd[0] rings, fd[1] can be read after a ring.
 *
 * Rejected, as the bell of another process: an eventfd.  The two processes share its
 * flags.  A process that makes it blocking, and fills it, would stop the one that rings.
 * Nor a pipe: its reader holds the kernel's lock while it copies, perhaps to memory that
 * never comes.  Nor a timer: 19 us to a sleeper, where a socket takes 5 to 7 us and an
 * eventfd 3.6 us.
 */
must_check int os_bell_create(int fd[2]);
void os_bell_ring(int fd);
/* fd[1] cannot be read any more, until the next ring. */
void os_bell_clear(int fd);

#endif
