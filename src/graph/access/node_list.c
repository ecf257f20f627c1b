/* SPDX-License-Identifier: MIT */
/*
 * node_list.c - see node_list.h.
 */
#include "graph/access/node_list.h"

#include "mem/array.h"

#include <errno.h>

int node_list_grow(struct node_list *list, struct mem *mem, uint32_t nr)
{
	uint64_t need = (uint64_t)list->nr + nr;
	sley_node *node = list->node;

	node = array_reserve(mem, node, &list->max, list->nr, need,
			     sizeof(*node));
	if (!node)
		return -ENOMEM;
	list->node = node;
	return 0;
}

void node_list_destroy(struct node_list *list, struct mem *mem)
{
	mem_free(mem, list->node, list->max * sizeof(*list->node));
}
