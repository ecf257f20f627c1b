/* SPDX-License-Identifier: MIT */
/*
 * node.h - a node of a graph, and when it starts.
 *
 * A node is a task in turns (core/task/turn.h) of one turn.  It is queued by the last
 * one it waits for: the consumers of a node are in its edge list, and each of them
 * counts who is missing.  While a node is being submitted it counts one more, a
 * big one, so that it cannot start before its last edge is there:
 *
 *      submit:  nr_missing = NODE_GUARD;  add the edges, n of them;
 *               nr_missing -= NODE_GUARD - n;   it is 0: queue it
 *      end:     close the list;  for each edge:  nr_missing -= 1;   0: queue it
 *
 * Nobody else decides when it starts.  A node that is cancelled, or follows one that
 * has failed (its cause), waits for the others all the same; when its turn comes
 * its function is not called.  So there is one order of events for each node,
 * whatever happens to it, and no way to end it twice.
 *
 * A node that has ended well is gone: its place may be taken by another one, in the
 * next life of its edge list.  Those that have failed or were skipped stay until
 * somebody has waited for their scope.
 *
 * A place is 256 bytes, 32 cells of 8.  Each cell can be an edge, so that the number
 * of an edge is that of its place and its cell.  A node has NODE_EDGES of them.  If
 * it waits for more it takes other places as pages, of PAGE_EDGES each; these keep
 * the edge list, whose life goes on.
 *
 * Edges:
 *
 *   F1  see graph/node/missing.h
 */
#ifndef SLEY_GRAPH_NODE_NODE_H
#define SLEY_GRAPH_NODE_NODE_H

#include "base/compiler.h"
#include "graph/node/missing.h"
#include "lf/edge_list.h"

#include <sley/graph.h>

#define NODE_CELLS 32
#define NODE_EDGES 7
#define NODE_FIRST_EDGE 17 /* its cell */
#define NODE_GUARD (1u << 30)

struct node {
	struct sley_task
		task; /* its arg is the user's; fiber: home, see submit.c */
	struct edge_list consumers;
	uint32_t index;
	uint32_t pages; /* the first one, or 0 */
	sley_node_fn *fn;
	struct sley_graph_scope *scope;
	uint32_t nr_missing;
	uint32_t stamp; /* of who has seen it already: wire.c, deadlock.c     */
	int32_t code;   /* what it returned, or that of its cause           */
	uint32_t cause; /* the node that took it along, or 0                */
	union {
		uint32_t outcome;  /* enum sley_outcome, from its end on     */
		uint32_t nr_edges; /* before, if it is watched (watch.h)     */
	};
	uint32_t cause_life;
	struct node *next; /* of those that are free, have failed, or may start */
	struct placement
		*placement; /* NULL: any worker                          */
	struct edge edge[NODE_EDGES];
	unsigned char arg[SLEY_NODE_ARG_MAX];
};

#define PAGE_EDGES 22

/* A place that is a page. */
struct page {
	struct sley_task task; /* not used                          */
	struct edge_list consumers;
	uint64_t next; /* the index of the next page, or 0          */
	struct edge rest[PAGE_EDGES];
};

_Static_assert(sizeof(struct node) == NODE_CELLS * sizeof(struct edge), "");
_Static_assert(sizeof(struct page) == sizeof(struct node), "");
_Static_assert(offsetof(struct node, edge) ==
		       NODE_FIRST_EDGE * sizeof(struct edge),
	       "");
_Static_assert(offsetof(struct node, consumers) ==
		       offsetof(struct page, consumers),
	       "a page keeps the life of its place");

static inline struct node *node_of(struct sley_task *task)
{
	return (struct node *)(void *)task;
}

static inline sley_node node_id(uint32_t index, uint32_t life)
{
	return (sley_node)life << 32 | index;
}

static inline uint32_t node_index_of(sley_node id)
{
	return (uint32_t)id;
}

static inline uint32_t node_life_of(sley_node id)
{
	return (uint32_t)(id >> 32);
}

/* An edge that runs anyway says so in who it leads to. */
#define EDGE_ORDER_ONLY (1u << 31)

/* By one that has ended.  True: it was the last one. */
static inline bool node_count_off(struct node *node)
{
	return missing_count_off(&node->nr_missing);
}

/* By who submitted it, when it has @nr edges.  True: nobody is missing. */
static inline bool node_guard_off(struct node *node, uint32_t nr)
{
	uint32_t off = NODE_GUARD - nr;

	return sub_acq_rel(&node->nr_missing, off) == off; /* F1 */
}

/* By one that has failed, before it counts itself off. */
static inline void node_take_along(struct node *node, const struct node *cause)
{
	if (!missing_blame(&node->cause, cause->index))
		return;
	node->cause_life = edges_life(&cause->consumers);
	node->code = cause->code;
}

#endif
