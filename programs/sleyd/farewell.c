/* SPDX-License-Identifier: MIT */
/*
 * farewell.c - see farewell.h.
 */
#include "farewell.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SUFFIX ".stopping"
#define ASKED_MAX 4096 /* askers that the kernel counts, since nobody accepts */

static struct sockaddr_un address;
static int listener = -1;

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		      0);
}

/* Removes the name if its process has died. */
static void remove_dead(void)
{
	int fd = new_socket();

	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    errno == ECONNREFUSED)
		(void)unlink(address.sun_path);
	if (fd >= 0)
		close(fd);
}

void farewell_begin(const char *path, uint32_t mode)
{
	int length = snprintf(address.sun_path, sizeof(address.sun_path),
			      "%s" SUFFIX, path);
	int fd;

	if (length >= (int)sizeof(address.sun_path))
		return;
	address.sun_family = AF_UNIX;
	remove_dead();
	fd = new_socket();
	if (fd < 0)
		return;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return;
	}
	listener = fd;
	if (listen(fd, ASKED_MAX) ||
	    chmod(address.sun_path, mode ? mode : 0600))
		farewell_end();
}

void farewell_end(void)
{
	if (listener < 0)
		return;
	(void)unlink(address.sun_path);
	close(listener);
	listener = -1;
}
