/* SPDX-License-Identifier: MIT */
/*
 * access.c - see access.h.
 */
#include "graph/access.h"

void access_map_init(struct access_map *map, struct mem *mem)
{
	map->mem = mem;
}

void access_map_destroy(struct access_map *map)
{
	(void)map;
}

int access_find(struct access_map *map, const struct sley_access *access,
		uint32_t nr, struct node_list *found)
{
	(void)access;
	(void)nr;
	return node_list_reserve(found, map->mem, 0);
}

void access_note(struct access_map *map, const struct sley_access *access,
		 uint32_t nr, sley_node node)
{
	(void)map;
	(void)access;
	(void)nr;
	(void)node;
}

void access_forget(struct access_map *map)
{
	(void)map;
}
