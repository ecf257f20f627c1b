/* SPDX-License-Identifier: MIT */
/*
 * places.c - see places.h.
 */
#include "graph/places.h"

#include "os/map.h"

#include <errno.h>

/* For who does not wait, and for pages: three times as many, within reason. */
#define MORE_MIN 1024u
#define MORE_MAX (1u << 20)

static size_t size_of(const struct places *places)
{
	return (size_t)places->nr * sizeof(struct node);
}

int places_init(struct places *places, uint32_t nr)
{
	uint32_t more = 3 * nr;

	if (more < MORE_MIN)
		more = MORE_MIN;
	if (more > MORE_MAX)
		more = MORE_MAX;
	places->nr = nr + more;
	places->nr_used = places->next = 1; /* 0 is nobody */
	places->place = os_map(size_of(places));
	return places->place ? 0 : -ENOMEM;
}

void places_destroy(struct places *places)
{
	os_unmap(places->place, size_of(places));
}

static struct node *take_fresh(struct places *places)
{
	struct node *node;

	if (places->next >= places->nr)
		return NULL;
	node = places_node(places, places->next);
	node->index = places->next++;
	if (places->next > places->nr_used) {
		places->nr_used = places->next;
		edges_bury(&node->consumers); /* lives begin with 1 */
	}
	return node;
}

/* What others have given back is free; nothing else is. */
static noinline void collect(struct places *places)
{
	uint64_t word;

	/* relaxed: a look that leaves the line where it is. */
	if (!load_relaxed(&places->given))
		return;
	word = xchg_acquire(&places->given, 0); /* G1 */
	places->free = places_node(places, (uint32_t)word);
	places->nr_taken -= (uint32_t)(word >> 32);
}

struct node *places_take(struct places *places)
{
	struct node *node;

	if (!places->free)
		collect(places);
	node = places->free;
	if (likely(node))
		places->free = node->next;
	else
		node = take_fresh(places);
	if (node)
		places->nr_taken++;
	return node;
}

void places_give(struct places *places, struct node *first, struct node *last,
		 uint32_t nr)
{
	/* relaxed: a guess, checked by the swap and never followed. */
	uint64_t word = load_relaxed(&places->given), more;

	do {
		uint32_t newest = (uint32_t)word;

		last->next = newest ? places_node(places, newest) : NULL;
		more = ((word >> 32) + nr) << 32 | first->index;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_release(&places->given, &word, more)); /* G1 */
}

uint32_t places_nr_taken(const struct places *places)
{
	uint64_t word = load_acquire(&places->given); /* G1 */

	return places->nr_taken - (uint32_t)(word >> 32);
}

void places_tidy(struct places *places)
{
	if (places_nr_taken(places))
		return;
	/* relaxed: nobody is left to give anything. */
	store_relaxed(&places->given, 0);
	places->nr_taken = 0;
	places->free = NULL;
	places->next = 1;
}
