/* SPDX-License-Identifier: MIT */
/*
 * split.h - a range of containers, cut into sub-ranges for other machines.
 *
 * A range is cut into SPLIT_MOST sub-ranges at most, which differ by one container at
 * most: the first ones are the longer ones.  Each sub-range goes to the machine of its
 * first container, which cuts it again.  So no machine sends to more than SPLIT_MOST
 * others, however long the range is.
 *
 * Rejected: to cut where the machine changes.  The sender would have to ask for the
 * machine of each container, and containers that are dealt out in turn would make as
 * many sub-ranges as there are containers.
 */
#ifndef SLEY_ROUTE_SPLIT_H
#define SLEY_ROUTE_SPLIT_H

#include <stdint.h>

#define SPLIT_MOST 32u

/* @count containers, from @first on. */
struct span {
	uint32_t first;
	uint32_t count;
};

/* Into how many sub-ranges @count containers are cut. */
static inline uint32_t split_nr(uint32_t count)
{
	return count < SPLIT_MOST ? count : SPLIT_MOST;
}

/* The sub-range @index, which is below split_nr(), of @span. */
static inline struct span split_at(struct span span, uint32_t index)
{
	uint32_t nr = split_nr(span.count);
	uint32_t each = span.count / nr, longer = span.count % nr;

	return (struct span){
		.first = span.first + index * each +
			 (index < longer ? index : longer),
		.count = each + (index < longer),
	};
}

#endif
