/* SPDX-License-Identifier: MIT */
/*
 * arena.c - see arena.h.
 */
#include "mem/arena.h"

#include "base/assert.h"
#include "base/bits.h"
#include "os/map.h"

#define HEADER sizeof(struct arena_block)

_Static_assert(HEADER == CACHE_LINE, "blocks begin on lines of their own");

void arena_init(struct arena *arena, size_t size)
{
	*arena = (struct arena){ .size = size & ~(size_t)(CACHE_LINE - 1) };
}

void arena_destroy(struct arena *arena)
{
	if (arena->base)
		os_unmap(arena->base, arena->size);
}

bool arena_fits(const struct arena *arena, size_t size)
{
	return arena->size > HEADER && size <= arena->size - HEADER;
}

static struct arena_block *block_at(const struct arena *arena, size_t at)
{
	return (struct arena_block *)(void *)(arena->base + at);
}

static size_t offset_of(const struct arena *arena,
			const struct arena_block *block)
{
	return (size_t)((const char *)block - arena->base);
}

/* The block behind @block, or NULL. */
static struct arena_block *behind(const struct arena *arena,
				  const struct arena_block *block)
{
	size_t at = offset_of(arena, block) + block->size;

	return at < arena->size ? block_at(arena, at) : NULL;
}

static bool map(struct arena *arena)
{
	arena->base = os_map(arena->size);
	if (!arena->base)
		return false;
	block_at(arena, 0)->size = arena->size;
	return true;
}

/* @block gets @size bytes; the rest becomes a free block behind @block. */
static void cut(struct arena *arena, struct arena_block *block, size_t size)
{
	struct arena_block *rest, *next = behind(arena, block);

	if (block->size - size < 2 * HEADER)
		return;
	rest = block_at(arena, offset_of(arena, block) + size);
	rest->size = block->size - size;
	rest->size_before = size;
	rest->used = false;
	block->size = size;
	if (next)
		next->size_before = rest->size;
}

/* The first block that is large enough, from @from up to @to. */
static struct arena_block *search(const struct arena *arena, size_t from,
				  size_t to, size_t size)
{
	while (from < to) {
		struct arena_block *block = block_at(arena, from);

		if (!block->used && block->size >= size)
			return block;
		from += block->size;
	}
	return NULL;
}

struct arena_block *arena_take(struct arena *arena, size_t size)
{
	struct arena_block *block;

	if (!arena_fits(arena, size) || (!arena->base && !map(arena)))
		return NULL;
	size = round_up(size, CACHE_LINE) + HEADER;
	block = search(arena, arena->rover, arena->size, size);
	if (!block)
		block = search(arena, 0, arena->rover, size);
	if (!block)
		return NULL;
	cut(arena, block, size);
	block->used = true;
	block->leaving = false;
	block->next = NULL;
	arena->rover = (offset_of(arena, block) + block->size) % arena->size;
	arena->used += block->size;
	if (arena->used > arena->most)
		arena->most = arena->used;
	return block;
}

/* The free block @next, right behind @block, becomes part of @block. */
static void join(struct arena *arena, struct arena_block *block,
		 const struct arena_block *next)
{
	struct arena_block *after = behind(arena, next);

	if (arena->rover == offset_of(arena, next))
		arena->rover = offset_of(arena, block);
	block->size += next->size;
	if (after)
		after->size_before = block->size;
}

void arena_give(struct arena *arena, struct arena_block *block)
{
	struct arena_block *next = behind(arena, block);

	sley_assert(block->used);
	block->used = false;
	arena->used -= block->size;
	if (next && !next->used)
		join(arena, block, next);
	if (block->size_before) {
		struct arena_block *before = block_at(
			arena, offset_of(arena, block) - block->size_before);

		if (!before->used)
			join(arena, before, block);
	}
}

/* Do the neighbours agree that a block begins at @at? */
static bool is_block(const struct arena *arena, size_t at)
{
	const struct arena_block *block = block_at(arena, at);
	const struct arena_block *next;

	if (block->size < 2 * HEADER || block->size > arena->size - at ||
	    block->size % CACHE_LINE || block->size_before > at)
		return false;
	next = behind(arena, block);
	if (next && next->size_before != block->size)
		return false;
	return !at || (block->size_before >= HEADER &&
		       block_at(arena, at - block->size_before)->size ==
			       block->size_before);
}

struct arena_block *arena_find(const struct arena *arena, const void *memory)
{
	size_t at = (size_t)((const char *)memory - arena->base);

	if (!arena->base || at >= arena->size || at < HEADER ||
	    at % CACHE_LINE || !is_block(arena, at - HEADER) ||
	    !block_at(arena, at - HEADER)->used)
		return NULL;
	return block_at(arena, at - HEADER);
}
