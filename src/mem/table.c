/* SPDX-License-Identifier: MIT */
/*
 * table.c - see table.h.
 */
#include "mem/table.h"

#include "os/map.h"

#include <errno.h>

int table_make(const struct table *table, uint32_t index)
{
	uint32_t i = table_chunk_of(table, index);
	size_t size;
	void *chunk;

	if (i >= table->max_chunks)
		return -ENOMEM;
	if (table_find(table, index))
		return 0;
	size = table_chunk_size(table, i);
	chunk = os_map(size);
	if (!chunk)
		return -ENOMEM;
	if (!table_publish(table, i, chunk)) {
		os_unmap(chunk, size); /* another maker was first */
		return 0;
	}
	/* For good: not to be counted as a leak. */
	fault_count_mapped(-(ptrdiff_t)size);
	return 0;
}

void table_walk(const struct table *table, uint32_t nr, void (*fn)(void *place))
{
	for (uint32_t index = 0; index < nr; index++) {
		void *place = table_find(table, index);

		if (place)
			fn(place);
	}
}
