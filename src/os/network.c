/* SPDX-License-Identifier: MIT */
/*
 * network.c - see network.h.
 */
#include "os/network.h"

#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

/* The result of @call, or -errno. */
#define RESULT(type, call)                                                     \
	__extension__({                                                        \
		int saved_errno_ = errno;                                      \
		type result_ = (call);                                         \
		if (result_ < 0)                                               \
			result_ = -errno;                                      \
		errno = saved_errno_;                                          \
		result_;                                                       \
	})

int os_socket(int family, int type)
{
	return RESULT(int,
		      fault_errno("socket", EMFILE, ENFILE, ENOBUFS)
			      ? -1
			      : socket(family,
				       type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int os_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	return RESULT(int, fault_errno("bind", EADDRINUSE, EACCES)
				   ? -1
				   : bind(fd, address, length));
}

int os_listen(int fd, int backlog)
{
	return RESULT(int, fault_errno("listen", EADDRINUSE)
				   ? -1
				   : listen(fd, backlog));
}

int os_socket_switch_on(int fd, int level, int option)
{
	int on = 1;

	return RESULT(int,
		      fault_errno("setsockopt", ENOBUFS, ENOMEM)
			      ? -1
			      : setsockopt(fd, level, option, &on, sizeof(on)));
}

int os_socket_name(int fd, bool peer, struct sockaddr *address,
		   socklen_t *length)
{
	/* fault: a question about a socket, which needs no resources. */
	return RESULT(int, peer ? getpeername(fd, address, length)
				: getsockname(fd, address, length));
}

int os_shut(int fd)
{
	/* fault: an end, which needs no resources. */
	return RESULT(int, shutdown(fd, SHUT_WR));
}

void os_reset_at_close(int fd)
{
	const struct linger linger = { .l_onoff = 1 };

	/* fault: another end than asked for, which the peer cannot rely on. */
	(void)RESULT(int, setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger,
				     sizeof(linger)));
}

bool os_lingers(int fd)
{
	struct linger linger = { 0 };
	socklen_t length = sizeof(linger);

	/* fault: a question about a socket, which needs no resources. */
	(void)RESULT(int,
		     getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length));
	return linger.l_onoff && linger.l_linger > 0;
}

int os_dup(int fd)
{
	return RESULT(int, fault_errno("fcntl", EMFILE)
				   ? -1
				   : fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

void os_remove_file(const char *path)
{
	/* fault: a file that stays is replaced by the next listener. */
	(void)RESULT(int, unlink(path));
}

int os_pipe(int fd[2], bool blocking)
{
	return RESULT(int,
		      fault_errno("pipe2", EMFILE, ENFILE)
			      ? -1
			      : pipe2(fd,
				      O_CLOEXEC | (blocking ? 0 : O_NONBLOCK)));
}

/* ---- names ---------------------------------------------------------------------------- */

static int error_of(int eai)
{
	switch (eai) {
	case 0:
		return 0;
	case EAI_NONAME:
	case EAI_SERVICE:
	case EAI_NODATA:
	case EAI_ADDRFAMILY:
		return -ENOENT;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

/* Not inline: @add of os_resolve() may be anything, and here is the address of errno. */
static noinline int look_up(const char *host, const char *service,
			    struct addrinfo **found)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	int saved_errno = errno;
	int err =
		-fault_error("getaddrinfo", EAGAIN, ENOMEM)
			?: error_of(getaddrinfo(host, service, &hints, found));

	errno = saved_errno;
	return err;
}

int os_resolve(const char *host, const char *service, os_add_address *add,
	       void *arg)
{
	struct addrinfo *found = NULL;
	const struct addrinfo *one;
	int err = look_up(host, service, &found);

	if (err)
		return err;
	for (one = found; one && add(arg, one->ai_addr, one->ai_addrlen);)
		one = one->ai_next;
	freeaddrinfo(found);
	return 0;
}
