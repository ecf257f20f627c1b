/* SPDX-License-Identifier: MIT */
/*
 * model_mem.h - src/mem/alloc.c over the explorer's heap, so that the explorer sees
 * memory that is freed too early, twice, or never.  Include this file in one source
 * of a model.
 */
#ifndef SLEY_TESTS_MODEL_MEM_H
#define SLEY_TESTS_MODEL_MEM_H

#include "explorer.h"

#include "mem/alloc.h"

static int mem_fails_in; /* so many allocations; 0: none fails */

void mem_init(struct mem *mem, const struct sley_allocator *hook)
{
	(void)hook;
	mem->allocated = 0;
}

void *mem_alloc(struct mem *mem, size_t size)
{
	(void)mem;
	if (mem_fails_in && !--mem_fails_in)
		return NULL;
	return model_alloc(size);
}

/* For sources that ask for an alignment; the explorer does not need it. */
void *mem_alloc_aligned(struct mem *mem, size_t size, size_t align)
{
	(void)mem;
	(void)align;
	return model_alloc(size);
}

void mem_free(struct mem *mem, void *memory, size_t size)
{
	(void)mem;
	(void)size;
	if (memory)
		model_free(memory);
}

#endif
