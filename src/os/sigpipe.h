/* SPDX-License-Identifier: MIT */
/*
 * sigpipe.h - a system call that raises no SIGPIPE, where the call has no flag for it.
 *
 * The signal is blocked during the call.  If the call raised it, it is pending for this
 * thread, and is taken back.  A thread that had it blocked before keeps it pending.
 */
#ifndef SLEY_OS_SIGPIPE_H
#define SLEY_OS_SIGPIPE_H

#include "os/retry.h"

#include <signal.h>
#include <sys/types.h>

static inline void os_sigpipe_block(sigset_t *before)
{
	sigset_t pipe;

	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe, before);
}

/* The call returned @result. */
static inline void os_sigpipe_restore(const sigset_t *before, ssize_t result)
{
	const struct timespec now = { 0 };
	sigset_t pipe;

	if (result == -EPIPE && sigismember(before, SIGPIPE) == 0) {
		(void)sigemptyset(&pipe);
		(void)sigaddset(&pipe, SIGPIPE);
		(void)RETRY(int, sigtimedwait(&pipe, NULL, &now));
	}
	(void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
