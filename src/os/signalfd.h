/* SPDX-License-Identifier: MIT */
/*
 * signalfd.h - signalfd(2): signals that are read from a descriptor.
 *
 * No call changes errno.
 */
#ifndef SLEY_OS_SIGNALFD_H
#define SLEY_OS_SIGNALFD_H

#include "base/compiler.h"

#include <signal.h>
#include <stdbool.h>

/* Is @set not empty, and are all of its signals blocked in the calling thread? */
must_check bool os_signals_blocked(const sigset_t *set);

/* A descriptor, which can be read when a signal of @set is pending; or -errno. */
must_check int os_signalfd_create(const sigset_t *set);

/* The number of a pending signal, which is not pending any more; 0: none. */
must_check int os_signalfd_read(int fd);

#endif
