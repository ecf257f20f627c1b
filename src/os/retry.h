/* SPDX-License-Identifier: MIT */
/*
 * retry.h - a system call that no signal ends, and that leaves errno alone.
 */
#ifndef SLEY_OS_RETRY_H
#define SLEY_OS_RETRY_H

#include <errno.h>

/* @call until no signal interrupts it: its result, or -errno. */
#define RETRY(type, call)                                                      \
	__extension__({                                                        \
		int saved_errno_ = errno;                                      \
		type result_;                                                  \
		do {                                                           \
			result_ = (call);                                      \
		} while (result_ < 0 && errno == EINTR);                       \
		if (result_ < 0)                                               \
			result_ = -errno;                                      \
		errno = saved_errno_;                                          \
		result_;                                                       \
	})

#endif
