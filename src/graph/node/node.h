/* SPDX-License-Identifier: MIT */
/*
 * node.h - a node of a graph, and when it starts.
 *
 * A node is a task in turns (core/task/turn.h) of one turn.  The last predecessor to
 * end queues the node.  Each node has an edge list of its successors, and each
 * successor counts its missing predecessors.  During submission the count has a large
 * extra term, the guard, so that the node cannot start before its last edge is added:
 *
 *      submit:  nr_missing = NODE_GUARD;  add the edges, n of them;
 *               nr_missing -= NODE_GUARD - n;   it is 0: queue the node
 *      end:     close the list;  for each edge:  nr_missing -= 1;   0: queue
 *
 * Nothing else decides when a node starts.  A node that is cancelled, or has a
 * failed predecessor (its cause), still waits for its other predecessors; in its
 * turn the function is not called.  So every node has one order of events, and
 * cannot end twice.
 *
 * A node that has succeeded is gone: another node may take the place, in the next
 * life of the edge list.  Nodes that have failed or were skipped stay until a waiter
 * has waited for their scope.
 *
 * A place is 256 bytes, 32 cells of 8.  Each cell can be an edge, so that the number
 * of an edge is made of the numbers of its place and its cell.  A node has
 * NODE_EDGES edges.  A node with more predecessors takes other places as pages of
 * PAGE_EDGES each.  A page keeps the edge list of its place, so that the count of
 * lives goes on.
 *
 * Edges:
 *
 *  MI1  see graph/node/missing.h
 */
#ifndef SLEY_GRAPH_NODE_NODE_H
#define SLEY_GRAPH_NODE_NODE_H

#include "base/compiler.h"
#include "graph/node/failure.h"
#include "graph/node/missing.h"
#include "lf/edge_list.h"

#include <sley/graph.h>

#define NODE_CELLS 32
#define NODE_EDGES 7
#define NODE_FIRST_EDGE 17 /* the cell of the first edge */
#define NODE_GUARD (1u << 30)

struct node {
	struct sley_task task; /* arg: the user's; fiber: home, see submit.c */
	struct edge_list successors;
	uint32_t index;
	uint32_t pages; /* the first page, or 0 */
	sley_node_fn *fn;
	struct sley_graph_scope *scope;
	uint32_t nr_missing;
	uint32_t stamp; /* of the last pass that visited the node: pass.h   */
	union {
		struct failure failure;
		struct {
			uint32_t shared[2]; /* not touched: code and cause   */
			/* In place of the outcome until the end: watch.h. */
			uint32_t nr_edges;
		};
	};
	uint32_t cause_life; /* of the cause of the failure                 */
	struct node *next;   /* in a chain of free, failed or ready nodes */
	struct placement
		*placement; /* NULL: any worker                          */
	struct edge edge[NODE_EDGES];
	unsigned char arg[SLEY_NODE_ARG_MAX];
};

#define PAGE_EDGES 22

/* A place that is a page. */
struct page {
	struct sley_task task; /* not used                          */
	struct edge_list successors;
	uint64_t next; /* the index of the next page, or 0          */
	struct edge rest[PAGE_EDGES];
};

_Static_assert(sizeof(struct node) == NODE_CELLS * sizeof(struct edge), "");
_Static_assert(sizeof(struct page) == sizeof(struct node), "");
_Static_assert(offsetof(struct node, edge) ==
		       NODE_FIRST_EDGE * sizeof(struct edge),
	       "");
_Static_assert(offsetof(struct node, successors) ==
		       offsetof(struct page, successors),
	       "a page keeps the life of its place");
_Static_assert(offsetof(struct node, nr_edges) ==
		       offsetof(struct node, failure.outcome),
	       "predecessors may write the code and the cause meanwhile");

static inline struct node *node_of(struct sley_task *task)
{
	return (struct node *)(void *)task;
}

static inline sley_node node_id(uint32_t index, uint32_t life)
{
	return (sley_node)life << 32 | index;
}

/* The id of the life that @node has now. */
static inline sley_node node_id_of(const struct node *node)
{
	return node_id(node->index, edges_life(&node->successors));
}

static inline uint32_t node_index_of(sley_node id)
{
	return (uint32_t)id;
}

static inline uint32_t node_life_of(sley_node id)
{
	return (uint32_t)(id >> 32);
}

/* Marks an edge that does not pass a failure on: a flag in edge->to. */
#define EDGE_ORDER_ONLY (1u << 31)

/* By a predecessor that has ended.  True: @node may start. */
static inline bool node_count_off(struct node *node)
{
	return missing_count_off(&node->nr_missing);
}

/* By the submitter, when @node has @nr edges.  True: @node may start. */
static inline bool node_guard_off(struct node *node, uint32_t nr)
{
	uint32_t off = NODE_GUARD - nr;

	return sub_acq_rel(&node->nr_missing, off) == off; /* MI1 */
}

/* By the failed predecessor @from, before it counts itself off. */
static inline void node_poison(struct node *node, const struct node *from)
{
	if (failure_pass_on(&node->failure, &from->failure, from->index))
		node->cause_life = edges_life(&from->successors);
}

#endif
