/* SPDX-License-Identifier: MIT */
/*
 * slab.h - objects of one size, in chunks that live as long as the slab.
 *
 *      chunk (aligned to its size)
 *      ┌────────┬──────────────┬────────┬────────┬─────┐
 *      │ header │ live: 1011.. │ object │ object │ ... │
 *      └────────┴──────────────┴────────┴────────┴─────┘
 *        next_chunk ──► all chunks, for slab_for_each and slab_fini
 *        next_partial ──► chunks that have room, for slab_alloc
 *
 * One bit per object says that the object is live.  The bits are the free list as
 * well, so the slab never writes into an object, live or not.  Two things follow.
 *
 *   - A new object is all zero; an object that is used again is as its last user
 *     left it.  A descriptor can keep a generation count over its lives.
 *   - The memory stays an object of its type until slab_fini().  A thread with
 *     a stale pointer reads an old or a new descriptor, never something else.
 *
 * The chunk of an object is found by masking its address, so that freeing
 * takes constant time.
 *
 * Everything happens under one spinlock, which gives the order between a free
 * and the next use.  Chunks are created without the lock; two threads that run dry
 * together may create a chunk each.  Threads in a hurry keep caches of their own.
 *
 * Rejected: a free list through the objects (the list writes into the objects, and
 * leaves slab_for_each without a way to tell a live object from a free object);
 * giving empty chunks back (stale pointers, see above).
 */
#ifndef SLEY_MEM_SLAB_H
#define SLEY_MEM_SLAB_H

#include "base/compiler.h"
#include "lf/spin.h"
#include "mem/alloc.h"

#include <stddef.h>
#include <stdint.h>

struct slab_chunk;

struct slab {
	struct spinlock lock;
	uint32_t per_chunk;         /* objects in each chunk              */
	size_t object_size;         /* rounded up to whole cache lines    */
	size_t chunk_size;          /* a power of two                     */
	struct mem *mem;            /* where chunks come from             */
	struct slab_chunk *chunks;  /* all chunks          (under lock)    */
	struct slab_chunk *partial; /* chunks with room    (under lock)    */
	uint64_t nr_live;           /* objects out there  (under lock)    */
};

/* Allocates nothing yet.  @mem must outlive the slab. */
void slab_init(struct slab *slab, struct mem *mem, size_t object_size);

/* Frees all chunks and with them the objects that are still live. */
void slab_fini(struct slab *slab);

/* Any thread.  Aligned to CACHE_LINE; contents: see above.  NULL: no memory. */
must_check void *slab_alloc(struct slab *slab);
#ifdef SLEY_FAULTS
#define slab_alloc(slab)                                                       \
	(fault_error("slab_alloc", ENOMEM) ? NULL : (slab_alloc)(slab))
#endif

/* Any thread.  @object must be a live object of @slab. */
void slab_free(struct slab *slab, void *object);

/*
 * Calls @fn for each live object, with the lock held: @fn must be short and
 * must not allocate from or free to the same slab.  "Live" means between
 * slab_alloc and slab_free; the user may be writing to the object at this moment.
 */
void slab_for_each(struct slab *slab, void (*fn)(void *object, void *arg),
		   void *arg);

/* Any thread.  How many objects are live. */
uint64_t slab_nr_live(struct slab *slab);

#endif
