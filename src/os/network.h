/* SPDX-License-Identifier: MIT */
/*
 * network.h - sockets are made, bound, named and ended; names become addresses.
 *
 * Each call returns a descriptor, 0 or -errno, and does not change errno.
 */
#ifndef SLEY_OS_NETWORK_H
#define SLEY_OS_NETWORK_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Not blocking, and closed by exec. */
must_check int os_socket(int family, int type);

must_check int os_bind(int fd, const struct sockaddr *address,
		       socklen_t length);
must_check int os_listen(int fd, int backlog);

/* An option of the level @level: a bool. */
must_check int os_socket_switch_on(int fd, int level, int option);

/* Where @fd is bound to, or, with @peer, what it is connected to. */
must_check int os_socket_name(int fd, bool peer, struct sockaddr *address,
			      socklen_t *length);

/* The writing direction ends: the peer reads the end. */
must_check int os_shut(int fd);

/* The next close of @fd sends a reset, and drops what was not sent yet. */
void os_reset_at_close(int fd);

/* Would the close of @fd wait until the peer has taken all bytes (SO_LINGER)? */
must_check bool os_lingers(int fd);

/* Another number for the open file of @fd, closed by exec; or -errno. */
must_check int os_dup(int fd);

/* The file of a Unix socket. */
void os_remove_file(const char *path);

/* Two ends, closed by exec: read from the first. */
must_check int os_pipe(int fd[2], bool blocking);

/*
 * Holds the thread until the name server has answered.  Calls @add for each address,
 * until it returns false.  -ENOENT: there is no such name; -EAGAIN: no answer; -EIO,
 * -ENOMEM.
 */
typedef bool os_add_address(void *arg, const struct sockaddr *address,
			    socklen_t length);
must_check int os_resolve(const char *host, const char *service,
			  os_add_address *add, void *arg);

#endif
