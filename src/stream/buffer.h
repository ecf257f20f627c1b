/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - the buffers of streams: borrowed for a while, never owned.
 *
 * A worker takes a buffer from its own cache and gives it back there, with a few plain
 * instructions (mem/object_pool.h).  A plain thread takes the lock of the pool.  The calls are
 * functions and not inline: their callers wait, and must not keep an address of the
 * thread (core/sched/self.h).
 */
#ifndef SLEY_STREAM_BUFFER_H
#define SLEY_STREAM_BUFFER_H

#include "base/compiler.h"

#include <stdint.h>

/* SLEY_STREAM_BUFFER bytes; NULL: no memory. */
must_check char *buffer_get(void);
void buffer_put(char *buffer);

/* How many buffers the program has, borrowed or not: for tests. */
uint64_t buffers_made(void);

#endif
