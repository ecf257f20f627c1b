/* SPDX-License-Identifier: MIT */
/*
 * ranges.h - ranges of memory, found by the memory they share.
 *
 * Ranges are sorted by size into classes: a range of class k has at most 2^(k+1)
 * bytes.  The address space of each class is cut into squares of as many bytes, so
 * that a range begins in a square and ends in the same or the next.  The range is
 * kept where it begins, in a hash table whose key is the class and the square:
 *
 *      class 2   |aaa.aaaa|bbbbbbbb|....cccc|cc......|
 *                 a, a     b        c        -
 *
 * A search for all ranges that overlap an extent looks, in each class that is used,
 * at the squares of the extent and the square before; or at the whole class if that
 * is less.  Most often the range exists already, exactly as asked for, and is known
 * to be alone: then the search looks at one square.
 *
 * A dropped range leaves the table at once.  The list of its class is cleaned up by
 * the next walk along it.
 *
 * All memory is in cells of one cache line, with numbers instead of addresses: these
 * are half as large, and stay valid when the array grows.  Number 0 is not used.
 * So the table has the hash of base/hash.h, but chains of its own.
 *
 * Rejected: a tree of intervals (that of the C library takes 36 ns to find a range
 * among 900, and 140 ns among 90,000, where to find and note it takes 11 and 15
 * here); a range in each square it touches (two links, and two places to remove it
 * from); open addressing (a removal must move other ranges, or leave tombstones
 * behind).
 *
 * Limit: a range much larger than very many others costs a look at each square that
 * it has in their class.
 *
 * One thread at a time.
 */
#ifndef SLEY_GRAPH_ACCESS_RANGES_H
#define SLEY_GRAPH_ACCESS_RANGES_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/compiler.h"
#include "graph/access/node_list.h"
#include "mem/alloc.h"

#define RANGE_READERS 3
#define NR_CLASSES 64

enum range_flags {
	RANGE_ALONE = 1,   /* no other range overlaps it             */
	RANGE_DROPPED = 2, /* but still in the list of its class     */
};

/* A piece of memory: at least a byte. */
struct extent {
	uint64_t at;
	uint64_t last;
};

/* The entry of an extent. */
struct range {
	struct extent extent;
	sley_node writer;    /* or SLEY_NO_NODE                        */
	uint32_t next;       /* in the same bucket                     */
	uint32_t class_next; /* in the same class                      */
	uint32_t nr_readers; /* see readers.h                          */
	uint8_t class;
	uint8_t flags;
	uint8_t prune; /* readers, when there are 2^prune              */
	uint8_t stamp; /* of the last look-up that used it             */
	sley_node reader[RANGE_READERS];
};

_Static_assert(sizeof(struct range) == CACHE_LINE, "a cell");

struct range_class {
	uint32_t first;
	uint32_t nr;         /* in the list                            */
	uint32_t nr_longest; /* that end in another square             */
};

struct ranges {
	struct mem *mem;
	struct range *cell;
	uint32_t *bucket;
	uint32_t max;          /* cells, with number 0                 */
	uint32_t bucket_shift; /* 2^(64 - bucket_shift) buckets        */
	uint32_t nr_used;      /* cells that were taken, with number 0 */
	uint32_t nr_free;      /* of nr_used                           */
	uint32_t free;         /* the first, chained by next           */
	uint64_t classes;      /* with a list: bits                    */
	struct range_class class[NR_CLASSES];
};

void ranges_destroy(struct ranges *ranges);

/* How many cells may be taken. */
static inline uint32_t ranges_room(const struct ranges *ranges)
{
	return ranges->max - ranges->nr_used + ranges->nr_free;
}

/* After a sweep: doubles the cells until there is room for @nr.  0 or -ENOMEM. */
must_check int ranges_grow(struct ranges *ranges, uint32_t nr);

/* There must be room.  The cell is not cleared. */
static inline uint32_t ranges_take_cell(struct ranges *ranges)
{
	uint32_t cell = ranges->free;

	sley_assert(ranges_room(ranges));
	if (likely(!cell))
		return ranges->nr_used++;
	ranges->free = ranges->cell[cell].next;
	ranges->nr_free--;
	return cell;
}

static inline void ranges_give_cell(struct ranges *ranges, uint32_t cell)
{
	ranges->cell[cell].next = ranges->free;
	ranges->free = cell;
	ranges->nr_free++;
}

static inline unsigned int class_of(struct extent extent)
{
	return (unsigned int)bits_last((extent.last - extent.at) | 1);
}

static inline uint64_t square_of(uint64_t at, unsigned int class)
{
	return at >> class >> 1;
}

/*
 * Sixteen squares in a row are in one cache line, each in its own bucket.  The line,
 * and the position of the first square in the line, are as good as random.
 */
static inline uint32_t *ranges_bucket(const struct ranges *ranges,
				      unsigned int class, uint64_t square)
{
	uint64_t key = square >> 4 ^ (uint64_t) class << 56;
	uint64_t slot = hash_word(key) >> ranges->bucket_shift;

	return &ranges->bucket[slot ^ (square & 15)];
}

static inline bool is_same(struct extent a, struct extent b)
{
	return a.at == b.at && a.last == b.last;
}

/* The range with exactly this extent, or 0. */
static inline uint32_t ranges_exact(const struct ranges *ranges,
				    struct extent extent)
{
	unsigned int class = class_of(extent);
	uint64_t square = square_of(extent.at, class);
	uint32_t i = *ranges_bucket(ranges, class, square);

	while (i && !is_same(ranges->cell[i].extent, extent))
		i = ranges->cell[i].next;
	return i;
}

/*
 * Does one look show that no range overlaps @extent?  Yes, if all ranges and @extent
 * fit into squares of one class: an overlapping range would be in the same bucket.
 */
static inline bool ranges_are_clear(const struct ranges *ranges,
				    struct extent extent)
{
	unsigned int class = class_of(extent);
	uint64_t square = square_of(extent.at, class);

	return !(ranges->classes & ~(1ull << class)) &&
	       !ranges->class[class].nr_longest &&
	       square == square_of(extent.last, class) &&
	       !*ranges_bucket(ranges, class, square);
}

/* Appends the numbers of all ranges that overlap @extent to @list.  0 or -ENOMEM. */
must_check int ranges_overlapping(struct ranges *ranges, struct extent extent,
				  struct node_list *list);

/* Adds a range, which must not exist, empty and with @flags.  There must be room. */
uint32_t ranges_add(struct ranges *ranges, struct extent extent,
		    enum range_flags flags);

/* Drops a range.  The cell keeps its contents until the next search. */
void ranges_drop(struct ranges *ranges, uint32_t i);

/* Drops the ranges for which @is_over returns true, and frees all dropped cells. */
void ranges_sweep(struct ranges *ranges,
		  bool (*is_over)(void *arg, struct range *range), void *arg);

/* Forgets all ranges. */
void ranges_forget(struct ranges *ranges);

#endif
