/* SPDX-License-Identifier: MIT */
/*
 * seqpacket.c - a pair of sockets that keep packets apart.
 */
#include "os/seqpacket.h"

#include "os/fault.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS_SIZE (OS_SEQPACKET_FDS * sizeof(int))

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(FDS_SIZE)];
};

int os_seqpacket_pair(int fd[2])
{
	int saved_errno = errno, err = 0;

	if (fault_errno("socketpair", EMFILE, ENOMEM) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
		err = -errno;
	errno = saved_errno;
	return err;
}

static void attach(struct msghdr *message, union control *control,
		   const int *fds)
{
	struct cmsghdr *header;

	memset(control, 0, sizeof(*control));
	message->msg_control = control;
	message->msg_controllen = sizeof(*control);
	header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(FDS_SIZE);
	memcpy(CMSG_DATA(header), fds, FDS_SIZE);
}

int(os_seqpacket_send)(int fd, const void *data, size_t size, const int *fds)
{
	struct iovec bytes = { .iov_base = (void *)(size_t)data,
			       .iov_len = size };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	int saved_errno = errno, err = 0;
	union control control;
	ssize_t nr;

	if (fds)
		attach(&message, &control, fds);
	do {
		/* fault: in seqpacket.h, for each caller. */
		nr = sendmsg(fd, &message, MSG_NOSIGNAL);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0)
		err = errno == ECONNRESET ? -EPIPE : -errno;
	errno = saved_errno;
	return err;
}

/* Descriptors that came with the packet are ours now, wanted or not. */
static void detach(struct msghdr *message, int *fds)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int came[OS_SEQPACKET_FDS];
	size_t nr;

	if (!header || header->cmsg_type != SCM_RIGHTS)
		return;
	nr = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(came, CMSG_DATA(header), nr * sizeof(int));
	for (size_t i = 0; i < nr; i++) {
		if (fds)
			fds[i] = came[i];
		else
			os_close(came[i]);
	}
}

int os_seqpacket_recv(int fd, void *data, size_t size, int *fds, bool waits)
{
	struct iovec bytes = { .iov_base = data, .iov_len = size };
	union control control;
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int saved_errno = errno, err = 0;
	ssize_t nr;

	for (int i = 0; fds && i < OS_SEQPACKET_FDS; i++)
		fds[i] = -1;
	do {
		/* fault: fails only if the peer has ended, which is told. */
		nr = recvmsg(fd, &message,
			     (waits ? 0 : MSG_DONTWAIT) | MSG_CMSG_CLOEXEC);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0)
		err = errno == ECONNRESET ? 0 : -errno;
	else
		detach(&message, fds);
	errno = saved_errno;
	if (nr < 0)
		return err;
	return nr == (ssize_t)size ? 1 : nr == 0 ? 0 : -EPROTO;
}

void os_seqpacket_end(int fd)
{
	int saved_errno = errno;

	(void)shutdown(fd, SHUT_RDWR); /* fails only if done already */
	errno = saved_errno;
}
