/* SPDX-License-Identifier: MIT */
/*
 * array.c - see array.h.
 */
#include "mem/array.h"

#include <string.h>

void *array_reserve(struct mem *mem, void *array, uint32_t *max, uint32_t used,
		    uint64_t need, size_t size)
{
	uint64_t more = *max ? *max : ARRAY_MIN;
	void *larger;

	if (likely(array && need <= *max))
		return array;
	while (more < need)
		more *= 2;
	if (more > UINT32_MAX)
		return NULL;
	larger = mem_alloc(mem, more * size);
	if (!larger)
		return NULL;
	if (used)
		memcpy(larger, array, used * size);
	mem_free(mem, array, *max * size);
	*max = (uint32_t)more;
	return larger;
}
