/* SPDX-License-Identifier: MIT */
/*
 * node_list.h - a list of nodes, perhaps with duplicates, or nodes that are gone.
 */
#ifndef SLEY_GRAPH_ACCESS_NODE_LIST_H
#define SLEY_GRAPH_ACCESS_NODE_LIST_H

#include "base/compiler.h"
#include "mem/alloc.h"

#include <sley/graph.h>

struct node_list {
	sley_node *node;
	uint32_t nr;
	uint32_t max;
};

must_check int node_list_grow(struct node_list *list, struct mem *mem,
			      uint32_t nr);
void node_list_destroy(struct node_list *list, struct mem *mem);

/* Makes room for @nr more: 0 or -ENOMEM. */
must_check static inline int node_list_reserve(struct node_list *list,
					       struct mem *mem, uint32_t nr)
{
	if (likely(list->max - list->nr >= nr))
		return 0;
	return node_list_grow(list, mem, nr);
}

/* There must be room. */
static inline void node_list_add(struct node_list *list, sley_node node)
{
	list->node[list->nr++] = node;
}

#endif
