/* SPDX-License-Identifier: MIT */
/*
 * object_pool.c - see object_pool.h.
 */
#include "mem/object_pool.h"

#include "os/map.h"
#include "os/at_fork.h"

static uint32_t chunk_objects(const struct object_pool *pool)
{
	return pool->chunk_objects ? pool->chunk_objects : OBJECT_POOL_MAGAZINE;
}

static size_t chunk_size(const struct object_pool *pool)
{
	return (size_t)chunk_objects(pool) * pool->object_size;
}

/* Objects that are taken under the lock, and linked after the unlock. */
struct haul {
	struct object_pool_magazine magazine;
	char *fresh; /* objects of the newest chunk, not touched yet */
	uint32_t nr_fresh;
};

/* Locked.  Single objects, up to @max. */
static struct object_pool_magazine take_rest(struct object_pool *pool,
					     uint32_t max)
{
	struct object_pool_magazine magazine = { NULL, 0 };

	while (magazine.nr < max && pool->rest) {
		struct object_pool_node *node = pool->rest;

		pool->rest = node->next;
		node->next = magazine.first;
		magazine.first = node;
		magazine.nr++;
	}
	return magazine;
}

/* Up to @max objects from the first source that has some. */
static struct haul take(struct object_pool *pool, uint32_t max)
{
	struct haul haul = { .magazine = { NULL, 0 } };

	spin_lock(&pool->lock);
	if (pool->full && max == OBJECT_POOL_MAGAZINE) {
		haul.magazine.first = pool->full;
		haul.magazine.nr = OBJECT_POOL_MAGAZINE;
		pool->full = pool->full->more;
	} else if (pool->rest) {
		haul.magazine = take_rest(pool, max);
	} else if (pool->nr_fresh) {
		haul.fresh = pool->fresh;
		haul.nr_fresh = pool->nr_fresh < max ? pool->nr_fresh : max;
		pool->fresh += (size_t)haul.nr_fresh * pool->object_size;
		pool->nr_fresh -= haul.nr_fresh;
	}
	spin_unlock(&pool->lock);
	return haul;
}

/* Touches new memory: not under the lock. */
static struct object_pool_magazine unpack(const struct object_pool *pool,
					  struct haul *haul)
{
	struct object_pool_magazine magazine = haul->magazine;

	for (uint32_t i = haul->nr_fresh; i-- > 0;) {
		char *object = haul->fresh + (size_t)i * pool->object_size;
		struct object_pool_node *node =
			(struct object_pool_node *)(void *)object;

		node->next = magazine.first;
		magazine.first = node;
		magazine.nr++;
	}
	return magazine;
}

/* ---- fork() ------------------------------------------------------------------- */

/* Held over a fork: for the list, and for chunks that are being adopted. */
static struct spinlock pools_lock;
static struct object_pool
	*known; /* pools whose lock was ever taken (pools_lock) */

static void know(struct object_pool *pool)
{
	/* relaxed: a glance; the lock decides. */
	if (likely(load_relaxed(&pool->known)))
		return;
	spin_lock(&pools_lock);
	/* relaxed: under the lock. */
	if (!load_relaxed(&pool->known)) {
		/* relaxed: as above. */
		store_relaxed(&pool->known, true);
		pool->next_known = known;
		known = pool;
	}
	spin_unlock(&pools_lock);
}

static void lock_pools(void)
{
	spin_lock(&pools_lock);
}

static void unlock_pools(void)
{
	spin_unlock(&pools_lock);
}

/* In a child: other threads may have been at work in any pool. */
static void empty_pools(void)
{
	for (struct object_pool *pool = known; pool; pool = pool->next_known) {
		pool->lock = (struct spinlock){ 0 };
		pool->full = pool->rest = NULL;
		pool->fresh = NULL;
		pool->nr_fresh = 0;
	}
}

FORK_PART(FORK_POOLS, .lock = lock_pools, .unlock = unlock_pools,
	  .renew = empty_pools);

/* ---- the slow ways ------------------------------------------------------------- */

/* Not locked: of two threads that run dry together one maps in vain. */
static bool grow(struct object_pool *pool)
{
	char *chunk = os_map(chunk_size(pool));
	bool used = false, grown;

	if (!chunk)
		return false;
	lock_pools();
	spin_lock(&pool->lock);
	if (!pool->nr_fresh)
		used = !pool->adopt || pool->adopt(pool, chunk);
	if (used) {
		pool->fresh = chunk;
		pool->nr_fresh = chunk_objects(pool);
	}
	grown = pool->nr_fresh;
	spin_unlock(&pool->lock);
	unlock_pools();
	if (used) /* kept for good: no leak for tests that count */
		fault_count_mapped(-(ptrdiff_t)chunk_size(pool));
	else
		os_unmap(chunk, chunk_size(pool));
	return grown;
}

/* A magazine is broken up for a thread that wants a single object. */
static void break_up(struct object_pool *pool)
{
	spin_lock(&pool->lock);
	if (!pool->rest && pool->full) {
		pool->rest = pool->full;
		pool->full = pool->full->more;
	}
	spin_unlock(&pool->lock);
}

static void *get_without_cache(struct object_pool *pool)
{
	struct object_pool_magazine magazine;

	know(pool);
	do {
		struct haul haul;

		break_up(pool);
		haul = take(pool, 1);
		magazine = unpack(pool, &haul);
	} while (!magazine.nr && grow(pool));
	return magazine.nr ? magazine.first : NULL;
}

void *object_pool_get_slow(struct object_pool *pool,
			   struct object_pool_cache *cache)
{
	if (!cache)
		return get_without_cache(pool);
	know(pool);
	cache->pool = pool;
	if (cache->previous.nr) {
		cache->loaded = cache->previous;
		cache->previous = (struct object_pool_magazine){ NULL, 0 };
	}
	while (!cache->loaded.nr) {
		struct haul haul = take(pool, OBJECT_POOL_MAGAZINE);

		cache->loaded = unpack(pool, &haul);
		if (!cache->loaded.nr && !grow(pool))
			return NULL;
	}
	return object_pool_get(pool, cache);
}

/* Locked. */
static void give_rest(struct object_pool *pool,
		      struct object_pool_magazine *magazine)
{
	while (magazine->nr) {
		struct object_pool_node *node = magazine->first;

		magazine->first = node->next;
		magazine->nr--;
		node->next = pool->rest;
		pool->rest = node;
	}
}

static void give(struct object_pool *pool,
		 struct object_pool_magazine *magazine)
{
	spin_lock(&pool->lock);
	if (magazine->nr == OBJECT_POOL_MAGAZINE) {
		magazine->first->more = pool->full;
		pool->full = magazine->first;
		*magazine = (struct object_pool_magazine){ NULL, 0 };
	} else {
		give_rest(pool, magazine);
	}
	spin_unlock(&pool->lock);
}

void object_pool_put_slow(struct object_pool *pool,
			  struct object_pool_cache *cache, void *object)
{
	struct object_pool_magazine single = { object, 1 };

	if (!cache) {
		((struct object_pool_node *)object)->next = NULL;
		give(pool, &single);
		return;
	}
	cache->pool = pool;
	if (cache->loaded.nr == OBJECT_POOL_MAGAZINE) {
		if (cache->previous.nr)
			give(pool, &cache->previous);
		cache->previous = cache->loaded;
		cache->loaded = (struct object_pool_magazine){ NULL, 0 };
	}
	object_pool_put(pool, cache, object);
}

void object_pool_flush(struct object_pool_cache *cache)
{
	if (!cache->pool)
		return;
	give(cache->pool, &cache->loaded);
	give(cache->pool, &cache->previous);
}
