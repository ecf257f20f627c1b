/* SPDX-License-Identifier: MIT */
/*
 * local_socket.c - see local_socket.h.
 */
#include "os/local_socket.h"

#include "os/fault.h"
#include "os/network.h"
#include "os/pidfd.h"
#include "os/retry.h"
#include "os/shared_memory.h"
#include "os/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define BACKLOG 128
#define ADOPTED_BACKLOG 4096 /* the kernel allows less, perhaps             */
#define LOCK_SUFFIX ".lock"

/* ---- names -------------------------------------------------------------------------- */

static int name_of(struct sockaddr_un *address, const char *path)
{
	size_t length = strlen(path);

	if (!length || length > OS_LOCAL_PATH_MAX)
		return -ENAMETOOLONG;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, path, length);
	return 0;
}

#define FOLDER_SIZE (OS_LOCAL_PATH_MAX + 2)

static void folder_of(char folder[FOLDER_SIZE], const char *path)
{
	const char *end = strrchr(path, '/');

	if (end)
		(void)snprintf(folder, FOLDER_SIZE, "%.*s",
			       end == path ? 1 : (int)(end - path), path);
	else
		(void)snprintf(folder, FOLDER_SIZE, ".");
}

/* Nobody but root and this user can put another socket there. */
static int check_folder(const char *path)
{
	char folder[FOLDER_SIZE];
	struct stat status;

	folder_of(folder, path);
	/* fault: the errors are those of a folder that is not there. */
	if (stat(folder, &status))
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	if ((status.st_uid && status.st_uid != geteuid()) ||
	    status.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	return 0;
}

int os_local_make_folder(const char *path, uint32_t mode)
{
	int saved_errno = errno, err = 0;
	char folder[FOLDER_SIZE];

	folder_of(folder, path);
	if (fault_errno("mkdir", ENOSPC, EACCES) || mkdir(folder, mode))
		err = errno == EEXIST ? 0 : -errno;
	errno = saved_errno;
	return err;
}

/* ---- the lock ------------------------------------------------------------------------ */

static void lock_name(char *out, size_t size, const char *path)
{
	(void)snprintf(out, size, "%s" LOCK_SUFFIX, path);
}

/* Is @fd still the file @name?  Its last holder removes it. */
static bool is_there(int fd, const char *name)
{
	struct stat ours, named;

	/* fault: questions about files, which need no resources. */
	return !fstat(fd, &ours) && !stat(name, &named) &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static int open_lock(const char *name)
{
	if (fault_errno("open", EMFILE, EACCES))
		return -errno;
	return RETRY(int, open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			       0600));
}

/* Nothing depends on the number: errors are not looked at. */
static void write_holder(int fd)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%d\n", os_pid());

	/* fault: a lock without a number is as good. */
	if (ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, text, (size_t)length, 0);
}

static int read_holder(int fd)
{
	char text[32] = "";

	/* fault: as above. */
	(void)!pread(fd, text, sizeof(text) - 1, 0);
	return (int)strtol(text, NULL, 10);
}

static int take_lock(const char *path, int *holder)
{
	char name[OS_LOCAL_PATH_MAX + sizeof(LOCK_SUFFIX)];
	int fd, err;

	lock_name(name, sizeof(name), path);
	for (;;) {
		fd = open_lock(name);
		if (fd < 0)
			return fd;
		err = RETRY(int, flock(fd, LOCK_EX | LOCK_NB));
		if (!err && is_there(fd, name)) {
			write_holder(fd);
			return fd;
		}
		if (err)
			*holder = read_holder(fd);
		os_close(fd);
		if (err)
			return err == -EWOULDBLOCK ? -EADDRINUSE : err;
	}
}

static void give_lock(int fd, const char *path)
{
	char name[OS_LOCAL_PATH_MAX + sizeof(LOCK_SUFFIX)];

	lock_name(name, sizeof(name), path);
	os_remove_file(name);
	os_close(fd);
}

/* ---- listening ------------------------------------------------------------------------ */

int os_local_connect(const char *path)
{
	struct sockaddr_un address;
	int err = name_of(&address, path), fd;

	if (err)
		return err;
	fd = os_socket(AF_UNIX, SOCK_SEQPACKET);
	if (fd < 0)
		return fd;
	err = os_connect(fd, (const struct sockaddr *)&address,
			 sizeof(address));
	if (!err)
		return fd;
	os_close(fd);
	return err;
}

/* With the lock: a socket that nobody listens at goes. */
static int make_room(const char *path)
{
	struct stat status;
	int fd;

	/* fault: as above. */
	if (lstat(path, &status))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	fd = os_local_connect(path);
	if (fd >= 0)
		os_close(fd);
	if (fd != -ECONNREFUSED)
		/* A socket of another type, or one that is busy, is in use, too. */
		return fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS
			       ? fd
			       : -EADDRINUSE;
	os_remove_file(path);
	return 0;
}

