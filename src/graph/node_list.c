/* SPDX-License-Identifier: MIT */
/*
 * node_list.c - see node_list.h.
 */
#include "graph/node_list.h"

#include <errno.h>
#include <string.h>

#define NODE_LIST_MIN 64

int node_list_grow(struct node_list *list, struct mem *mem, uint32_t nr)
{
	uint64_t need = (uint64_t)list->nr + nr;
	uint64_t max = list->max ? list->max : NODE_LIST_MIN;
	sley_node *node;

	while (max < need)
		max *= 2;
	if (max > UINT32_MAX)
		return -ENOMEM;
	node = mem_alloc(mem, max * sizeof(*node));
	if (!node)
		return -ENOMEM;
	if (list->nr)
		memcpy(node, list->node, list->nr * sizeof(*node));
	mem_free(mem, list->node, list->max * sizeof(*node));
	list->node = node;
	list->max = (uint32_t)max;
	return 0;
}

void node_list_destroy(struct node_list *list, struct mem *mem)
{
	mem_free(mem, list->node, list->max * sizeof(*list->node));
}
