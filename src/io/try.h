/* SPDX-License-Identifier: MIT */
/*
 * try.h - a read in two halves, for a reader that has no memory while it waits.
 *
 *   1. io_await_in() waits until a read is worth a try
 *   2. the reader gets itself memory, and io_read_now() tries; -EAGAIN: it gives the
 *      memory back, and goes on with 1
 *
 * Neither asks the kernel what the other knows: after a read that emptied a socket,
 * step 1 waits at once (io/side.h), and step 2 is made after an edge only.
 */
#ifndef SLEY_IO_TRY_H
#define SLEY_IO_TRY_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* sley_io_read(), or -EAGAIN if it would wait. */
must_check ssize_t io_read_now(int fd, void *data, size_t size);

/*
 * Wait until a read of @fd is worth a try.  @tried: the caller has just got -EAGAIN;
 * else 0 is returned at once, unless it is known that there is nothing.  Errors as
 * sley_io_poll().
 */
must_check int io_await_in(int fd, bool tried, uint64_t deadline_ns);

#endif
