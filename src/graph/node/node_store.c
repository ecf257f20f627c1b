/* SPDX-License-Identifier: MIT */
/*
 * node_store.c - see node_store.h.
 */
#include "graph/node/node_store.h"

#include "os/map.h"

#include <errno.h>

/* For nodes that do not wait for room: three times as many, between these bounds. */
#define MORE_MIN 1024u
#define MORE_MAX (1u << 20)

/* Behind these places: 4 GiB of addresses at most, made memory 1 MiB at a time. */
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

/* Reserves addresses for all pages, or for fewer; false: not even for @nr places. */
static bool reserve(struct node_store *store, uint32_t nr)
{
	uint32_t more = nr_pages(nr) / GROW_BY * GROW_BY + GROW_BY;

	/* A limit of addresses (RLIMIT_AS) is no reason to fail. */
	for (;; more = more / 2 / GROW_BY * GROW_BY) {
		store->nr_reserved = nr + more;
		store->place = os_reserve(size_of(nr + more));
		if (store->place || !more)
			return store->place;
	}
}

int node_store_init(struct node_store *store, uint32_t nr)
{
	uint32_t more = 3 * nr;

	if (more < MORE_MIN)
		more = MORE_MIN;
	if (more > MORE_MAX)
		more = MORE_MAX;
	store->max_nodes = nr + more;
	/* Whole pages of memory, whatever their size. */
	store->nr = (nr + more + GROW_BY - 1) / GROW_BY * GROW_BY;
	store->nr_used = store->next = 1; /* 0 is not used */
	if (!reserve(store, store->nr))
		return -ENOMEM;
	if (os_commit(store->place, size_of(store->nr))) {
		node_store_destroy(store);
		return -ENOMEM;
	}
	return 0;
}

void node_store_destroy(struct node_store *store)
{
	os_unmap(store->place, size_of(store->nr_reserved));
}

/* False: no memory, or no addresses. */
static cold bool grow(struct node_store *store)
{
	if (store->nr + GROW_BY > store->nr_reserved ||
	    os_commit(node_store_node(store, store->nr), size_of(GROW_BY)))
		return false;
	store->nr += GROW_BY;
	return true;
}

static struct node *take_fresh(struct node_store *store)
{
	struct node *node;

	if (unlikely(store->next >= store->nr) && !grow(store))
		return NULL;
	node = node_store_node(store, store->next);
	node->index = store->next++;
	if (store->next > store->nr_used) {
		/* relaxed: an id that was returned is less; see cancel.c. */
		store_relaxed(&store->nr_used, store->next);
		edges_bury(&node->successors); /* lives begin with 1 */
	}
	return node;
}

/* The free list is empty: takes all places that were given back. */
static noinline void collect(struct node_store *store)
{
	uint64_t word;

	/* relaxed: only a look, which leaves the cache line with its owner. */
	if (!load_relaxed(&store->given))
		return;
	word = xchg_acquire(&store->given, 0); /* NS1 */
	store->free = node_store_node(store, (uint32_t)word);
	store->nr_taken -= (uint32_t)(word >> 32);
}

static inline struct node *take(struct node_store *store)
{
	struct node *node;

	if (!store->free)
		collect(store);
	node = store->free;
	if (likely(node))
		store->free = node->next;
	else
		node = take_fresh(store);
	return node;
}

struct node *node_store_take_page(struct node_store *store)
{
	return take(store);
}

struct node *node_store_take(struct node_store *store)
{
	struct node *node = take(store);

	/* A place whose lives are used up is dropped: no number is used twice. */
	while (unlikely(node && edges_life(&node->successors) == LIFE_LAST))
		node = take(store);
	if (likely(node))
		store->nr_taken++;
	return node;
}

void node_store_give(struct node_store *store, struct node *first,
		     struct node *last, uint32_t nr)
{
	/* relaxed: a guess, checked by the swap and never followed. */
	uint64_t word = load_relaxed(&store->given), more;

	do {
		uint32_t newest = (uint32_t)word;

		last->next = newest ? node_store_node(store, newest) : NULL;
		more = ((word >> 32) + nr) << 32 | first->index;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_release(&store->given, &word, more)); /* NS1 */
}

uint32_t node_store_nr_taken(const struct node_store *store)
{
	uint64_t word = load_acquire(&store->given); /* NS1 */

	return store->nr_taken - (uint32_t)(word >> 32);
}

void node_store_tidy(struct node_store *store)
{
	if (node_store_nr_taken(store))
		return;
	/* relaxed: no thread is left that could give anything back. */
	store_relaxed(&store->given, 0);
	store->nr_taken = 0;
	store->free = NULL;
	store->next = 1;
}
