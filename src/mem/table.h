/* SPDX-License-Identifier: MIT */
/*
 * table.h - places that are found by number, in chunks that are never freed.
 *
 *      directory         chunk 0            chunk 1
 *      ┌───┬───┬───┐     ┌───┬───┬───┐      ┌───┬───┬───┐
 *      │ 0 │ 1 │ - │     │ 0 │ 1 │ 2 │ ...  │ n │n+1│n+2│ ...
 *      └───┴───┴───┘     └───┴───┴───┘      └───┴───┴───┘
 *
 * A thread with an old number may look at any time: without a lock, and without
 * writing.  So a place stays where it is, and an entry of the directory changes
 * once, from NULL to the address of a chunk:
 *
 *   a finder  reads the entry: NULL, or a chunk whose places are ready
 *   a maker   fills the new chunk, then swaps it for the NULL.  Of two makers of one
 *             chunk the first wins.  The second finds the entry taken, unmaps its
 *             own chunk, and uses the winner's.
 *
 * There is no lock.  At a fork() each entry is NULL or a whole chunk, so the table
 * itself needs nothing in the child.  Its users walk the places (table_walk()), for
 * locks that other threads held, or forget all chunks (table_forget()).
 *
 * All chunks are of one length, or each has twice the length of the last.  The first
 * kind is found with fewer instructions; the second needs a directory of at most 32
 * entries.
 *
 * Generations.  A user that gives a place to a next tenant puts a generation beside
 * the index: an id is {generation, index}, and names one tenant.  A generation
 * grows from tenant to tenant (table_next()) and is never used twice.  A place whose
 * generations are used up gets no tenant any more.  The user keeps the generation
 * in the place, and compares the generation under the protocol of the place: the
 * table finds a place for an old id, too.
 *
 * Edges:
 *
 *   TB1  a maker publishes a chunk -> a finder reads its address : the chunk is
 *        mapped, and its places are as the maker has filled them
 *
 * Rejected: a lock for makers (the swap of the entry decides, and a lock would have
 * to be held over a fork()); one kind of chunks for all (chunks that double cost
 * process_find() a bit scan, chunks of one length cost 2^32 slots a directory of
 * megabytes); the address of the place as the number (an id then says nothing about
 * the tenant, and a wrong id is a wild pointer); to keep the generations here (each
 * user has them in a word that it locks or reads anyway).
 */
#ifndef SLEY_MEM_TABLE_H
#define SLEY_MEM_TABLE_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Constant, so that the compiler knows all fields where table_find() is inlined. */
struct table {
	void **chunk;        /* the directory; NULL: not made yet          */
	uint32_t max_chunks; /* entries there                              */
	uint32_t length;     /* places of chunk 0: a power of two          */
	uint32_t place_size; /* in bytes                                   */
	bool doubles;        /* each chunk has twice as many places        */
};

/* ---- numbers ------------------------------------------------------------------- */

/* The chunk of place @index; not below ->max_chunks: there is no such place. */
static inline uint32_t table_chunk_of(const struct table *table, uint32_t index)
{
	uint32_t n = index / table->length;

	if (!table->doubles)
		return n;
	return 63u - (uint32_t)__builtin_clzll((uint64_t)n + 1);
}

/* The number of the first place of chunk @i. */
static inline uint32_t table_first_of(const struct table *table, uint32_t i)
{
	return (table->doubles ? (1u << i) - 1 : i) * table->length;
}

/* The bytes of chunk @i. */
static inline size_t table_chunk_size(const struct table *table, uint32_t i)
{
	size_t length = table->length;

	return (table->doubles ? length << i : length) * table->place_size;
}

/* The place of number @index; NULL: its chunk is not made.  Any thread. */
static inline __attribute__((always_inline)) void *
table_find(const struct table *table, uint32_t index)
{
	uint32_t i = table_chunk_of(table, index);
	char *chunk = NULL;

	if (likely(i < table->max_chunks))
		chunk = load_acquire(&table->chunk[i]); /* TB1 */
	if (unlikely(!chunk))
		return NULL;
	index = table->doubles ? index - table_first_of(table, i)
			       : index % table->length;
	return chunk + (size_t)index * table->place_size;
}

/* ---- chunks -------------------------------------------------------------------- */

/*
 * Let all threads find @chunk, of table_chunk_size() bytes, as chunk @i.  False: there
 * is a chunk @i already, or no entry for it; the caller keeps @chunk.
 */
static inline must_check bool table_publish(const struct table *table,
					    uint32_t i, void *chunk)
{
	void *none = NULL;

	return i < table->max_chunks &&
	       cas_release(&table->chunk[i], &none, chunk); /* TB1 */
}

/*
 * Make the chunk of place @index, zeroed, unless there is one: table_find() finds the
 * place from now on.  -ENOMEM: there is no memory, or no such place.
 */
must_check int table_make(const struct table *table, uint32_t index);

/* ---- fork(): in a child, where there is one thread ----------------------------- */

/* Call @fn for each place below number @nr whose chunk is made. */
void table_walk(const struct table *table, uint32_t nr,
		void (*fn)(void *place));

/* No place below chunk @nr_chunks is found any more.  The chunks stay mapped. */
static inline void table_forget(const struct table *table, uint32_t nr_chunks)
{
	for (uint32_t i = 0; i < nr_chunks; i++)
		/* relaxed: there is one thread. */
		store_relaxed(&table->chunk[i], NULL);
}

/* ---- generations --------------------------------------------------------------- */

/*
 * A word of 64 bits with @generation in its upper half.  @low is the index in an id,
 * or what else the user keeps beside the generation.
 */
static inline uint64_t table_word(uint32_t generation, uint32_t low)
{
	return (uint64_t)generation << 32 | low;
}

static inline uint32_t table_generation(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* The generation after @generation; 0: @last is used up, give up the place. */
static inline uint32_t table_next(uint32_t generation, uint32_t last)
{
	return generation == last ? 0 : generation + 1;
}

#endif
