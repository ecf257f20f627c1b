/* SPDX-License-Identifier: MIT */
/*
 * places.c - see places.h.
 */
#include "graph/places.h"

void places_init(struct places *places, struct mem *mem)
{
	places->mem = mem;
	places->nr_used = 1; /* 0 is nobody */
}

static size_t block_size(unsigned int block)
{
	return sizeof(struct node) << (block + PLACES_FIRST_SHIFT);
}

void places_destroy(struct places *places)
{
	for (unsigned int i = 0; i < PLACES_BLOCKS && places->block[i]; i++)
		mem_free(places->mem, places->block[i], block_size(i));
}

static bool grow(struct places *places)
{
	unsigned int i = (unsigned int)bits_last(places->nr +
						 (1u << PLACES_FIRST_SHIFT)) -
			 PLACES_FIRST_SHIFT;
	struct node *block;

	if (i == PLACES_BLOCKS)
		return false;
	block = mem_alloc(places->mem, block_size(i));
	if (!block)
		return false;
	/* Who gets a number from here gets it by way of the lock, or an edge. */
	places->block[i] = block;
	places->nr += 1u << (i + PLACES_FIRST_SHIFT);
	return true;
}

static struct node *take_fresh(struct places *places)
{
	struct node *node;

	if (places->nr_used >= places->nr && !grow(places))
		return NULL;
	node = places_node(places, places->nr_used);
	node->index = places->nr_used++;
	edges_bury(&node->consumers); /* lives begin with 1 */
	return node;
}

struct node *places_take(struct places *places)
{
	struct node *node;

	if (!places->free)
		places_collect(places);
	node = places->free;
	if (likely(node))
		places->free = node->next;
	else
		node = take_fresh(places);
	if (node)
		places->nr_taken++;
	return node;
}

void places_give(struct places *places, struct node *first, struct node *last)
{
	/* relaxed: a guess, checked by the swap and never followed. */
	struct node *top = load_relaxed(&places->given);

	do {
		last->next = top;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_release(&places->given, &top, first)); /* G1 */
}

void places_collect(struct places *places)
{
	struct node *node;

	/* relaxed: a look that leaves the line where it is. */
	if (!load_relaxed(&places->given))
		return;
	node = xchg_acquire(&places->given, NULL); /* G1 */
	while (node) {
		struct node *next = node->next;

		node->next = places->free;
		places->free = node;
		places->nr_taken--;
		node = next;
	}
}
