/* SPDX-License-Identifier: MIT */
/*
 * farewell.h - a daemon that stops is still found.
 *
 * The socket goes as soon as the daemon stops, so that the next daemon can come; the process
 * works on until its requests are answered.  During this time it listens at
 * SOCKET.stopping, for nobody: the kernel tells who listens there, and that is all that a
 * command wants to know.  Nothing is accepted.
 *
 * Rejected: the number of the process in a file, which may name another process after a
 * crash; to keep the lock of the socket, which would let no next daemon come.
 */
#ifndef SLEYD_FAREWELL_H
#define SLEYD_FAREWELL_H

#include <stdint.h>

/* What cannot be opened is left out: an older daemon, which still stops, may be there. */
void farewell_begin(const char *socket, uint32_t mode);
void farewell_end(void);

#endif
