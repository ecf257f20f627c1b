/* SPDX-License-Identifier: MIT */
/*
 * mem_object_pool.c - src/mem/object_pool.c: two threads get objects from one pool,
 * with caches of their own or without, and give objects back.  An object has one owner
 * at a time; and the next owner sees the writes of the last.
 *
 * Magazines of two objects, chunks of two or of three: so caches exchange whole
 * magazines, two run dry together, and a magazine is broken up for a thread without
 * a cache.
 *
 * Complete for two threads of a few calls each.  All shared data is under one lock,
 * so a third thread adds orders and no states.  Not seen: lack of memory, which the
 * unit test covers.
 */
#define OBJECT_POOL_MAGAZINE 2

#include "explorer.h"

#include "mem/object_pool.c"

#include "base/compiler.h"

#include <string.h>

#define CHUNKS 8
#define CHUNK_MAX 3

struct object {
	struct object_pool_node node;
	int owner; /* 1 + the owning thread; 0: free */
	int lives;
} __attribute__((aligned(64)));

static struct object memory[CHUNKS][CHUNK_MAX];
static uint32_t nr_maps;
static struct object_pool pool;
static struct object_pool_cache caches[2];
static struct object *first[4]; /* taken in setup */

void *(os_map)(size_t size)
{
	uint32_t i = add_relaxed(&nr_maps, 1);

	MODEL_CHECK(i < CHUNKS && size <= sizeof(memory[0]));
	return model_mapped(memory[i], size);
}

void os_unmap(void *chunk, size_t size)
{
	(void)chunk;
	(void)size;
}

static struct object *get_one(int id, struct object_pool_cache *cache)
{
	struct object *object = object_pool_get(&pool, cache);

	MODEL_CHECK(object && object->owner == 0);
	object->owner = id + 1;
	object->lives++;
	return object;
}

static void put_one(struct object *object, struct object_pool_cache *cache)
{
	MODEL_CHECK(object->owner);
	object->owner = 0;
	object_pool_put(&pool, cache, object);
}

static void setup_with(uint32_t chunk, int nr)
{
	memset(memory, 0, sizeof(memory));
	memset(caches, 0, sizeof(caches));
	nr_maps = 0;
	pool = (struct object_pool){ .object_size = sizeof(struct object),
				     .chunk_objects = chunk };
	pools_lock = (struct spinlock){ 0 };
	known = NULL;
	model_lock_word(&pool.lock.word);
	model_lock_word(&pools_lock.word);
	model_name(&pool.lock.word, "lock");
	model_name(&nr_maps, "nr_maps");
	for (int i = 0; i < nr; i++)
		first[i] = get_one(7, NULL);
}

static void setup_empty(void)
{
	setup_with(3, 0);
}

static void setup_some(void)
{
	setup_with(2, 4);
}

/* ---- threads ------------------------------------------------------------------------ */

static void take_and_give(int id)
{
	struct object *a = get_one(id, &caches[id]),
		      *b = get_one(id, &caches[id]);

	MODEL_CHECK(a != b && a->owner == id + 1 && b->owner == id + 1);
	put_one(a, &caches[id]);
	put_one(b, &caches[id]);
	object_pool_flush(&caches[id]);
}

/* A whole magazine goes to the pool, and the rest by the flush. */
static void give_four(int id)
{
	for (int i = 0; i < 4; i++)
		put_one(first[i], &caches[id]);
	object_pool_flush(&caches[id]);
}

static void take_without_a_cache(int id)
{
	struct object *a = get_one(id, NULL), *b = get_one(id, NULL);

	MODEL_CHECK(a != b && a->owner == id + 1 && b->owner == id + 1);
	put_one(b, NULL);
	put_one(a, NULL);
}

/* ---- conditions ------------------------------------------------------------------------ */

/* Each object that was mapped and kept can be allocated, once. */
static void all_are_there(void)
{
	uint32_t nr = 0;

	while (pool.full || pool.rest || pool.nr_fresh) {
		(void)get_one(0, NULL);
		nr++;
	}
	MODEL_CHECK(nr % pool.chunk_objects == 0 && nr > 0);
	MODEL_CHECK(nr <= nr_maps * pool.chunk_objects);
	/* And fork() finds the pool, once. */
	MODEL_CHECK(known == &pool && !pool.next_known);
}

MODEL(two_run_dry_together, .setup = setup_empty,
      .threads = { take_and_give, take_and_give }, .finish = all_are_there);

MODEL(a_magazine_goes_over, .setup = setup_some,
      .threads = { give_four, take_and_give }, .finish = all_are_there);

MODEL(a_magazine_is_broken_up, .setup = setup_some,
      .threads = { give_four, take_without_a_cache }, .finish = all_are_there);
