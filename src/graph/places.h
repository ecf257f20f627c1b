/* SPDX-License-Identifier: MIT */
/*
 * places.h - where the nodes of a graph are, by their numbers.
 *
 * Blocks of places, each twice as large as the one before: a number leads to its
 * place by a shift.  Blocks stay until the graph is destroyed.  Number 0 is nobody.
 *
 * Places are taken by who submits, one at a time (the graph's lock).  They are given
 * back by the workers that end nodes, in chains: that is a push list of its own.
 *
 * Edges:
 *
 *   G1  places are given back -> they are taken : who was there is gone
 */
#ifndef SLEY_GRAPH_PLACES_H
#define SLEY_GRAPH_PLACES_H

#include "base/bits.h"
#include "graph/node.h"
#include "mem/alloc.h"

#define PLACES_FIRST_SHIFT 6 /* places in the first block */
#define PLACES_BLOCKS 20

struct places {
	struct node *block[PLACES_BLOCKS];
	struct mem *mem;
	struct node *free; /* (lock)                                          */
	uint32_t nr_used;  /* that were ever taken, and so have a life (lock) */
	uint32_t nr;       /* in all blocks (lock)                            */
	uint32_t nr_taken; /* and not seen to be given back (lock)            */
	cache_aligned struct node *given; /* back, by anybody */
};

void places_init(struct places *places, struct mem *mem);
void places_destroy(struct places *places);

/* Any thread that knows it is, or was, a node. */
static inline struct node *places_node(const struct places *places,
				       uint32_t index)
{
	uint32_t i = index + (1u << PLACES_FIRST_SHIFT);
	unsigned int block = (unsigned int)bits_last(i) - PLACES_FIRST_SHIFT;

	return places->block[block] +
	       (i - (1u << (block + PLACES_FIRST_SHIFT)));
}

/* The edge with that number. */
static inline struct edge *places_edge(const struct places *places, uint32_t id)
{
	struct node *node = places_node(places, id / NODE_CELLS);

	return (struct edge *)(void *)node + id % NODE_CELLS;
}

/* One that is free, in no life.  NULL: no memory.  (lock) */
must_check struct node *places_take(struct places *places);

/* A chain, linked by next, from @first to @last.  Any thread. */
void places_give(struct places *places, struct node *first, struct node *last);

/* What others have given back is free.  (lock) */
void places_collect(struct places *places);

#endif
