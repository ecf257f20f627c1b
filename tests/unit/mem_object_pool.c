/* SPDX-License-Identifier: MIT */
/*
 * mem_object_pool.c - objects go round between caches and their pool, and are out once
 * at a time.
 */
#include "harness/test.h"

#include "base/rand.h"
#include "mem/object_pool.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>

#define SIZE 128
#define MANY (8 * OBJECT_POOL_MAGAZINE)

/* What is out: an object that somebody has holds its own address. */
struct object {
	struct object_pool_node node;
	struct object *self; /* NULL: nobody has it */
	unsigned char rest[SIZE - 24];
};

_Static_assert(sizeof(struct object) == SIZE, "a multiple of 64");

static struct object *get(struct object_pool *pool,
			  struct object_pool_cache *cache)
{
	struct object *object = object_pool_get(pool, cache);

	if (object) {
		CHECK(!object->self);
		object->self = object;
		/* Users write where the links were. */
		memset(&object->node, 0xff, sizeof(object->node));
	}
	return object;
}

static void put(struct object_pool *pool, struct object_pool_cache *cache,
		struct object *object)
{
	CHECK(object->self == object);
	object->self = NULL;
	object_pool_put(pool, cache, object);
}

static uint32_t nr_chunks;

static bool count_chunk(struct object_pool *pool, void *chunk)
{
	(void)pool;
	CHECK(chunk);
	nr_chunks++;
	return true;
}

static struct object_pool new_pool(uint32_t chunk_objects)
{
	return (struct object_pool){
		.object_size = SIZE,
		.chunk_objects = chunk_objects,
		.adopt = count_chunk,
	};
}

static void get_many(struct object_pool *pool, struct object_pool_cache *cache,
		     struct object **out, int nr)
{
	for (int i = 0; i < nr; i++) {
		out[i] = get(pool, cache);
		CHECK(out[i]);
	}
}

static void put_many(struct object_pool *pool, struct object_pool_cache *cache,
		     struct object **out, int nr)
{
	for (int i = 0; i < nr; i++)
		put(pool, cache, out[i]);
}

TEST(an_unused_pool_has_mapped_nothing)
{
	struct object_pool pool = new_pool(0);
	struct object_pool_cache cache = { 0 };

	object_pool_flush(&cache);
	CHECK_EQ(nr_chunks, 0);
	CHECK(!pool.fresh && !pool.rest && !pool.full);
}

static void check_new(struct object_pool *pool, struct object_pool_cache *cache)
{
	struct object *out[3 * OBJECT_POOL_MAGAZINE];

	for (int i = 0; i < 3 * OBJECT_POOL_MAGAZINE; i++) {
		out[i] = object_pool_get(pool, cache);
		CHECK(out[i]);
		CHECK_EQ((uintptr_t)out[i] % 64, 0);
		/* Zero in the first life, but for the links. */
		CHECK(!out[i]->self);
		for (size_t b = 0; b < sizeof(out[i]->rest); b++)
			CHECK_EQ(out[i]->rest[b], 0);
		memset(out[i], 1 + i % 255, SIZE);
	}
	for (int i = 0; i < 3 * OBJECT_POOL_MAGAZINE; i++) {
		const unsigned char *byte = (unsigned char *)out[i];

		CHECK_EQ(byte[0], 1 + i % 255);
		CHECK_EQ(byte[SIZE - 1], 1 + i % 255);
	}
}

TEST(new_objects_are_aligned_zeroed_and_apart)
{
	static const uint32_t chunks[] = { 0, 1, 7, 64, 100, 1024 };

	for (int i = 0; i < 6; i++) {
		struct object_pool pool = new_pool(chunks[i]);
		struct object_pool_cache cache = { 0 };

		check_new(&pool, &cache);
		check_new(&pool, NULL);
	}
}

TEST(an_object_used_again_is_as_its_last_user_left_it)
{
	struct object_pool pool = new_pool(0);
	struct object_pool_cache cache = { 0 };
	struct object *object = get(&pool, &cache);

	memset(object->rest, 7, sizeof(object->rest));
	put(&pool, &cache, object);
	CHECK(get(&pool, &cache) == object); /* the last one is warm */
	for (size_t b = 0; b < sizeof(object->rest); b++)
		CHECK_EQ(object->rest[b], 7);
}

/* Around a magazine's border nobody goes to the pool each time. */
TEST(the_border_of_a_magazine_is_crossed_without_the_pool)
{
	struct object_pool pool = new_pool(MANY);
	struct object_pool_cache cache = { 0 };
	struct object *out[2 * OBJECT_POOL_MAGAZINE];

	get_many(&pool, &cache, out, 2 * OBJECT_POOL_MAGAZINE);
	put_many(&pool, &cache, out, 2 * OBJECT_POOL_MAGAZINE);
	CHECK_EQ(cache.loaded.nr + cache.previous.nr, 2 * OBJECT_POOL_MAGAZINE);
	for (int i = 0; i < 10; i++) {
		get_many(&pool, &cache, out, OBJECT_POOL_MAGAZINE + 1);
		CHECK(!pool.full && !pool.rest);
		put_many(&pool, &cache, out, OBJECT_POOL_MAGAZINE + 1);
		CHECK(!pool.full && !pool.rest);
	}
}

