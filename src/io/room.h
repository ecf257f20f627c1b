/* SPDX-License-Identifier: MIT */
/*
 * room.h - waiting for room of which the kernel does not tell.
 *
 * A listener, and a receiver of datagrams, of AF_UNIX may be full while the socket of
 * the caller is ready to write: no edge comes when that changes.  So the caller sleeps
 * for a while, and tries again; longer each time.
 */
#ifndef SLEY_IO_ROOM_H
#define SLEY_IO_ROOM_H

#include "base/compiler.h"

#include <stdint.h>

/* *@ns is 0 at first.  0: try again; -ETIMEDOUT, -ECANCELED. */
must_check int room_wait(uint64_t *ns, uint64_t deadline_ns);

#endif
