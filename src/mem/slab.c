/* SPDX-License-Identifier: MIT */
/*
 * slab.c - chunks and their bitmaps; slab.h has the picture.
 *
 * A chunk joins the partial stack when it is created and, once full, when an object
 * is freed.  The chunk leaves the stack when its last free object is taken.  Objects
 * are taken only from the top of the stack, so the leaving chunk is always the top,
 * and single links do.
 */
#include "mem/slab.h"

#include "base/assert.h"
#include "base/bits.h"

#define CHUNK_SIZE_MIN (64u << 10)
#define CHUNK_OBJECTS_MIN 8
#define CHUNK_OBJECTS_MAX (CHUNK_SIZE_MIN / CACHE_LINE)
#define LIVE_WORDS (CHUNK_OBJECTS_MAX / 64)

struct slab_chunk {
	struct slab *slab;
	struct slab_chunk *next_chunk;
	struct slab_chunk *next_partial;
	uint32_t nr_live;
	uint32_t first_word;       /* words before this have no free object */
	uint64_t live[LIVE_WORDS]; /* bit set: the object is live       */
};

#define HEADER_SIZE                                                            \
	((sizeof(struct slab_chunk) + CACHE_LINE - 1) &                        \
	 ~(size_t)(CACHE_LINE - 1))

/*
 * A chunk ends a cache line before its power of two: there the allocator of the C
 * library keeps its words about the next chunk, which then begins at once.  Else each
 * chunk would touch up to two pages more.
 */
static size_t chunk_memory(size_t chunk_size)
{
	return chunk_size - 2 * CACHE_LINE;
}

void slab_init(struct slab *slab, struct mem *mem, size_t object_size)
{
	size_t nr, chunk_size = chaos_few(CHUNK_SIZE_MIN, 512);

	sley_assert(object_size > 0);
	object_size = round_up(object_size, CACHE_LINE);
	while ((chunk_memory(chunk_size) - HEADER_SIZE) / object_size <
	       chaos_few(CHUNK_OBJECTS_MIN, 1))
		chunk_size *= 2;
	nr = (chunk_memory(chunk_size) - HEADER_SIZE) / object_size;
	sley_assert(nr <= CHUNK_OBJECTS_MAX);
	*slab = (struct slab){
		.per_chunk = (uint32_t)nr,
		.object_size = object_size,
		.chunk_size = chunk_size,
		.mem = mem,
	};
}

void slab_fini(struct slab *slab)
{
	struct slab_chunk *chunk = slab->chunks;

	while (chunk) {
		struct slab_chunk *next = chunk->next_chunk;

		mem_free(slab->mem, chunk, chunk_memory(slab->chunk_size));
		chunk = next;
	}
	slab->chunks = slab->partial = NULL;
	slab->nr_live = 0;
}

static void *chunk_object(const struct slab *slab, struct slab_chunk *chunk,
			  size_t index)
{
	return (char *)chunk + HEADER_SIZE + index * slab->object_size;
}

/* Takes an object of the top of the partial stack; needs the lock. */
static void *take_object(struct slab *slab)
{
	struct slab_chunk *chunk = slab->partial;
	uint32_t word = chunk->first_word, index;

	sley_assert(chunk->nr_live < slab->per_chunk);
	while (chunk->live[word] == UINT64_MAX)
		word++;
	chunk->first_word = word;
	index = word * 64 + (uint32_t)bits_first(~chunk->live[word]);
	sley_assert(index < slab->per_chunk);
	chunk->live[word] |= UINT64_C(1) << index % 64;
	slab->nr_live++;
	if (++chunk->nr_live == slab->per_chunk) {
		slab->partial = chunk->next_partial;
		chunk->next_partial = NULL;
	}
	return chunk_object(slab, chunk, index);
}

static struct slab_chunk *chunk_create(struct slab *slab)
{
	struct slab_chunk *chunk = mem_alloc_aligned(
		slab->mem, chunk_memory(slab->chunk_size), slab->chunk_size);

	if (chunk)
		chunk->slab = slab;
	return chunk;
}

void *(slab_alloc)(struct slab *slab)
{
	struct slab_chunk *chunk;
	void *object = NULL;

	spin_lock(&slab->lock);
	if (likely(slab->partial))
		object = take_object(slab);
	spin_unlock(&slab->lock);
	if (likely(object))
		return object;

	chunk = chunk_create(slab);
	if (!chunk)
		return NULL;
	spin_lock(&slab->lock);
	chunk->next_chunk = slab->chunks;
	slab->chunks = chunk;
	chunk->next_partial = slab->partial;
	slab->partial = chunk;
	object = take_object(slab);
	spin_unlock(&slab->lock);
	return object;
}

void slab_free(struct slab *slab, void *object)
{
	uintptr_t offset = (uintptr_t)object & (slab->chunk_size - 1);
	struct slab_chunk *chunk = (void *)((char *)object - offset);
	uint32_t index = (uint32_t)((offset - HEADER_SIZE) / slab->object_size);
	uint64_t bit = UINT64_C(1) << index % 64;

	sley_assert(chunk->slab == slab);
	sley_assert(object == chunk_object(slab, chunk, index));
	spin_lock(&slab->lock);
	sley_assert(chunk->live[index / 64] & bit);
	chunk->live[index / 64] &= ~bit;
	if (chunk->first_word > index / 64)
		chunk->first_word = index / 64;
	slab->nr_live--;
	if (chunk->nr_live-- == slab->per_chunk) {
		chunk->next_partial = slab->partial;
		slab->partial = chunk;
	}
	spin_unlock(&slab->lock);
}

void slab_for_each(struct slab *slab, void (*fn)(void *object, void *arg),
		   void *arg)
{
	spin_lock(&slab->lock);
	for (struct slab_chunk *c = slab->chunks; c; c = c->next_chunk) {
		for (uint32_t i = 0; i < slab->per_chunk; i++) {
			if (c->live[i / 64] >> i % 64 & 1)
				fn(chunk_object(slab, c, i), arg);
		}
	}
	spin_unlock(&slab->lock);
}

uint64_t slab_nr_live(struct slab *slab)
{
	uint64_t nr;

	spin_lock(&slab->lock);
	nr = slab->nr_live;
	spin_unlock(&slab->lock);
	return nr;
}
