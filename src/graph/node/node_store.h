/* SPDX-License-Identifier: MIT */
/*
 * node_store.h - where the nodes of a graph are, by their numbers.
 *
 * The store is an array at one address.  It costs no memory until a place is taken
 * for the first time, and a shift leads from a number to its place.  Number 0 is not
 * used.
 *
 * Only nodes are counted, not the pages of their edges (node.h): the limit of a
 * graph is a number of nodes, however many edges these have.  The array begins with
 * places for the graph's limit and for nodes that come in spite of it (submit.c).
 * Behind these, addresses are reserved.  They become memory when places run out: for
 * pages, and for nodes that have failed.
 *
 * The submitter takes places, one at a time (the graph's lock).  Workers that end
 * nodes give places back, in chains.  These go to a push list, whose word has the
 * number of the newest place and the number of nodes.  So the submitter gets all
 * places at once, and a count of the free nodes needs no other memory: a walk along
 * the places, which are in other caches, took a quarter of the time of a graph of
 * empty nodes.
 *
 * Edges:
 *
 *   NS1  places are given back -> they are taken, or seen to be free : the nodes that
 *       were there are gone
 *
 * Rejected: blocks that are allocated when needed (877 instead of 783 instructions
 * for a node with two edges, submitted and run).
 */
#ifndef SLEY_GRAPH_NODE_NODE_STORE_H
#define SLEY_GRAPH_NODE_NODE_STORE_H

#include "graph/node/node.h"

/* The last life of a place: the next would be the first again. */
#define LIFE_LAST UINT32_MAX

/* Workers read the first cache line for each edge, submitters write to the next. */
struct node_store {
	struct node *place;
	uint32_t nr_reserved; /* constant                                     */
	uint32_t max_nodes;   /* nodes at once, past the limit too; constant  */
	cache_aligned struct node *free; /* (lock)                            */
	uint32_t nr;      /* places with memory (lock)                       */
	uint32_t nr_used; /* places that were ever taken, so have a life (lock) */
	uint32_t next;    /* the first place that was not taken (lock)       */
	uint32_t nr_taken; /* nodes, also if in given (lock)                  */
	/* Given back, by any thread: nodes << 32 | newest. */
	cache_aligned uint64_t given;
};

/* @nr places and some more: 0 or -ENOMEM. */
must_check int node_store_init(struct node_store *store, uint32_t nr);
void node_store_destroy(struct node_store *store);

/* Any thread that knows that @index is, or was, a node. */
static inline struct node *node_store_node(const struct node_store *store,
					   uint32_t index)
{
	return &store->place[index];
}

/* The edge with the number @id. */
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

/* A free place for a node, between two lives.  NULL: no memory.  (lock) */
must_check struct node *node_store_take(struct node_store *store);

/* The same for a place that is not a node, and is not counted.  (lock) */
must_check struct node *node_store_take_page(struct node_store *store);

/*
 * Gives back a chain linked by next, from @first to @last, with @nr nodes and any
 * number of pages.  A node's pages come before the node or with it.  Any thread.
 */
void node_store_give(struct node_store *store, struct node *first,
		     struct node *last, uint32_t nr);

/* How many nodes were taken and not given back.  (lock) */
uint32_t node_store_nr_taken(const struct node_store *store);

/*
 * If all places are free, they are taken in their order again, as neighbours in
 * memory.  A wavefront of 65,536 nodes took 108 instead of 155 ns of CPU time for
 * each node.  (lock)
 */
void node_store_tidy(struct node_store *store);

#endif
