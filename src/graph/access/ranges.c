/* SPDX-License-Identifier: MIT */
/*
 * ranges.c - see ranges.h.
 */
#include "graph/access/ranges.h"

#include "base/chaos.h"

#include <errno.h>
#include <string.h>

#define CELLS_MIN 64
#define CELLS_MAX (1u << 30)
#define BUCKET_BITS_MIN 5

static bool is_longest(const struct range *range)
{
	struct extent extent = range->extent;

	return square_of(extent.at, range->class) !=
	       square_of(extent.last, range->class);
}

static bool overlaps(struct extent a, struct extent b)
{
	return a.at <= b.last && b.at <= a.last;
}

static uint32_t *bucket_of(const struct ranges *ranges,
			   const struct range *range)
{
	return ranges_bucket(ranges, range->class,
			     square_of(range->extent.at, range->class));
}

/* ---- memory ------------------------------------------------------------------ */

static uint64_t nr_buckets(const struct ranges *ranges)
{
	return 1ull << (64 - ranges->bucket_shift);
}

static size_t size_of_buckets(const struct ranges *ranges)
{
	return sizeof(*ranges->bucket) * nr_buckets(ranges);
}

void ranges_destroy(struct ranges *ranges)
{
	if (!ranges->max)
		return;
	mem_free(ranges->mem, ranges->cell,
		 ranges->max * sizeof(*ranges->cell));
	mem_free(ranges->mem, ranges->bucket, size_of_buckets(ranges));
}

static void link_up(struct ranges *ranges, uint32_t i)
{
	struct range *range = &ranges->cell[i];
	uint32_t *bucket = bucket_of(ranges, range);

	range->next = *bucket;
	*bucket = i;
}

/* Links all ranges into empty buckets. */
static void link_all(struct ranges *ranges)
{
	for (uint64_t left = ranges->classes; left; left &= left - 1) {
		uint32_t i = ranges->class[bits_first(left)].first;

		for (; i; i = ranges->cell[i].class_next) {
			sley_assert(!(ranges->cell[i].flags & RANGE_DROPPED));
			link_up(ranges, i);
		}
	}
}

int ranges_grow(struct ranges *ranges, uint32_t nr)
{
	uint64_t need = (uint64_t)ranges->nr_used - ranges->nr_free + nr + 1;
	uint64_t max = ranges->max ? 2 * (uint64_t)ranges->max
				   : chaos_few(CELLS_MIN, 2);
	struct ranges new = *ranges;

	while (max < need)
		max *= 2;
	if (max > CELLS_MAX)
		return -ENOMEM;
	new.max = (uint32_t)max;
	new.bucket_shift = 64 - BUCKET_BITS_MIN;
	while (nr_buckets(&new) < 2 * max)
		new.bucket_shift--;
	if (!new.nr_used)
		new.nr_used = 1;
	new.cell = mem_alloc(ranges->mem, max * sizeof(*new.cell));
	if (!new.cell)
		return -ENOMEM;
	new.bucket = mem_alloc(ranges->mem, size_of_buckets(&new));
	if (!new.bucket) {
		mem_free(ranges->mem, new.cell, max * sizeof(*new.cell));
		return -ENOMEM;
	}
	if (ranges->max)
		memcpy(new.cell, ranges->cell,
		       ranges->nr_used * sizeof(*new.cell));
	link_all(&new);
	ranges_destroy(ranges);
	*ranges = new;
	return 0;
}

void ranges_forget(struct ranges *ranges)
{
	bool few;

	if (!ranges->classes)
		return;
	few = ranges->nr_used < nr_buckets(ranges) >> 5;
	if (!few)
		memset(ranges->bucket, 0, size_of_buckets(ranges));
	for (uint64_t left = ranges->classes; left; left &= left - 1) {
		struct range_class *class = &ranges->class[bits_first(left)];
		uint32_t i = few ? class->first : 0;

		for (; i; i = ranges->cell[i].class_next)
			*bucket_of(ranges, &ranges->cell[i]) = 0;
		*class = (struct range_class){ 0 };
	}
	ranges->classes = 0;
	ranges->nr_used = 1;
	ranges->nr_free = 0;
	ranges->free = 0;
}

