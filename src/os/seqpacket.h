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
#include <stdint.h>

/* Descriptors with one packet, at most. */
#define OS_SEQPACKET_FDS 4

/* Two ends, not inherited by exec; 0 or -errno. */
must_check int os_seqpacket_pair(int fd[2]);

/* With the @nr_fds descriptors @fds.  0, -EPIPE or -errno. */
must_check int os_seqpacket_send(int fd, const void *data, size_t size,
				 const int *fds, uint32_t nr_fds);
#ifdef SLEY_FAULTS
#define os_seqpacket_send(fd, data, size, fds, nr_fds)                         \
	(-fault_error("os_seqpacket_send", ENOBUFS, ENOMEM)                    \
		 ?: (os_seqpacket_send)(fd, data, size, fds, nr_fds))
#endif

/*
 * The same without descriptors, and without waiting, whatever the flags of @fd are:
 * -EAGAIN: the peer has as many packets unread as there may be.
 */
must_check int os_seqpacket_try_send(int fd, const void *data, size_t size);
#ifdef SLEY_FAULTS
#define os_seqpacket_try_send(fd, data, size)                                  \
	(-fault_error("os_seqpacket_try_send", EAGAIN)                         \
		 ?: (os_seqpacket_try_send)(fd, data, size))
#endif

/* Both ends find that the peer is gone. */
void os_seqpacket_end(int fd);

/*
 * The same, and closes.  The peer can still receive what was sent: packets of the peer that
 * were not received are thrown away first, since a close would tell of them with an error.
 */
void os_seqpacket_hang_up(int fd);

/*
 * 1: there was a packet of @size bytes; 0: all senders are gone; -EAGAIN: no packet
 * yet, and @waits is false; -EPROTO: the packet has another size, or came with more
 * than @max_fds descriptors; else -errno.  Each of the @max_fds descriptors @fds that
 * did not come is -1.  No descriptor is left open unless the result is 1.
 */
must_check int os_seqpacket_recv(int fd, void *data, size_t size, int *fds,
				 uint32_t max_fds, bool waits);

#endif
