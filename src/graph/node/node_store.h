/* SPDX-License-Identifier: MIT */
/*
 * node_store.h - where the nodes of a graph are, by their numbers.
 *
 * An array at one address, which costs no memory until a place is taken for the first
 * time: a number leads to its place by a shift.  Number 0 is nobody.
 *
 * Only nodes are counted, not the pages of their edges (node.h): a graph is full when it
 * has so many nodes, however many edges these have.  The array begins with places for
 * the graph's limit and for nodes that come in spite of it (submit.c).  Behind it
 * addresses are reserved, and become memory when places run out: for pages, and for
 * nodes that have failed.
 *
 * Places are taken by who submits, one at a time (the graph's lock).  They are given
 * back by the workers that end nodes, in chains: that is a push list of its own,
 * whose word has the number of the newest place, and how many there are.  So who
 * takes gets all of them at once, and who wants to know how many are free looks at
 * nothing else: a walk along them, which are in other caches, took a quarter of the
 * time of a graph of empty nodes.
 *
 * Edges:
 *
 *   G1  places are given back -> they are taken, or seen to be free : who was there
 *       is gone
 *
 * Rejected: blocks that come when they are needed (877 instead of 783 instructions for
 * a node with two edges, submitted and run).
 */
#ifndef SLEY_GRAPH_NODE_NODE_STORE_H
#define SLEY_GRAPH_NODE_NODE_STORE_H

#include "graph/node/node.h"

/* The life in which a place is taken no more: the next one would be the first again. */
#define LIFE_LAST UINT32_MAX

/* Workers look at the first line for each edge: who submits writes to the next. */
struct node_store {
	struct node *place;
	uint32_t nr_reserved; /* constant                                     */
	uint32_t max_nodes;   /* nodes at once, if none waits; constant       */
	cache_aligned struct node *free; /* (lock)                            */
	uint32_t nr;       /* there are (lock)                                */
	uint32_t nr_used;  /* that were ever taken, and so have a life (lock) */
	uint32_t next;     /* from here on all are free (lock)                */
	uint32_t nr_taken; /* nodes, not yet free though given back (lock)    */
	/* Back, by anybody: nodes << 32 | newest. */
	cache_aligned uint64_t given;
};

/* @nr places and some more: 0 or -ENOMEM. */
must_check int node_store_init(struct node_store *store, uint32_t nr);
void node_store_destroy(struct node_store *store);

/* Any thread that knows it is, or was, a node. */
static inline struct node *node_store_node(const struct node_store *store,
					   uint32_t index)
{
	return &store->place[index];
}

/* The edge with that number. */
static inline struct edge *node_store_edge(const struct node_store *store,
					   uint32_t id)
{
	return (struct edge *)(void *)store->place + id;
}

static inline uint32_t node_store_edge_id(const struct node_store *store,
					  const struct edge *edge)
{
	return (uint32_t)(edge - (struct edge *)(void *)store->place);
}

/* One that is free, in no life, for a node.  NULL: no memory.  (lock) */
must_check struct node *node_store_take(struct node_store *store);

/* The same for what is no node, and is not counted.  (lock) */
must_check struct node *node_store_take_page(struct node_store *store);

/*
 * A chain linked by next, from @first to @last, with @nr nodes and any number of
 * pages; those of a node are given back before it or with it.  Any thread.
 */
void node_store_give(struct node_store *store, struct node *first,
		     struct node *last, uint32_t nr);

/* How many nodes were taken and not given back.  (lock) */
uint32_t node_store_nr_taken(const struct node_store *store);

/*
 * If all are free they are taken in their order again, as neighbours in memory: a
 * wavefront of 65,536 nodes took 108 instead of 155 ns of CPU time for each.  (lock)
 */
void node_store_tidy(struct node_store *store);

#endif
