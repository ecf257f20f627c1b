/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - the allocator hook, and the C library as the default.
 */
#include "mem/alloc.h"

#include "base/assert.h"
#include "base/atomic.h"
#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

static void *libc_alloc(void *self, size_t size, size_t align)
{
	void *memory;

	(void)self;
	/* A tool may take such a size for a mistake, and end the program. */
	if (size > SIZE_MAX - align)
		return NULL;
	/* Not aligned_alloc(): sizes need not be multiples of the alignment here. */
	/* fault: in alloc.h, for each caller. */
	return posix_memalign(&memory, align, size) ? NULL : memory;
}

static void libc_free(void *self, void *memory, size_t size)
{
	(void)self;
	(void)size;
	free(memory);
}

struct mem sley__program_mem = {
	.hook = { .alloc = libc_alloc, .free = libc_free },
};

void mem_init(struct mem *mem, const struct sley_allocator *hook)
{
	mem->allocated = 0;
	if (!hook || !hook->alloc) {
		mem->hook = (struct sley_allocator){ .alloc = libc_alloc,
						     .free = libc_free };
		return;
	}
	sley_check(hook->free, "an allocator needs both alloc and free");
	mem->hook = *hook;
}

void *(mem_alloc_aligned)(struct mem *mem, size_t size, size_t align)
{
	void *memory;

	sley_assert(size > 0);
	sley_assert(is_pow2(align));
	sley_assert(align >= CACHE_LINE);
	memory = mem->hook.alloc(mem->hook.self, size, align);
	if (!memory)
		return NULL;
	sley_check(
		(uintptr_t)memory % align == 0,
		"the allocator's alloc() returned memory that is not aligned "
		"as asked");
	/* relaxed: a statistic, it publishes nothing. */
	add_relaxed(&mem->allocated, size);
	return memset(memory, 0, size);
}

void *(mem_alloc)(struct mem *mem, size_t size)
{
	return (mem_alloc_aligned)(mem, size, CACHE_LINE);
}

void mem_free(struct mem *mem, void *memory, size_t size)
{
	if (!memory)
		return;
	/* relaxed: a statistic, it publishes nothing. */
	sub_relaxed(&mem->allocated, size);
	mem->hook.free(mem->hook.self, memory, size);
}

uint64_t mem_allocated(const struct mem *mem)
{
	/* relaxed: a statistic; for an exact number the caller joins the threads. */
	return load_relaxed(&mem->allocated);
}
