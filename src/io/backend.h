/* SPDX-License-Identifier: MIT */
/*
 * backend.h - how a runtime waits for descriptors and files: enum sley_io.
 *
 *             waits for descriptors            calls on files
 *   uring     epoll, as a source               a ring (io/ring.h)
 *   epoll     epoll, as a source               the pool of blocking calls
 *   threads   a thread in poll(2)              the pool of blocking calls
 *
 * Each is complete, and all tests of io run on all three: io_uring is denied in many
 * containers, and a sandbox may forbid epoll.  The last also serves as a second opinion
 * where a test fails.
 */
#ifndef SLEY_IO_BACKEND_H
#define SLEY_IO_BACKEND_H

#include "core/life/sley.h"

static inline enum sley_io backend_of(const struct sley *rt)
{
	return (enum sley_io)rt->config.io;
}

#endif