TEST(what_one_cache_frees_another_gets)
{
	struct object_pool pool = new_pool(MANY);
	struct object_pool_cache maker = { 0 }, taker = { 0 };
	struct object *out[MANY];

	for (int round = 0; round < 10; round++) {
		get_many(&pool, &maker, out, MANY / 2);
		put_many(&pool, &taker, out, MANY / 2);
	}
	/* What is in the caches, and no more. */
	CHECK_EQ(nr_chunks, 1);
	object_pool_flush(&maker);
	object_pool_flush(&taker);
	get_many(&pool, NULL, out, MANY);
	CHECK_EQ(nr_chunks, 1);
	CHECK(!pool.full && !pool.rest && !pool.nr_fresh);
}

/* Magazines are broken up for who has no cache: each object once. */
TEST(without_a_cache_each_object_of_a_magazine_is_got_once)
{
	struct object_pool pool = new_pool(MANY);
	struct object_pool_cache cache = { 0 };
	struct object *out[MANY];

	get_many(&pool, &cache, out, MANY);
	put_many(&pool, &cache, out, MANY);
	CHECK(pool.full);
	object_pool_flush(&cache);
	get_many(&pool, NULL, out, MANY);
	CHECK_EQ(nr_chunks, 1);
	put_many(&pool, NULL, out, MANY);
	/* And back: single ones make up a magazine. */
	get_many(&pool, &cache, out, MANY);
	CHECK_EQ(nr_chunks, 1);
}

TEST(a_flush_gives_everything_back)
{
	struct object_pool pool = new_pool(2 * OBJECT_POOL_MAGAZINE);
	struct object_pool_cache cache = { 0 };
	struct object *out[2 * OBJECT_POOL_MAGAZINE];

	for (int nr = 0; nr <= 2 * OBJECT_POOL_MAGAZINE; nr++) {
		get_many(&pool, &cache, out, nr);
		put_many(&pool, &cache, out, nr);
		object_pool_flush(&cache);
		CHECK_EQ(cache.loaded.nr + cache.previous.nr, 0);
		object_pool_flush(&cache); /* a second one has nothing */
		get_many(&pool, NULL, out, 2 * OBJECT_POOL_MAGAZINE);
		CHECK_EQ(nr_chunks, 1);
		put_many(&pool, NULL, out, 2 * OBJECT_POOL_MAGAZINE);
	}
}

/* Whatever is done in whatever order: self says whose it is. */
TEST(objects_are_out_once_at_a_time)
{
	static struct object *out[MANY];
	struct object_pool pool = new_pool(100);
	struct object_pool_cache caches[3] = { 0 };
	int steps = test_scale(400000);
	struct rand rand;

	rand_seed(&rand, test_seed());
	for (int step = 0; step < steps; step++) {
		struct object **slot = &out[rand_below(&rand, MANY)];
		uint32_t who = rand_below(&rand, 64);
		struct object_pool_cache *cache = who < 4 ? NULL
							  : &caches[who % 3];

		if (*slot) {
			put(&pool, cache, *slot);
			*slot = NULL;
		} else {
			*slot = get(&pool, cache);
			CHECK(*slot);
		}
		if (rand_below(&rand, 1000) == 0)
			object_pool_flush(&caches[who % 3]);
	}
	/* No more than what is out and what three caches may keep. */
	CHECK_LE(nr_chunks * 100, MANY + 3 * 2 * OBJECT_POOL_MAGAZINE + 100);
	test_count((uint64_t)steps);
}

/* ---- there is no more -------------------------------------------------------------- */

static bool refuse(struct object_pool *pool, void *chunk)
{
	(void)pool;
	CHECK(chunk);
	return nr_chunks++ == 0;
}

TEST(a_chunk_that_is_not_wanted_is_unmapped)
{
	struct object_pool pool = new_pool(3);
	struct object_pool_cache cache = { 0 };
	struct object *out[3];

	pool.adopt = refuse;
	get_many(&pool, &cache, out, 3);
	for (int i = 0; i < 3; i++) {
		CHECK(get(&pool, &cache) == NULL);
		CHECK(get(&pool, NULL) == NULL);
	}
	CHECK_EQ(nr_chunks, 7);
	put(&pool, &cache, out[1]);
	CHECK(get(&pool, &cache) == out[1]);
#ifdef SLEY_FAULTS
	CHECK_LE(fault_mapped(), 4096);
#endif
}

#ifdef SLEY_FAULTS
static bool is_out_of_memory;

static int plan(const struct fault_site *site)
{
	return is_out_of_memory && !strcmp(site->call, "os_map") ? ENOMEM : 0;
}

static void run_dry(struct object_pool_cache *cache)
{
	struct object_pool pool = new_pool(2);
	struct object *out[3];

	fault_set_plan(plan);
	is_out_of_memory = true;
	CHECK(get(&pool, cache) == NULL);
	CHECK(get(&pool, cache) == NULL);
	is_out_of_memory = false;
	get_many(&pool, cache, out, 1);
	is_out_of_memory = true;
	get_many(&pool, cache, out + 1, 1); /* the chunk has another one */
	CHECK(get(&pool, cache) == NULL);
	put(&pool, cache, out[0]);
	CHECK(get(&pool, cache) == out[0]);
	CHECK(get(&pool, cache) == NULL);
	is_out_of_memory = false;
	get_many(&pool, cache, out + 2, 1);
	fault_set_plan(NULL);
}

TEST(running_out_of_memory_is_survived)
{
	struct object_pool_cache cache = { 0 };

	run_dry(&cache);
	run_dry(NULL);
}
#endif
