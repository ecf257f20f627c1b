/* SPDX-License-Identifier: MIT */
/*
 * array.h - an array that grows, to twice its size at least.
 *
 * The caller has the array, how many items fit and how many are used; so it may keep
 * them wherever it likes, and read them as what they are.
 */
#ifndef SLEY_MEM_ARRAY_H
#define SLEY_MEM_ARRAY_H

#include "mem/alloc.h"

#define ARRAY_MIN 64

/*
 * Room for @need items of @size in @array, of which *@max fit and the first @used
 * stay: the array, perhaps another one, or NULL if there is no memory.
 */
must_check void *array_reserve(struct mem *mem, void *array, uint32_t *max,
			       uint32_t used, uint64_t need, size_t size);

#endif