/* ---- one at a time ----------------------------------------------------------- */

uint32_t ranges_add(struct ranges *ranges, struct extent extent,
		    enum range_flags flags)
{
	uint32_t i = ranges_take_cell(ranges);
	unsigned int k = class_of(extent);
	struct range_class *class = &ranges->class[k];
	struct range *range = &ranges->cell[i];

	*range = (struct range){ .extent = extent,
				 .class = (uint8_t)k,
				 .flags = (uint8_t)flags,
				 .class_next = class->first };
	class->first = i;
	class->nr++;
	class->nr_longest += is_longest(range);
	ranges->classes |= 1ull << k;
	link_up(ranges, i);
	return i;
}

void ranges_drop(struct ranges *ranges, uint32_t i)
{
	struct range *range = &ranges->cell[i];
	uint32_t *link = bucket_of(ranges, range);

	while (*link != i)
		link = &ranges->cell[*link].next;
	*link = range->next;
	ranges->class[range->class].nr_longest -= is_longest(range);
	range->flags |= RANGE_DROPPED;
}

/* Frees the range that @link leads to.  It was dropped, and has no other link. */
static void unlist(struct ranges *ranges, uint32_t *link)
{
	uint32_t i = *link;
	unsigned int k = ranges->cell[i].class;

	*link = ranges->cell[i].class_next;
	if (!--ranges->class[k].nr)
		ranges->classes &= ~(1ull << k);
	ranges_give_cell(ranges, i);
}

void ranges_sweep(struct ranges *ranges,
		  bool (*is_over)(void *arg, struct range *range), void *arg)
{
	for (uint64_t left = ranges->classes; left; left &= left - 1) {
		uint32_t *link = &ranges->class[bits_first(left)].first;

		while (*link) {
			struct range *range = &ranges->cell[*link];

			if (!(range->flags & RANGE_DROPPED) &&
			    is_over(arg, range))
				ranges_drop(ranges, *link);
			if (range->flags & RANGE_DROPPED)
				unlist(ranges, link);
			else
				link = &range->class_next;
		}
	}
}

/* ---- all that overlap -------------------------------------------------------- */

static int look_at_class(struct ranges *ranges, struct range_class *class,
			 struct extent extent, struct node_list *list)
{
	uint32_t *link = &class->first;
	int err = node_list_reserve(list, ranges->mem, class->nr);

	while (*link && !err) {
		struct range *range = &ranges->cell[*link];

		if (range->flags & RANGE_DROPPED) {
			unlist(ranges, link);
			continue;
		}
		if (overlaps(range->extent, extent))
			node_list_add(list, *link);
		link = &range->class_next;
	}
	return err;
}

static noinline int look_at_bucket(struct ranges *ranges, uint32_t i,
				   unsigned int class, uint64_t square,
				   struct extent extent, struct node_list *list)
{
	int err = 0;

	for (; i && !err; i = ranges->cell[i].next) {
		const struct range *range = &ranges->cell[i];

		/* The bucket may have ranges of other squares. */
		if (!overlaps(range->extent, extent) || range->class != class ||
		    square_of(range->extent.at, class) != square)
			continue;
		err = node_list_reserve(list, ranges->mem, 1);
		if (!err)
			node_list_add(list, i);
	}
	return err;
}

int ranges_overlapping(struct ranges *ranges, struct extent extent,
		       struct node_list *list)
{
	int err = 0;

	for (uint64_t left = ranges->classes; left && !err; left &= left - 1) {
		unsigned int k = (unsigned int)bits_first(left);
		struct range_class *class = &ranges->class[k];
		uint64_t square = square_of(extent.at, k), more;

		/* The square before 0 wraps to a number that no range has. */
		square -= class->nr_longest != 0;
		more = square_of(extent.last, k) - square;
		if (more >= class->nr) {
			err = look_at_class(ranges, class, extent, list);
			continue;
		}
		for (uint64_t end = square + more + 1; square != end && !err;
		     square++) {
			uint32_t i = *ranges_bucket(ranges, k, square);

			if (i)
				err = look_at_bucket(ranges, i, k, square,
						     extent, list);
		}
	}
	return err;
}
