/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - where the runtime's bookkeeping memory comes from.
 *
 * One struct mem per runtime: the user's hook, or the C library, and a count
 * of the bytes that are out.  Memory comes zeroed and on its own cache lines,
 * since memory of the runtime is shared between workers as a rule.  The size is
 * given back with the memory; the allocator does not store the size in between.
 *
 * Any thread.  The hook may take long, so no caller holds a spinlock.
 */
#ifndef SLEY_MEM_ALLOC_H
#define SLEY_MEM_ALLOC_H

#include "base/compiler.h"
#include "os/fault.h"

#include <sley/runtime.h>

#include <stddef.h>
#include <stdint.h>

struct mem {
	struct sley_allocator hook;
	uint64_t allocated; /* bytes that are out, by all threads */
};

/* For memory that belongs to no runtime; uses the C library. */
extern struct mem sley__program_mem;

/* @hook is copied; NULL or all zero: the C library's allocator. */
void mem_init(struct mem *mem, const struct sley_allocator *hook);

/* Zeroed and aligned to CACHE_LINE; NULL if there is no memory. */
must_check void *mem_alloc(struct mem *mem, size_t size);
#ifdef SLEY_FAULTS
#define mem_alloc(mem, size)                                                   \
	(fault_error("mem_alloc", ENOMEM) ? NULL : (mem_alloc)(mem, size))
#endif

/* The same, aligned to @align, a power of two not below CACHE_LINE. */
must_check void *mem_alloc_aligned(struct mem *mem, size_t size, size_t align);
#ifdef SLEY_FAULTS
#define mem_alloc_aligned(mem, size, align)                                    \
	(fault_error("mem_alloc_aligned", ENOMEM)                              \
		 ? NULL                                                        \
		 : (mem_alloc_aligned)(mem, size, align))
#endif

/* @size must be the size that was asked for.  NULL is nothing to free. */
void mem_free(struct mem *mem, void *memory, size_t size);

/* Bytes asked for and not yet freed; exact once all threads are quiet. */
uint64_t mem_allocated(const struct mem *mem);

#endif
