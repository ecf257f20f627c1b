/* SPDX-License-Identifier: MIT */
/*
 * object_pool.h - objects of one size that come and go on all threads, fast.
 *
 * A thread that is in a hurry has a cache: two magazines, each a chain of up to
 * OBJECT_POOL_MAGAZINE free objects.  The thread takes from one magazine and gives to one,
 * with a few plain instructions.  Only when both are empty, or both full, is a whole
 * magazine exchanged with the pool, under the lock of the pool.  So objects that are
 * made on one thread and freed on another wander back by the dozen.
 *
 *      cache                          pool
 *      ┌────────┬──────────┐   get    ┌───────────────────────────┐
 *      │ loaded │ previous │ ◄─────── │ full magazines, a list    │
 *      └────────┴──────────┘ ───────► │ and chunks, carved at last│
 *                              put    └───────────────────────────┘
 *
 * A pool belongs to the program, not to a runtime, and gives no memory back: a stale
 * pointer reads an old or a new object, never something else.  A free object is
 * linked by its first two words; the other words stay as the last user left them,
 * and are zero in the first life.
 *
 * In a child of fork() all pools are empty: objects that another thread was moving
 * between lists are lost, as are the caches.  So the lock of a pool is not held over
 * the fork.  But a chunk is adopted under one more lock, which all pools share and
 * which is held over the fork: the child knows all chunks, and none by half.
 *
 * Edges: those of the lock.
 *
 * Rejected: the slab (mem/slab.h): a lock for each object.
 */
#ifndef SLEY_MEM_OBJECT_POOL_H
#define SLEY_MEM_OBJECT_POOL_H

#include "base/compiler.h"
#include "lf/spin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef OBJECT_POOL_MAGAZINE
#define OBJECT_POOL_MAGAZINE 64
#endif

struct object_pool_node {
	struct object_pool_node
		*next; /* in the same magazine                         */
	struct object_pool_node
		*more; /* of the first: the next magazine             */
};

/* A chain that ends with NULL, also if empty. */
struct object_pool_magazine {
	struct object_pool_node *first;
	uint32_t nr;
};

/* Of one thread and one pool; all zero is an empty cache. */
struct object_pool_cache {
	struct object_pool *pool; /* NULL: not used so far */
	struct object_pool_magazine loaded;
	struct object_pool_magazine previous; /* empty or full */
};

struct object_pool {
	struct spinlock lock;
	uint32_t object_size; /* a multiple of 64                       */
	uint32_t chunk_objects; /* in each chunk; 0: OBJECT_POOL_MAGAZINE        */
	struct object_pool_node
		*full; /* magazines (lock)                       */
	struct object_pool_node
		*rest;     /* single objects (lock)                  */
	char *fresh;       /* the rest of the newest chunk (lock)     */
	uint32_t nr_fresh; /* objects there (lock)                   */
	/* Called with both locks held for a new chunk; may refuse: NULL. */
	bool (*adopt)(struct object_pool *pool, void *chunk);
	bool known; /* in the list of known pools            */
	struct object_pool *next_known;
};

/* The slow ways. */
must_check void *object_pool_get_slow(struct object_pool *pool,
				      struct object_pool_cache *cache);
void object_pool_put_slow(struct object_pool *pool,
			  struct object_pool_cache *cache, void *object);

/* Any thread, with its own cache or NULL.  NULL: no memory. */
static inline must_check void *object_pool_get(struct object_pool *pool,
					       struct object_pool_cache *cache)
{
	struct object_pool_node *node;

	if (unlikely(!cache || !cache->loaded.nr))
		return object_pool_get_slow(pool, cache);
	node = cache->loaded.first;
	cache->loaded.first = node->next;
	cache->loaded.nr--;
	return node;
}

static inline void object_pool_put(struct object_pool *pool,
				   struct object_pool_cache *cache,
				   void *object)
{
	struct object_pool_node *node = object;

	if (unlikely(!cache || !cache->pool ||
		     cache->loaded.nr == OBJECT_POOL_MAGAZINE)) {
		object_pool_put_slow(pool, cache, object);
		return;
	}
	node->next = cache->loaded.first;
	cache->loaded.first = node;
	cache->loaded.nr++;
}

/* The thread ends: the pool gets all objects in @cache. */
void object_pool_flush(struct object_pool_cache *cache);

#endif
