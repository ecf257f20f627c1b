/* SPDX-License-Identifier: MIT */
/*
 * segment_cache.h - the segments of a client: memory that the daemon made, for payloads
 * that fit no slot.
 *
 *      asked ──comes with a packet──► used ⇄ free ──► released
 *
 * A segment is used by one request at a time.  A free segment serves the next request
 * that fits.  The bytes of all segments have a limit, which the daemon says: then free
 * segments that are too small are given back.
 *
 * The segments of a daemon that has ended are *stale*: free ones go at once, and used
 * ones when their request has left them.
 *
 * Under the lock of the client.  Memory is unmapped by the caller, outside of it: a
 * function that gives segments up puts them on a list.
 */
#ifndef SLEY_IPC_SEGMENT_CACHE_H
#define SLEY_IPC_SEGMENT_CACHE_H

#include "base/list.h"
#include "mem/alloc.h"

#include <stdbool.h>
#include <stdint.h>

/* Segments have a multiple of this size. */
#define SEGMENT_UNIT 65536u

struct segment {
	struct list link;
	void *memory;
	uint64_t size;
	uint32_t number; /* of the daemon                              */
	uint32_t epoch;  /* of the cache: another, and it is stale     */
};

struct segment_cache {
	struct list free;
	struct list arrived; /* came, and nobody has taken them yet    */
	uint64_t limit;
	uint64_t bytes; /* of all that are not stale, and of those asked for */
	uint32_t nr;    /* the same, without those asked for           */
	uint32_t epoch; /* of the daemon                               */
};

void segment_cache_init(struct segment_cache *cache);

/* What is asked for, for a payload of @bytes. */
static inline uint64_t segment_size(uint64_t bytes)
{
	return (bytes + SEGMENT_UNIT - 1) / SEGMENT_UNIT * SEGMENT_UNIT;
}

/* A free segment of at least @bytes, the smallest; or NULL. */
must_check struct segment *segment_cache_take(struct segment_cache *cache,
					      uint64_t bytes);

/*
 * May a segment of @size be asked for?  0, and it is counted.  Free segments are moved to
 * @gone if their bytes are needed.
 *
 *   -EMSGSIZE  never
 *   -EAGAIN    when others are not used any more
 */
must_check int segment_cache_ask(struct segment_cache *cache, uint64_t size,
				 struct list *gone);

/* The daemon of @epoch has said no. */
void segment_cache_refused(struct segment_cache *cache, uint64_t size,
			   uint32_t epoch);

/* The memory of a segment has come. */
void segment_cache_arrive(struct segment_cache *cache, struct segment *segment);

/* The segment @number, which has come; or NULL. */
must_check struct segment *segment_cache_claim(struct segment_cache *cache,
					       uint32_t number);

/* A request is through with @segment.  True: it is stale, and the caller frees it. */
must_check bool segment_cache_put(struct segment_cache *cache,
				  struct segment *segment);

/* The daemon has ended, or the client ends: free segments are moved to @gone. */
void segment_cache_drop(struct segment_cache *cache, struct list *gone);

/* Maps the memory of @fd, which has @size bytes; NULL: it has not, or no memory. */
must_check struct segment *segment_map(struct mem *mem, int fd, uint64_t size,
				       uint32_t number);
void segment_unmap(struct mem *mem, struct segment *segment);
/* All of @gone. */
void segments_unmap(struct mem *mem, struct list *gone);

#endif
