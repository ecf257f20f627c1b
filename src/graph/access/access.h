/* SPDX-License-Identifier: MIT */
/*
 * access.h - who reads and writes what: from ranges of memory to nodes.
 *
 * For each range that was named there is an entry: who wrote it last, and who has
 * read it since.  A node that reads waits for the last writer of all that overlaps;
 * one that writes, also for the readers.  What it covers is forgotten then, since
 * who comes later waits for it; what it only overlaps stays.
 *
 * Who reads needs the writer: if that one fails there is nothing to read.  Who only
 * writes comes after the writer and the readers, however they end.
 *
 * A node is looked up as a whole before any of it is noted, so it never finds itself,
 * in whatever way its own accesses overlap.
 *
 * Entries whose nodes are all over are forgotten: whenever somebody comes across
 * them, and all of them before there is more memory for others.  So there is memory
 * for about twice as many entries as there are with nodes that are not over.
 *
 * Its edges: an entry that was written over in part counts as a whole.  So who reads
 * what was written over waits for the old writer, too, and needs it; if that one has
 * failed, it is skipped for nothing.  And who overlaps many looks at each of them.
 *
 * Rejected: to cut entries where they overlap, so that each byte is in one only.  A
 * node then finds fewer that are there for other bytes of the same range, but each
 * cut copies the readers, and a program that names rows and columns cuts everything
 * to pieces.
 *
 * One thread at a time (the graph's lock).
 */
#ifndef SLEY_GRAPH_ACCESS_ACCESS_H
#define SLEY_GRAPH_ACCESS_ACCESS_H

#include "graph/access/node_list.h"
#include "graph/access/ranges.h"

struct access_map {
	struct mem *mem;
	/* May be forgotten: nobody needs to wait for it any more. */
	bool (*is_over)(void *arg, sley_node node);
	void *arg;
	struct ranges ranges;
	/* Of the node that is looked up; the latter two are numbers of ranges. */
	struct node_list order;   /* who only comes first               */
	struct node_list own;     /* of each access, or 0; nr is 0      */
	struct node_list covered; /* by what it writes                  */
	uint8_t stamp;
};

/* All of @map is zero but for is_over and arg. */
void access_map_init(struct access_map *map, struct mem *mem);
void access_map_destroy(struct access_map *map);

/*
 * Who a node with these accesses needs is appended to @found; and there is memory
 * for access_note().  0 or -ENOMEM.
 */
must_check int access_find(struct access_map *map,
			   const struct sley_access *access, uint32_t nr,
			   struct node_list *found);

/* Later: who only comes before it is appended to @found, too.  0 or -ENOMEM. */
must_check int access_find_order(struct access_map *map,
				 struct node_list *found);

/* Right after access_find(), with the same: @node is who comes after those. */
void access_note(struct access_map *map, const struct sley_access *access,
		 uint32_t nr, sley_node node);

/* @rename says which node stands for the writer of a range from here on. */
void access_rename(struct access_map *map,
		   sley_node (*rename)(void *arg, sley_node writer), void *arg);

/* Nobody has read or written anything. */
void access_forget(struct access_map *map);

#endif
