/* SPDX-License-Identifier: MIT */
/*
 * access.h - from ranges of memory to the nodes that read and write them.
 *
 * Each range that was named has an entry: its last writer, and the readers since
 * then.  A node that reads a range waits for the last writer of each overlapping
 * entry.  A node that writes a range waits for the readers as well.  Entries that
 * the written range covers are forgotten then, since later nodes wait for the new
 * writer.  Entries that only overlap stay.
 *
 * A reader needs the success of the writer: if the writer fails there is nothing to
 * read.  A node that only writes comes after the writer and the readers, however
 * they end.
 *
 * All accesses of a node are looked up before any is noted.  So a node never finds
 * itself, even if its own accesses overlap.
 *
 * Entries whose nodes are all over are forgotten: by any look-up that comes across
 * them, and all of them before more memory is allocated.  So there is memory for
 * about twice as many entries as have nodes that are not over.
 *
 * Limits: an entry that was overwritten in part counts as a whole.  So a reader of
 * the overwritten part also waits for the old writer, and needs its success: if the
 * old writer has failed, the reader is skipped without need.  And a range that
 * overlaps many entries costs a look at each.
 *
 * Rejected: to cut entries where they overlap, so that each byte is in only one
 * entry.  A node then finds fewer entries that are there for other bytes of the same
 * range.  But each cut copies the readers, and a program that names rows and columns
 * cuts everything to pieces.
 *
 * One thread at a time (the graph's lock).
 */
#ifndef SLEY_GRAPH_ACCESS_ACCESS_H
#define SLEY_GRAPH_ACCESS_ACCESS_H

#include "graph/access/node_list.h"
#include "graph/access/ranges.h"

struct access_map {
	struct mem *mem;
	/* May be forgotten: no node needs to wait for @node any more. */
	bool (*is_over)(void *arg, sley_node node);
	void *arg;
	struct ranges ranges;
	/* For the node that is looked up; own and covered have numbers of ranges. */
	struct node_list order;   /* predecessors that only come first  */
	struct node_list own;     /* entry of each access, or 0; nr is 0 */
	struct node_list covered; /* entries covered by its writes      */
	uint8_t stamp;
};

/* All of @map is zero but for is_over and arg. */
void access_map_init(struct access_map *map, struct mem *mem);
void access_map_destroy(struct access_map *map);

/*
 * Appends the nodes whose success a node with these accesses needs to @found, and
 * reserves memory for access_note().  0 or -ENOMEM.
 */
must_check int access_find(struct access_map *map,
			   const struct sley_access *access, uint32_t nr,
			   struct node_list *found);

/* After that: appends the order-only predecessors to @found.  0 or -ENOMEM. */
must_check int access_find_order(struct access_map *map,
				 struct node_list *found);

/* Right after the look-up, with the same accesses: notes @node as their user. */
void access_note(struct access_map *map, const struct sley_access *access,
		 uint32_t nr, sley_node node);

/* Asks @rename for each writer which node stands for it from here on. */
void access_rename(struct access_map *map,
		   sley_node (*rename)(void *arg, sley_node writer), void *arg);

/* Forgets all readers and writers. */
void access_forget(struct access_map *map);

#endif
