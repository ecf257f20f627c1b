/* SPDX-License-Identifier: MIT */
/*
 * access.h - who reads and writes what: from ranges of memory to nodes.
 *
 * For each range that was named there is an entry: who wrote it last, and who has
 * read it since.  A node that reads waits for the last writer of all that overlaps;
 * one that writes, also for the readers.  What it covers is forgotten then, since
 * who comes later waits for it; what it only overlaps stays.
 *
 * One thread at a time (the graph's lock).
 */
#ifndef SLEY_GRAPH_ACCESS_H
#define SLEY_GRAPH_ACCESS_H

#include "graph/node_list.h"

struct access_map {
	struct mem *mem;
	/* May be forgotten: nobody needs to wait for it any more. */
	bool (*is_over)(void *arg, sley_node node);
	void *arg;
};

/* All of @map is zero but for is_over and arg. */
void access_map_init(struct access_map *map, struct mem *mem);
void access_map_destroy(struct access_map *map);

/*
 * Who a node with these accesses waits for is appended to @found; and there is
 * memory for access_note().  0 or -ENOMEM.
 */
must_check int access_find(struct access_map *map,
			   const struct sley_access *access, uint32_t nr,
			   struct node_list *found);

/* Right after access_find(), with the same: @node is who comes after those. */
void access_note(struct access_map *map, const struct sley_access *access,
		 uint32_t nr, sley_node node);

/* Nobody has read or written anything. */
void access_forget(struct access_map *map);

#endif
