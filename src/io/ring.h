/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the ring of a runtime for calls on files.
 *
 * A ring is made when a task of its runtime has to wait for a disk for the first time.
 * It is a source of the runtime (core/sched/source.h): a worker that has nothing else
 * to do, or sleeps in the poller, or makes a fair pick, takes the completions.  There
 * is no thread of its own.
 *
 * If the kernel denies a ring for good, that is noted, and the runtime does not ask
 * again.  At the limit of descriptors or of memory it asks again the next time.
 *
 * A ring does not survive fork(): the child has no runtime either.
 */
#ifndef SLEY_IO_RING_H
#define SLEY_IO_RING_H

#include "io/ring_call.h"

struct sley;

/* The ring of @rt; NULL: there is none, for now or for good. */
struct ring_calls *ring_of(struct sley *rt);

#endif
