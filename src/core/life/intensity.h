/* SPDX-License-Identifier: MIT */
/*
 * intensity.h - restart intensity: were there more than N failures within the last
 * T nanoseconds?
 *
 * The times of the failures that still count are in a ring, the oldest first.  The
 * ring grows as far as it must.  The window slides: a failure older than the window
 * does not count any more, wherever the next failure falls.
 *
 * Where there is no memory for a larger ring the oldest failure is forgotten:
 * better a restart too many than the end of a program that is only short of memory.
 *
 * Rejected: a counter that starts again with each window, which tolerates twice as
 * much around the border; a leaky bucket, which tolerates more in the long run.
 */
#ifndef SLEY_CORE_LIFE_INTENSITY_H
#define SLEY_CORE_LIFE_INTENSITY_H

#include "base/compiler.h"
#include "mem/alloc.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing has failed. */
struct intensity {
	uint64_t *at_ns; /* a ring           */
	uint32_t room;   /* in the ring      */
	uint32_t first;  /* the oldest       */
	uint32_t nr;     /* that still count */
};

/*
 * One more failure, now.  False: there are @most within @within_ns already; this
 * failure is not noted then.
 */
must_check bool intensity_take(struct intensity *intensity, struct mem *mem,
			       uint32_t most, uint64_t within_ns,
			       uint64_t now_ns);

void intensity_fini(struct intensity *intensity, struct mem *mem);

#endif
