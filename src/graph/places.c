/* SPDX-License-Identifier: MIT */
/*
 * places.c - see places.h.
 */
#include "graph/places.h"

#include "os/map.h"

#include <errno.h>

/* For nodes that do not wait for room: three times as many, within reason. */
#define MORE_MIN 1024u
#define MORE_MAX (1u << 20)

/* Behind them: addresses of 4 GiB at most, and 1 MiB of memory at a time. */
#define RESERVE_MAX (1u << 24)
#define GROW_BY 4096u

static size_t size_of(uint32_t nr)
{
	return (size_t)nr * sizeof(struct node);
}

/* Each of @nr nodes may have edges from all others. */
static uint32_t nr_pages(uint32_t nr)
{
	uint64_t pages = (uint64_t)nr * (nr / PAGE_EDGES + 1);

	return pages < RESERVE_MAX ? (uint32_t)pages : RESERVE_MAX;
}

/* As many as there may be, and @nr at least: false if not even these. */
static bool reserve(struct places *places, uint32_t nr)
{
	uint32_t more = nr_pages(nr) / GROW_BY * GROW_BY + GROW_BY;

	/* A limit of addresses (RLIMIT_AS) is no reason to fail. */
	for (;; more = more / 2 / GROW_BY * GROW_BY) {
		places->nr_reserved = nr + more;
		places->place = os_reserve(size_of(nr + more));
		if (places->place || !more)
			return places->place;
	}
}

int places_init(struct places *places, uint32_t nr)
{
	uint32_t more = 3 * nr;

	if (more < MORE_MIN)
		more = MORE_MIN;
	if (more > MORE_MAX)
		more = MORE_MAX;
	places->max_nodes = nr + more;
	/* Whole pages of memory, whatever their size. */
	places->nr = (nr + more + GROW_BY - 1) / GROW_BY * GROW_BY;
	places->nr_used = places->next = 1; /* 0 is nobody */
	if (!reserve(places, places->nr))
		return -ENOMEM;
	if (os_commit(places->place, size_of(places->nr))) {
		places_destroy(places);
		return -ENOMEM;
	}
	return 0;
}

void places_destroy(struct places *places)
{
	os_unmap(places->place, size_of(places->nr_reserved));
}

/* False: no memory, or no addresses. */
static cold bool grow(struct places *places)
{
	if (places->nr + GROW_BY > places->nr_reserved ||
	    os_commit(places_node(places, places->nr), size_of(GROW_BY)))
		return false;
	places->nr += GROW_BY;
	return true;
}

static struct node *take_fresh(struct places *places)
{
	struct node *node;

	if (unlikely(places->next >= places->nr) && !grow(places))
		return NULL;
	node = places_node(places, places->next);
	node->index = places->next++;
	if (places->next > places->nr_used) {
		/* relaxed: an id that was returned is less; see cancel.c. */
		store_relaxed(&places->nr_used, places->next);
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

static inline struct node *take(struct places *places)
{
	struct node *node;

	if (!places->free)
		collect(places);
	node = places->free;
	if (likely(node))
		places->free = node->next;
	else
		node = take_fresh(places);
	return node;
}

struct node *places_take_page(struct places *places)
{
	return take(places);
}

struct node *places_take(struct places *places)
{
	struct node *node = take(places);

	/* A place whose lives are used up is nobody's: no number comes back. */
	while (unlikely(node && edges_life(&node->consumers) == LIFE_LAST))
		node = take(places);
	if (likely(node))
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
