/* SPDX-License-Identifier: MIT */
/*
 * seqpacket.h - messages of a few bytes between two processes, with descriptors.
 *
 * A packet arrives as a whole or not at all, in order.  The reader is told when
 * all possible writers are gone.
 */
#ifndef SLEY_OS_SEQPACKET_H
#define SLEY_OS_SEQPACKET_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stdbool.h>
#include <stddef.h>

#define OS_SEQPACKET_FDS 3

/* Two ends, not inherited by exec; 0 or -errno. */
must_check int os_seqpacket_pair(int fd[2]);

/* With @fds, OS_SEQPACKET_FDS of them, unless @fds is NULL.  0, -EPIPE or -errno. */
must_check int os_seqpacket_send(int fd, const void *data, size_t size,
				 const int *fds);
#ifdef SLEY_FAULTS
#define os_seqpacket_send(fd, data, size, fds)                                 \
	(-fault_error("os_seqpacket_send", ENOBUFS, ENOMEM)                    \
		 ?: (os_seqpacket_send)(fd, data, size, fds))
#endif

/* Both ends find that the peer is gone. */
void os_seqpacket_end(int fd);

/*
 * 1: there was a packet of @size bytes; 0: all senders are gone; -EAGAIN: no packet
 * yet, and @waits is false; else -errno.  Each of @fds that did not come is -1; with
 * NULL no descriptor may come.
 */
must_check int os_seqpacket_recv(int fd, void *data, size_t size, int *fds,
				 bool waits);

#endif
