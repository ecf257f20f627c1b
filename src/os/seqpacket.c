/* SPDX-License-Identifier: MIT */
/*
 * seqpacket.c - a pair of sockets that keep packets apart.
 */
#include "os/seqpacket.h"

#include "base/assert.h"
#include "os/fault.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Room for more descriptors than any sender here has: what does not fit, the kernel
 * closes, and says MSG_CTRUNC.
 */
union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(OS_SEQPACKET_FDS * sizeof(int))];
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
		   const int *fds, uint32_t nr_fds)
{
	size_t size = nr_fds * sizeof(int);
	struct cmsghdr *header;

	sley_assert(nr_fds <= OS_SEQPACKET_FDS);
	memset(control, 0, sizeof(*control));
	message->msg_control = control;
	message->msg_controllen = CMSG_SPACE(size);
	header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(header), fds, size);
}

static int send_message(int fd, const struct msghdr *message, int flags)
{
	int saved_errno = errno, err = 0;
	ssize_t nr;

	do {
		/* fault: in seqpacket.h, for each caller. */
		nr = sendmsg(fd, message, MSG_NOSIGNAL | flags);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0)
		err = errno == ECONNRESET ? -EPIPE : -errno;
	errno = saved_errno;
	return err;
}

int(os_seqpacket_send)(int fd, const void *data, size_t size, const int *fds,
		       uint32_t nr_fds)
{
	struct iovec bytes = { .iov_base = (void *)(size_t)data,
			       .iov_len = size };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	union control control;

	if (nr_fds)
		attach(&message, &control, fds, nr_fds);
	return send_message(fd, &message, 0);
}

int(os_seqpacket_try_send)(int fd, const void *data, size_t size)
{
	struct iovec bytes = { .iov_base = (void *)(size_t)data,
			       .iov_len = size };
	const struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

	return send_message(fd, &message, MSG_DONTWAIT);
}

/*
 * Descriptors that came with the packet are ours now, wanted or not.  Returns whether
 * there are @max at most.
 */
static bool detach(struct msghdr *message, int *fds, uint32_t max)
{
	bool fits = !(message->msg_flags & MSG_CTRUNC);
	struct cmsghdr *header;
	uint32_t nr_kept = 0;

	for (header = CMSG_FIRSTHDR(message); header;
	     header = CMSG_NXTHDR(message, header)) {
		int came[OS_SEQPACKET_FDS];
		size_t nr = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET ||
		    header->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(came, CMSG_DATA(header), nr * sizeof(int));
		for (size_t i = 0; i < nr; i++) {
			if (nr_kept < max) {
				fds[nr_kept++] = came[i];
			} else {
				os_close(came[i]);
				fits = false;
			}
		}
	}
	return fits;
}

static void close_all(int *fds, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		os_close(fds[i]);
		fds[i] = -1;
	}
}

int os_seqpacket_recv(int fd, void *data, size_t size, int *fds,
		      uint32_t max_fds, bool waits)
{
	struct iovec bytes = { .iov_base = data, .iov_len = size };
	union control control;
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int saved_errno = errno, err = 0;
	bool sound = false;
	ssize_t nr;

	for (uint32_t i = 0; i < max_fds; i++)
		fds[i] = -1;
	do {
		/* fault: fails only if the peer has ended, which is told. */
		nr = recvmsg(fd, &message,
			     (waits ? 0 : MSG_DONTWAIT) | MSG_CMSG_CLOEXEC);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0)
		err = errno == ECONNRESET ? 0 : -errno;
	else
		sound = detach(&message, fds, max_fds);
	errno = saved_errno;
	if (nr < 0)
		return err;
	if (sound && nr == (ssize_t)size && !(message.msg_flags & MSG_TRUNC))
		return 1;
	close_all(fds, max_fds);
	return nr == 0 ? 0 : -EPROTO;
}

void os_seqpacket_hang_up(int fd)
{
	int saved_errno = errno;
	char byte;

	if (fd < 0)
		return;
	os_seqpacket_end(fd);
	/* fault: ends with the first failure. */
	while (recv(fd, &byte, 1, MSG_DONTWAIT) > 0)
		;
	os_close(fd);
	errno = saved_errno;
}

void os_seqpacket_end(int fd)
{
	int saved_errno = errno;

	(void)shutdown(fd, SHUT_RDWR); /* fails only if done already */
	errno = saved_errno;
}
