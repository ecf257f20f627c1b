/* SPDX-License-Identifier: MIT */
/*
 * pile.c - see pile.h.
 */
#include "config/pile.h"

#include "mem/alloc.h"

#include <stdalign.h>
#include <string.h>

#define BLOCK_SIZE 4096

struct pile_block {
	struct pile_block *below;
	size_t size; /* with this header */
	size_t used; /* the same         */
};

static size_t rounded(size_t size)
{
	size_t unit = alignof(max_align_t);

	return (size + unit - 1) / unit * unit;
}

static struct pile_block *add_block(struct pile *pile, size_t need)
{
	size_t head = rounded(sizeof(struct pile_block));
	size_t size = head + need < BLOCK_SIZE ? BLOCK_SIZE : head + need;
	struct pile_block *block = mem_alloc(&sley__program_mem, size);

	if (!block)
		return NULL;
	*block = (struct pile_block){ pile->top, size, head };
	pile->top = block;
	return block;
}

void *pile_alloc(struct pile *pile, size_t size)
{
	struct pile_block *block = pile->top;
	void *memory;

	size = rounded(size);
	if (!block || block->size - block->used < size)
		block = add_block(pile, size);
	if (!block)
		return NULL;
	memory = (char *)block + block->used;
	block->used += size;
	return memory;
}

char *pile_text(struct pile *pile, const char *text, size_t size)
{
	char *copy = pile_alloc(pile, size + 1);

	if (copy)
		memcpy(copy, text, size); /* the rest is zero */
	return copy;
}

void pile_free(struct pile *pile)
{
	while (pile->top) {
		struct pile_block *block = pile->top;

		pile->top = block->below;
		mem_free(&sley__program_mem, block, block->size);
	}
}