/* The rights are there before the name is. */
static int bind_with_rights(int fd, const char *path, uint32_t mode)
{
	struct sockaddr_un address;
	int err = name_of(&address, path);

	if (err)
		return err;
	if (fault_errno("fchmod", EPERM) || fchmod(fd, 0600))
		return -errno;
	err = os_bind(fd, (const struct sockaddr *)&address, sizeof(address));
	if (err)
		return err;
	if (fault_errno("chmod", EPERM) || chmod(path, mode)) {
		err = -errno;
		os_remove_file(path);
	}
	return err;
}

static int listen_at(const char *path, uint32_t mode)
{
	int fd = os_socket(AF_UNIX, SOCK_SEQPACKET), err;

	if (fd < 0)
		return fd;
	err = bind_with_rights(fd, path, mode);
	if (!err) {
		err = os_listen(fd, BACKLOG);
		if (!err)
			return fd;
		os_remove_file(path);
	}
	os_close(fd);
	return err;
}

static int listen_alone(struct os_local_listener *out, const char *path,
			uint32_t mode)
{
	int err = check_folder(path);

	if (err)
		return err;
	out->lock = take_lock(path, &out->holder);
	if (out->lock < 0)
		return out->lock;
	out->fd = make_room(path);
	if (!out->fd)
		out->fd = listen_at(path, mode);
	if (out->fd >= 0)
		return 0;
	give_lock(out->lock, path);
	return out->fd;
}

int os_local_listen(struct os_local_listener *out, const char *path,
		    uint32_t mode)
{
	int saved_errno = errno, err = 0;

	*out = (struct os_local_listener){ .fd = -1, .lock = -1 };
	if (!*path || strlen(path) > OS_LOCAL_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(out->path, path, strlen(path) + 1);
	err = listen_alone(out, path, mode);
	errno = saved_errno;
	return err;
}

int os_local_adopt(struct os_local_listener *out, int fd)
{
	int saved_errno = errno, listens = 0, type = 0, err = 0;
	socklen_t length = sizeof(listens), type_length = sizeof(type);
	struct sockaddr_un name = { .sun_family = 0 };
	socklen_t name_length = sizeof(name);

	*out = (struct os_local_listener){ .fd = fd, .lock = -1 };
	/* fault: questions about a socket, which need no resources. */
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) ||
	    getsockname(fd, (struct sockaddr *)&name, &name_length))
		err = -errno;
	else if (!listens || type != SOCK_SEQPACKET ||
		 name.sun_family != AF_UNIX)
		err = -EINVAL;
	if (!err)
		err = os_fd_set_nonblocking(fd);
	/* SO_PEERCRED names the last process that called listen(2). */
	if (!err)
		err = os_listen(fd, ADOPTED_BACKLOG);
	if (!err)
		(void)snprintf(out->path, sizeof(out->path), "%.*s",
			       (int)OS_LOCAL_PATH_MAX, name.sun_path);
	errno = saved_errno;
	return err;
}

void os_local_unlisten(struct os_local_listener *listener)
{
	os_close(listener->fd);
	if (listener->lock >= 0) {
		os_remove_file(listener->path);
		give_lock(listener->lock, listener->path);
	}
	listener->fd = listener->lock = -1;
}

/* ---- the peer ------------------------------------------------------------------------- */

int os_local_peer(int fd, struct os_peer *out)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);
	int saved_errno = errno, err = 0;

	/* fault: a question about a socket, which needs no resources. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		err = -errno;
	else
		*out = (struct os_peer){ .pid = peer.pid,
					 .uid = peer.uid,
					 .gid = peer.gid };
	errno = saved_errno;
	return err;
}

int os_local_peer_pidfd(int fd, const struct os_peer *peer)
{
	socklen_t length = sizeof(int);
	int saved_errno = errno, pidfd = -1, err = 0;

	if (fault_errno("SO_PEERPIDFD", ENOPROTOOPT, EMFILE) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length))
		err = -errno;
	errno = saved_errno;
	if (!err)
		return pidfd;
	if (err != -ENOPROTOOPT || peer->pid <= 0)
		return err;
	return os_pidfd_open(peer->pid);
}

/* ---- bells ---------------------------------------------------------------------------- */

int os_bell_create(int fd[2])
{
	int saved_errno = errno, err = 0;

	if (fault_errno("socketpair", EMFILE, ENOMEM) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       0, fd))
		err = -errno;
	errno = saved_errno;
	return err;
}

void os_bell_ring(int fd)
{
	const char once = 1;
	int saved_errno = errno;

	/* fault: no room means that the bell has rung; no peer, that nobody hears. */
	(void)!sendto(fd, &once, sizeof(once), MSG_DONTWAIT | MSG_NOSIGNAL,
		      NULL, 0);
	errno = saved_errno;
}

void os_bell_clear(int fd)
{
	int saved_errno = errno;
	char rings[64];

	/* fault: a bell that has not rung is no failure.  At its end: 0 bytes. */
	for (int i = 0;
	     i < 1024 && recv(fd, rings, sizeof(rings), MSG_DONTWAIT) > 0; i++)
		;
	errno = saved_errno;
}
