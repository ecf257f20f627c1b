/* SPDX-License-Identifier: MIT */
/*
 * signalfd.c - see signalfd.h.
 */
#include "os/signalfd.h"

#include "os/fault.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool os_signals_blocked(const sigset_t *set)
{
	sigset_t blocked;
	bool any = false;

	/* fault: a question, which needs no resources. */
	if (pthread_sigmask(SIG_BLOCK, NULL, &blocked))
		return false;
	for (int i = 1; i < NSIG; i++) {
		if (sigismember(set, i) != 1)
			continue;
		if (sigismember(&blocked, i) != 1)
			return false;
		any = true;
	}
	return any;
}

int os_signalfd_create(const sigset_t *set)
{
	int saved_errno = errno;
	int fd = fault_errno("signalfd", EMFILE, ENOMEM)
			 ? -1
			 : signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		fd = -errno;
	errno = saved_errno;
	return fd;
}

int os_signalfd_read(int fd)
{
	struct signalfd_siginfo info;
	int saved_errno = errno;
	/* fault: does not wait; a signal that is not read stays pending. */
	ssize_t n = read(fd, &info, sizeof(info));

	errno = saved_errno;
	return n == sizeof(info) ? (int)info.ssi_signo : 0;
}
