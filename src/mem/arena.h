/* SPDX-License-Identifier: MIT */
/*
 * arena.h - blocks of any size from a piece of memory that has a limit.
 *
 * The blocks lie one after the other, each with a header of one cache line, free
 * blocks between blocks in use; two free blocks are never side by side.  A search
 * for room begins behind the last block that was given out, so that memory is used
 * in turn, as in a ring, but a block that stays long holds up no other block.
 *
 *      ┌───┬────────┬───┬──────┬───┬────────────┐
 *      │ h │ in use │ h │ free │ h │ in use     │   h: its size, the size before
 *      └───┴────────┴───┴──────┴───┴────────────┘
 *
 * One thread at a time.  The memory is mapped when the first block is wanted, and
 * comes zeroed the first time only.
 *
 * Rejected: a ring that is freed in the order of its blocks (a block that stays pins
 * all blocks behind it); size classes (a block of the whole size must be possible).
 */
#ifndef SLEY_MEM_ARENA_H
#define SLEY_MEM_ARENA_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before each block. */
struct arena_block {
	cache_aligned size_t size; /* with the header                   */
	size_t size_before;        /* of the block before, or 0           */
	bool used;
	bool leaving;             /* the user's: about to be freed       */
	void *owner;              /* the user's                        */
	struct arena_block *next; /* the user's                        */
};

struct arena {
	char *base; /* NULL: no block was wanted yet */
	size_t size;
	size_t rover; /* where to look first */
	size_t used;  /* bytes, with headers */
	size_t most;  /* ever                */
};

/* @size is rounded down to whole cache lines. */
void arena_init(struct arena *arena, size_t size);
void arena_destroy(struct arena *arena);

/* Could there ever be a block of @size bytes? */
bool arena_fits(const struct arena *arena, size_t size);

/* A block of @size bytes, not 0, on its own cache lines; NULL: not now. */
must_check struct arena_block *arena_take(struct arena *arena, size_t size);
void arena_give(struct arena *arena, struct arena_block *block);

static inline void *arena_memory(struct arena_block *block)
{
	return block + 1;
}

/* The block that @memory belongs to; or NULL. */
struct arena_block *arena_find(const struct arena *arena, const void *memory);

#endif
