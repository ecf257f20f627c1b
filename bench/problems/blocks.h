/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - the median time of blocks of operations.
 *
 * A mean over a run counts the moments in which another process had the CPU.  To look at
 * the clock for each operation would cost too much.  So the clock is read once in a block
 * of operations, and the median is taken over the blocks.
 */
#ifndef BENCH_PROBLEMS_BLOCKS_H
#define BENCH_PROBLEMS_BLOCKS_H

#include "crowd.h"

struct blocks {
	uint64_t *ns; /* of each block: memory that processes share      */
	size_t nr, room;
	uint64_t last_ns; /* when the block began                            */
	uint32_t size;    /* of a block, in operations                       */
	uint32_t open;    /* operations of the block so far                  */
};

/* For @nr operations. */
static inline void blocks_init(struct blocks *blocks, const struct measure *m,
			       uint32_t size, uint64_t nr)
{
	size_t room = nr / size + 1;

	*blocks = (struct blocks){ .size = size, .room = room };
	blocks->ns = crowd_shared(m, room * sizeof(uint64_t));
}

static inline void blocks_begin(struct blocks *blocks)
{
	blocks->nr = 0;
	blocks->open = 0;
	blocks->last_ns = measure_now();
}

/* An operation has ended. */
static inline void blocks_count(struct blocks *blocks)
{
	uint64_t now;

	if (++blocks->open < blocks->size || blocks->nr == blocks->room)
		return;
	now = measure_now();
	blocks->ns[blocks->nr++] = now - blocks->last_ns;
	blocks->last_ns = now;
	blocks->open = 0;
}

/*
 * The median block, perhaps counted by another process, which has filled the shared
 * memory, but not our .nr.
 */
static inline double blocks_median(struct blocks *blocks)
{
	size_t nr = 0;

	while (nr < blocks->room && blocks->ns[nr] != 0)
		nr++;
	if (nr == 0)
		return 0;
	qsort(blocks->ns, nr, sizeof(uint64_t), measure_compare);
	return (double)blocks->ns[nr / 2];
}

static inline void blocks_free(struct blocks *blocks)
{
	munmap(blocks->ns, blocks->room * sizeof(uint64_t));
}

#endif
