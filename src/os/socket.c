/* SPDX-License-Identifier: MIT */
/*
 * socket.c - see socket.h.
 */
#include "os/socket.h"

#include "os/direct.h"
#include "os/fault.h"
#include "os/retry.h"
#include "os/sigpipe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * No site fails with EAGAIN: the kernel says so only where nothing is there, or no
 * room, and reports an edge when that changes.  A caller would wait for an edge that
 * never comes.  Nor with ECONNABORTED: a caller that accepts takes the next one.
 */

/* ---- what a descriptor is ----------------------------------------------------------- */

static enum os_fd_kind kind_of_socket(int fd)
{
	int protocol = 0;
	socklen_t length = sizeof(protocol);

	/* fault: a question about a socket, which needs no resources. */
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) ||
	    protocol != IPPROTO_TCP)
		return OS_FD_SOCKET;
	return OS_FD_TCP;
}

static bool is_file(const struct stat *stat)
{
	return S_ISREG(stat->st_mode) || S_ISDIR(stat->st_mode) ||
	       S_ISBLK(stat->st_mode);
}

static enum os_fd_kind kind_of(int fd)
{
	struct stat stat;

	/* fault: a question about a number, which needs no resources. */
	if (fstat(fd, &stat))
		return OS_FD_CLOSED;
	if (S_ISSOCK(stat.st_mode))
		return kind_of_socket(fd);
	return is_file(&stat) ? OS_FD_FILE : OS_FD_OTHER;
}

bool os_fd_is_file(int fd)
{
	int saved_errno = errno;
	struct stat stat;
	/* fault: as above. */
	bool result = !fstat(fd, &stat) && is_file(&stat);

	errno = saved_errno;
	return result;
}

struct os_fd_traits os_fd_traits(int fd)
{
	int saved_errno = errno, flags = 0;
	enum os_fd_kind kind = kind_of(fd);

	if (kind != OS_FD_CLOSED)
		/* fault: as above. */
		flags = fcntl(fd, F_GETFL);
	errno = saved_errno;
	if (flags < 0)
		flags = 0;
	return (struct os_fd_traits){
		.kind = kind,
		.nonblocking = flags & O_NONBLOCK,
		.appends = flags & O_APPEND,
		.direct = flags & O_DIRECT,
		.writable = (flags & O_ACCMODE) != O_RDONLY,
	};
}

int os_fd_set_nonblocking(int fd)
{
	/* fault: a change of one bit, which needs no resources. */
	int flags = RETRY(int, fcntl(fd, F_GETFL));

	if (flags < 0 || flags & O_NONBLOCK)
		return flags < 0 ? flags : 0;
	return RETRY(int, fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

int os_fd_set_blocking(int fd)
{
	/* fault: as above. */
	int flags = RETRY(int, fcntl(fd, F_GETFL));

	return flags < 0 ? flags
			 : RETRY(int, fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
}

short os_fd_poll(int fd, short events)
{
	struct pollfd look = { .fd = fd, .events = events };
	/* fault: a look; what is not seen now is seen the next time. */
	int nr = RETRY(int, poll(&look, 1, 0));

	return nr > 0 ? look.revents : 0;
}

int os_close_checked(int fd)
{
	int saved_errno = errno, err = 0;

	/* The descriptor is closed also if a signal came. */
	if ((fault_errno("close", EIO, EDQUOT) ? close(fd), -1 : close(fd)) &&
	    errno != EINTR)
		err = -errno;
	errno = saved_errno;
	return err;
}

/* ---- sockets ------------------------------------------------------------------------ */

ssize_t os_recv(int fd, void *data, size_t size, int flags)
{
	return RETRY(ssize_t, fault_errno("recv", ECONNRESET, ENOMEM)
				      ? -1
				      : direct_recv(fd, data, size,
						    flags | MSG_DONTWAIT));
}

ssize_t os_send(int fd, const void *data, size_t size, int flags)
{
	return RETRY(ssize_t, fault_errno("send", EPIPE, ENOBUFS)
				      ? -1
				      : direct_send(fd, data, size,
						    flags | MSG_DONTWAIT |
							    MSG_NOSIGNAL));
}

ssize_t os_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return RETRY(ssize_t,
		     fault_errno("recvmsg", ECONNRESET, ENOMEM)
			     ? -1
			     : direct_recvmsg(fd, msg, flags | MSG_DONTWAIT));
}

ssize_t os_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return RETRY(ssize_t, fault_errno("sendmsg", EPIPE, ENOBUFS)
				      ? -1
				      : direct_sendmsg(fd, msg,
						       flags | MSG_DONTWAIT |
							       MSG_NOSIGNAL));
}

int os_accept(int fd, struct sockaddr *address, socklen_t *length)
{
	return RETRY(int, fault_errno("accept4", EMFILE, ENOBUFS)
				  ? -1
				  : accept4(fd, address, length,
					    SOCK_NONBLOCK | SOCK_CLOEXEC));
}

/* A signal does not undo a connect that has begun: the next call says EALREADY. */
int os_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	int err = RETRY(int, fault_errno("connect", ECONNREFUSED, ENOBUFS)
				     ? -1
				     : connect(fd, address, length));

	return err == -EALREADY ? -EINPROGRESS : err;
}

int os_connected(int fd)
{
	int error = 0;
	socklen_t length = sizeof(error);
	/* fault: a question about a socket, which needs no resources. */
	int err = RETRY(int,
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length));

	return err ? err : -error;
}

/* ---- pipes and other descriptors ------------------------------------------------------ */

ssize_t os_readv(int fd, const struct iovec *parts, int nr)
{
	return RETRY(ssize_t,
		     fault_errno("readv", EIO) ? -1 : readv(fd, parts, nr));
}

ssize_t os_writev(int fd, const struct iovec *parts, int nr)
{
	sigset_t before;
	ssize_t result;

	os_sigpipe_block(&before);
	result = RETRY(ssize_t, fault_errno("writev", EPIPE, ENOSPC)
					? -1
					: writev(fd, parts, nr));
	os_sigpipe_restore(&before, result);
	return result;
}
