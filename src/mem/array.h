/* SPDX-License-Identifier: MIT */
/*
 * array.h - an array that grows, to twice its size at least.
 *
 * The caller holds the array, the number of items that fit and the number of used
 * items.  So the caller may keep these anywhere, and read the items with their type.
 */
#ifndef SLEY_MEM_ARRAY_H
#define SLEY_MEM_ARRAY_H

#include "mem/alloc.h"

#define ARRAY_MIN 64

/*
 * Room for @need items of @size in @array, of which *@max fit and the first @used
 * stay.  Returns @array, or a larger array that replaces @array, or NULL if there is
 * no memory.
 */
must_check void *array_reserve(struct mem *mem, void *array, uint32_t *max,
			       uint32_t used, uint64_t need, size_t size);

#endif
