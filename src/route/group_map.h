/* SPDX-License-Identifier: MIT */
/*
 * group_map.h - the worker of each group of requests, in one container.
 *
 * A group is in the map as long as requests of the group are in the container: each of
 * them is counted.  So the map does not grow with the number of groups that ever were,
 * and a group that was idle may go to another worker.
 *
 *   slot:  group, worker, count        GROUP_SLOTS of them; count 0 is free
 *
 * A group is in one of the GROUP_PROBES slots from its hash on.  If none of them is
 * free, the group is not kept: its requests go where the policy says, one by one.
 *
 * The slots are allocated when the first request with a group comes.  All of it is under
 * a spinlock that is held for some ten instructions; two requests that are the first of
 * their group find the same slot.
 *
 * Rejected: a table under a reader-writer lock that keeps groups for ever, as Chimaera
 * has it: it grows without a bound, and a hot group stays where it is for life.
 */
#ifndef SLEY_ROUTE_GROUP_MAP_H
#define SLEY_ROUTE_GROUP_MAP_H

#include "base/compiler.h"
#include "lf/spin.h"
#include "mem/alloc.h"

#include <stdbool.h>
#include <stdint.h>

#define GROUP_SLOT_BITS 8
#define GROUP_PROBES 8

struct group_slot {
	uint64_t group;
	uint32_t worker;
	uint32_t count; /* requests in the container */
};

struct group_map {
	struct spinlock lock;
	struct group_slot *slot; /* NULL: no group so far */
};

void group_map_init(struct group_map *map);
void group_map_fini(struct group_map *map, struct mem *mem);

/*
 * Counts a request of @group.  *@worker becomes the worker of the group, if there are
 * others; else the group gets *@worker.  False: there is no room, and the request was
 * not counted.
 */
must_check bool group_map_enter(struct group_map *map, struct mem *mem,
				uint64_t group, uint32_t *worker);

/* *@worker becomes the worker of @group; false: no request of the group is there. */
bool group_map_find(struct group_map *map, uint64_t group, uint32_t *worker);

/* A request that was counted is complete. */
void group_map_leave(struct group_map *map, uint64_t group);

/* How many groups the map has.  As slow as the map is long. */
must_check uint32_t group_map_count(struct group_map *map);

#endif
