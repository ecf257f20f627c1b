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

void places_tidy(struct places *places)
{
	places_collect(places);
	if (places->nr_taken)
		return;
	places->free = NULL;
	places->next = 1;
}
