/* SPDX-License-Identifier: MIT */
/*
 * notify.c - see notify.h.
 */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3

static int notify_fd = -1;

/* Connected now, by the rights of the user that has started the daemon. */
static int connect_to(const char *path)
{
	struct sockaddr_un manager = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	int fd;

	if (length < 2 || length >= sizeof(manager.sun_path) ||
	    (*path != '/' && *path != '@'))
		return -1;
	memcpy(manager.sun_path, path, length);
	if (*path == '@') /* a name that is no file */
		manager.sun_path[0] = '\0';
	length += offsetof(struct sockaddr_un, sun_path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&manager, (socklen_t)length) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	if (path)
		notify_fd = connect_to(path);
	unsetenv("NOTIFY_SOCKET");
}

void notify(const char *format, ...)
{
	char text[512];
	va_list values;
	int length;

	if (notify_fd < 0)
		return;
	va_start(values, format);
	length = vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof(text))
		length = sizeof(text) - 1;
	/* A manager that is gone is no reason to end. */
	(void)!send(notify_fd, text, (size_t)length, MSG_NOSIGNAL);
}

static int option(int fd, int name)
{
	int value = -1;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &size) ? -1 : value;
}

int notify_socket(void)
{
	const char *pid = getenv("LISTEN_PID"), *nr = getenv("LISTEN_FDS");
	int fd = 0;

	if (pid && nr && atol(pid) == getpid()) {
		fd = -EINVAL;
		if (atoi(nr) == 1 && option(FIRST_FD, SO_DOMAIN) == AF_UNIX &&
		    option(FIRST_FD, SO_TYPE) == SOCK_SEQPACKET &&
		    option(FIRST_FD, SO_ACCEPTCONN) == 1 &&
		    fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) == 0)
			fd = FIRST_FD;
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return fd;
}
