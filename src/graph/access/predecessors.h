/* SPDX-License-Identifier: MIT */
/*
 * predecessors.h - the nodes that a new node comes after, as they were found.
 *
 * The nodes whose success the new node needs come first, then the nodes that must
 * only end before it.  A node may be in the list several times, in both parts, or be
 * gone by now: the caller that adds the edges looks.
 *
 * The list belongs to the call that submits or records the new node, under the lock
 * of the graph.  This call passes the list to every function that needs it, and no
 * function takes it from the graph or the plan.  The graph and the plan only keep the
 * list, so that its memory serves the next call.
 */
#ifndef SLEY_GRAPH_ACCESS_PREDECESSORS_H
#define SLEY_GRAPH_ACCESS_PREDECESSORS_H

#include "graph/access/node_list.h"

struct predecessors {
	struct node_list list;
	uint32_t nr_needed; /* the first of the list; the others are order-only */
};

/* Nodes that are added to the list from here on are needed. */
static inline void predecessors_begin(struct predecessors *found)
{
	found->list.nr = 0;
}

/* Nodes that are added to the list from here on are order-only. */
static inline void predecessors_begin_order(struct predecessors *found)
{
	found->nr_needed = found->list.nr;
}

static inline void predecessors_destroy(struct predecessors *found,
					struct mem *mem)
{
	node_list_destroy(&found->list, mem);
}

#endif
