/* SPDX-License-Identifier: MIT */
/*
 * mem_slab.c - src/mem/slab.h: an object has one owner from slab_alloc() to
 * slab_free(), whichever thread frees the object, and is as its last user left it.
 *
 * The first chunk is full, or has room for one object.  A thread frees an object
 * that another thread got, while other threads take objects, so that the chunk
 * leaves and joins the stack of chunks with room, and a second chunk is made.
 * Objects carry plain data: the new owner of an object reads the data of the last
 * owner.
 *
 * Complete for three threads of one or two operations each.  All operations are
 * under one lock, so a third thread adds orders and no states.  Not seen: chunks
 * that cannot be made, which the sweep of failing calls covers; many chunks.
 */
#include "explorer.h"

#include "mem/slab.h"

#include <string.h>

#define CHUNKS 3
#define CHUNK_SIZE (128u << 10)
#define OBJECT_SIZE 8192u /* the fewest objects to a chunk */
#define OBJECTS_MAX 24

struct object {
	int owner; /* 1 + the owning thread; 0: free */
	int lives;
};

static _Alignas(CHUNK_SIZE) char chunks[CHUNKS][CHUNK_SIZE];
static uint32_t nr_chunks;
static struct slab slab;
static struct object *first[OBJECTS_MAX]; /* taken in setup */
static uint32_t nr_first;

void *mem_alloc_aligned(struct mem *mem, size_t size, size_t align)
{
	uint32_t i = add_relaxed(&nr_chunks, 1);

	(void)mem;
	MODEL_CHECK(i < CHUNKS && size <= CHUNK_SIZE && align <= CHUNK_SIZE);
	return chunks[i];
}

void mem_free(struct mem *mem, void *memory, size_t size)
{
	(void)mem;
	(void)memory;
	(void)size;
}

static struct object *take(int id)
{
	struct object *object = slab_alloc(&slab);

	model_access(object);
	MODEL_CHECK(object && object->owner == 0);
	object->owner = id + 1;
	object->lives++;
	return object;
}

static void give_back(struct object *object)
{
	model_access(object);
	MODEL_CHECK(object->owner);
	object->owner = 0;
	slab_free(&slab, object);
}

static void setup(uint32_t nr_left)
{
	for (int i = 0; i < CHUNKS; i++) {
		memset(chunks[i], 0, 512);
		for (size_t at = 0; at < CHUNK_SIZE; at += CACHE_LINE)
			memset(chunks[i] + at, 0, sizeof(struct object));
	}
	nr_chunks = 0;
	slab_init(&slab, NULL, OBJECT_SIZE);
	model_lock_word(&slab.lock.word);
	model_name(&slab.lock.word, "lock");
	model_name(&nr_chunks, "nr_chunks");
	MODEL_CHECK(slab.per_chunk <= OBJECTS_MAX &&
		    slab.chunk_size <= CHUNK_SIZE);
	for (nr_first = 0; nr_first < slab.per_chunk - nr_left; nr_first++)
		first[nr_first] = take(-1 + MODEL_THREADS_MAX);
}

static void setup_full(void)
{
	setup(0);
}

static void setup_room_for_one(void)
{
	setup(1);
}

/* ---- threads ---------------------------------------------------------------------- */

static void free_remotely(int id)
{
	(void)id;
	give_back(first[3]);
}

static void free_two_remotely(int id)
{
	(void)id;
	give_back(first[3]);
	give_back(first[5]);
}

static void take_and_keep(int id)
{
	(void)take(id);
}

static void take_and_give_back(int id)
{
	struct object *object = take(id);

	MODEL_CHECK(object->owner == id + 1);
	give_back(object);
}

/* As cancelling does with strands: reads objects that users may be writing. */
static void look(void *object, void *arg)
{
	(void)object;
	++*(uint32_t *)arg;
}

static void look_at_all(int id)
{
	uint32_t nr = 0;

	(void)id;
	slab_for_each(&slab, look, &nr);
	MODEL_CHECK(nr >= nr_first - 1 && nr <= nr_first + 1);
}

/* ---- conditions ------------------------------------------------------------------------ */

static void count_live(void *object, void *arg)
{
	MODEL_CHECK(((struct object *)object)->owner);
	++*(uint32_t *)arg;
}

/* Objects, bits and counts agree; each free object can be allocated. */
static void all_agree(void)
{
	uint32_t live = 0, room;

	slab_for_each(&slab, count_live, &live);
	MODEL_CHECK(slab_nr_live(&slab) == live);
	room = nr_chunks * slab.per_chunk - live;
	nr_first = nr_chunks;
	while (room--)
		(void)take(0);
	MODEL_CHECK(nr_chunks == nr_first);
	MODEL_CHECK(!slab.partial);
}

MODEL(a_remote_free_meets_an_alloc, .setup = setup_full,
      .threads = { take_and_keep, free_remotely }, .finish = all_agree);

MODEL(a_remote_free_meets_two_allocs, .setup = setup_full,
      .threads = { take_and_keep, take_and_keep, free_remotely },
      .finish = all_agree);

MODEL(two_run_dry_together, .setup = setup_room_for_one,
      .threads = { take_and_keep, take_and_keep, take_and_give_back },
      .finish = all_agree);

MODEL(remote_frees_meet_a_short_life, .setup = setup_full,
      .threads = { take_and_give_back, free_two_remotely },
      .finish = all_agree);

MODEL(all_are_looked_at_meanwhile, .setup = setup_full,
      .threads = { take_and_keep, free_remotely, look_at_all },
      .finish = all_agree);
