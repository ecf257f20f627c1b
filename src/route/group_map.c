/* SPDX-License-Identifier: MIT */
/*
 * group_map.c - see group_map.h.
 */
#include "route/group_map.h"

#include "base/assert.h"
#include "base/hash.h"

#define GROUP_SLOTS (1u << GROUP_SLOT_BITS)

void group_map_init(struct group_map *map)
{
	*map = (struct group_map){ .slot = NULL };
}

void group_map_fini(struct group_map *map, struct mem *mem)
{
	mem_free(mem, map->slot, GROUP_SLOTS * sizeof(*map->slot));
	map->slot = NULL;
}

static struct group_slot *slot_at(const struct group_map *map, uint64_t group,
				  unsigned int probe)
{
	size_t first = hash_slot(hash_word(group), GROUP_SLOT_BITS);

	return &map->slot[(first + probe) % GROUP_SLOTS];
}

/* The slot of @group; or else *@free is a slot that it may have, or NULL. */
static struct group_slot *find(const struct group_map *map, uint64_t group,
			       struct group_slot **free)
{
	*free = NULL;
	for (unsigned int i = 0; i < GROUP_PROBES; i++) {
		struct group_slot *slot = slot_at(map, group, i);

		if (slot->count && slot->group == group)
			return slot;
		if (!slot->count && !*free)
			*free = slot;
	}
	return NULL;
}

/* Without the lock: memory for the slots, if no other thread was faster. */
static bool has_slots(struct group_map *map, struct mem *mem)
{
	size_t size = GROUP_SLOTS * sizeof(*map->slot);
	struct group_slot *slots;

	spin_lock(&map->lock);
	slots = map->slot;
	spin_unlock(&map->lock);
	if (likely(slots))
		return true;
	slots = mem_alloc(mem, size);
	if (!slots)
		return false;
	spin_lock(&map->lock);
	if (!map->slot) {
		map->slot = slots;
		slots = NULL;
	}
	spin_unlock(&map->lock);
	mem_free(mem, slots, size);
	return true;
}

bool group_map_enter(struct group_map *map, struct mem *mem, uint64_t group,
		     uint32_t *worker)
{
	struct group_slot *slot, *free;

	if (!has_slots(map, mem))
		return false;
	spin_lock(&map->lock);
	slot = find(map, group, &free);
	if (slot) {
		slot->count++;
		*worker = slot->worker;
	} else if (free) {
		*free = (struct group_slot){ group, *worker, 1 };
		slot = free;
	}
	spin_unlock(&map->lock);
	return slot;
}

bool group_map_find(struct group_map *map, uint64_t group, uint32_t *worker)
{
	struct group_slot *slot = NULL, *free;

	spin_lock(&map->lock);
	if (map->slot)
		slot = find(map, group, &free);
	if (slot)
		*worker = slot->worker;
	spin_unlock(&map->lock);
	return slot;
}

void group_map_leave(struct group_map *map, uint64_t group)
{
	struct group_slot *slot, *free;

	spin_lock(&map->lock);
	slot = find(map, group, &free);
	sley_assert(slot);
	slot->count--;
	spin_unlock(&map->lock);
}

uint32_t group_map_count(struct group_map *map)
{
	uint32_t nr = 0;

	spin_lock(&map->lock);
	for (uint32_t i = 0; map->slot && i < GROUP_SLOTS; i++)
		nr += map->slot[i].count > 0;
	spin_unlock(&map->lock);
	return nr;
}
