/* SPDX-License-Identifier: MIT */
/*
 * draw_memory.c - see draw_memory.h.
 */
#include "draw_memory.h"

#include <malloc.h>
#include <stdlib.h>

#define MEMORY_MAX ((size_t)2 << 30)

/* The memory that jansson has now.  A file is read by a single thread. */
static size_t memory_used;
static bool memory_refused;

void *draw_malloc(size_t size)
{
	void *memory;

	memory = size <= MEMORY_MAX - memory_used ? malloc(size) : NULL;
	memory_refused = memory_refused || !memory;
	memory_used += malloc_usable_size(memory);
	if (memory_used > MEMORY_MAX)
		memory_used = MEMORY_MAX;
	return memory;
}

void draw_free(void *memory)
{
	size_t size = malloc_usable_size(memory);

	memory_used -= size < memory_used ? size : memory_used;
	free(memory);
}

bool draw_memory_refused(void)
{
	return memory_refused;
}
