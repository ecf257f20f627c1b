/* SPDX-License-Identifier: MIT */
/*
 * readers.h - the nodes that have read a range since its last write.
 *
 * Up to RANGE_READERS readers are in the range itself.  If there are more, the last
 * slot has the number of a page instead, another cell of the ranges, with more
 * readers.  The first page is being filled, the pages behind it are full.
 *
 * A range that is often read and never written would collect readers forever.  So
 * the readers that are over are forgotten whenever there are twice as many as were
 * left the last time.
 */
#ifndef SLEY_GRAPH_ACCESS_READERS_H
#define SLEY_GRAPH_ACCESS_READERS_H

#include "graph/access/ranges.h"

void readers_add_paged(struct ranges *ranges, struct range *range,
		       sley_node node);

/* There must be room for a cell.  A node that is added twice is found twice. */
static inline void readers_add(struct ranges *ranges, struct range *range,
			       sley_node node)
{
	if (likely(range->nr_readers < RANGE_READERS))
		range->reader[range->nr_readers++] = node;
	else
		readers_add_paged(ranges, range, node);
}

/* Appends all readers to @list: 0 or -ENOMEM. */
must_check int readers_list(const struct ranges *ranges,
			    const struct range *range, struct node_list *list);

#define READERS_FEW 4 /* up to 16 are never too many */

/* Is it time to prune the readers? */
static inline bool readers_are_many(const struct range *range)
{
	return unlikely(range->nr_readers >> READERS_FEW) &&
	       range->nr_readers >> range->prune;
}

/* Forgets the readers that are over. */
void readers_prune(struct ranges *ranges, struct range *range,
		   bool (*is_over)(void *arg, sley_node node), void *arg);

void readers_forget_paged(struct ranges *ranges, struct range *range);

/* Forgets all readers. */
static inline void readers_forget(struct ranges *ranges, struct range *range)
{
	if (unlikely(range->nr_readers > RANGE_READERS))
		readers_forget_paged(ranges, range);
	range->nr_readers = 0;
	range->prune = 0;
}

#endif
