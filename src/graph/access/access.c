/* SPDX-License-Identifier: MIT */
/*
 * access.c - see access.h.
 *
 * A look-up adds entries, empty: that is where memory may be missing.  If the node
 * is then not submitted, the entries are over, as any empty entry.
 */
#include "graph/access/access.h"

#include "graph/access/readers.h"

#include <errno.h>

void access_map_init(struct access_map *map, struct mem *mem)
{
	map->mem = mem;
	map->ranges.mem = mem;
}

void access_map_destroy(struct access_map *map)
{
	ranges_destroy(&map->ranges);
	node_list_destroy(&map->order, map->mem);
	node_list_destroy(&map->own, map->mem);
	node_list_destroy(&map->covered, map->mem);
}

void access_forget(struct access_map *map)
{
	ranges_forget(&map->ranges);
}

struct renaming {
	sley_node (*rename)(void *arg, sley_node writer);
	void *arg;
};

/* For ranges_sweep(): no range is over. */
static bool rename_writer(void *arg, struct range *range)
{
	const struct renaming *by = arg;

	if (range->writer)
		range->writer = by->rename(by->arg, range->writer);
	return false;
}

void access_rename(struct access_map *map,
		   sley_node (*rename)(void *arg, sley_node writer), void *arg)
{
	struct renaming by = { rename, arg };

	ranges_sweep(&map->ranges, rename_writer, &by);
}

/* ---- room -------------------------------------------------------------------- */

static bool range_is_over(void *arg, struct range *range)
{
	struct access_map *map = arg;

	if (range->writer && !map->is_over(map->arg, range->writer))
		return false;
	if (range->nr_readers)
		readers_prune(&map->ranges, range, map->is_over, map->arg);
	return !range->nr_readers;
}

/* If more than half of the memory is in use, takes more, so that sweeping pays. */
static cold int make_room(struct access_map *map, uint32_t nr)
{
	struct ranges *ranges = &map->ranges;
	uint32_t room;
	int err;

	ranges_sweep(ranges, range_is_over, map);
	room = ranges_room(ranges);
	if (room >= nr && room >= ranges->max / 2)
		return 0;
	err = ranges_grow(ranges, nr);
	return room >= nr ? 0 : err;
}

/* Each access needs at most one cell: for its entry, or for one more reader. */
static int reserve(struct access_map *map, uint32_t nr)
{
	map->covered.nr = 0;
	map->stamp++;
	if (unlikely(ranges_room(&map->ranges) < nr)) {
		int err = make_room(map, nr);

		if (err)
			return err;
	}
	return node_list_reserve(&map->own, map->mem, nr);
}

/* ---- look up ------------------------------------------------------------------- */

static struct extent extent_of(const struct sley_access *access)
{
	uint64_t at = (uintptr_t)access->at;
	uint64_t last = at + (access->size - 1);

	return (struct extent){ at, last < at ? UINT64_MAX : last };
}

static bool is_nothing(const struct sley_access *access)
{
	return access->mode == SLEY_ACCESS_NONE || !access->size;
}

static bool writes(enum sley_access_mode mode)
{
	return mode & SLEY_ACCESS_WRITE;
}

static bool covers(struct extent a, struct extent b)
{
	return a.at <= b.at && a.last >= b.last;
}

/* Collects the predecessors from @range: needed nodes, and order-only nodes. */
static inline int collect(struct access_map *map, const struct range *range,
			  enum sley_access_mode mode, struct node_list *found)
{
	if (range->writer) {
		struct node_list *to = mode & SLEY_ACCESS_READ ? found
							       : &map->order;

		if (unlikely(node_list_reserve(to, map->mem, 1)))
			return -ENOMEM;
		node_list_add(to, range->writer);
	}
	if (writes(mode) && range->nr_readers)
		return readers_list(&map->ranges, range, &map->order);
	return 0;
}

/*
 * For an entry that is new (@own is 0), or not alone: its number, or 0 if there is
 * no memory.  Even then the ranges that overlap are not alone any more.
 */
static noinline uint32_t look_around(struct access_map *map,
				     struct extent extent,
				     enum sley_access_mode mode, uint32_t own,
				     struct node_list *found)
{
	struct ranges *ranges = &map->ranges;
	struct node_list *list = &map->covered;
	uint32_t nr = list->nr, first = nr;
	int err = ranges_overlapping(ranges, extent, list);
	bool alone = true;

	if (err)
		return 0;
	if (!own)
		own = ranges_add(ranges, extent, 0);
	for (uint32_t i = first; i < list->nr; i++) {
		uint32_t other = (uint32_t)list->node[i];
		struct range *range = &ranges->cell[other];

		if (other == own)
			continue;
		/* Not the entries of this node. */
		if (range->stamp != map->stamp &&
		    range->nr_readers <= RANGE_READERS &&
		    range_is_over(map, range)) {
			ranges_drop(ranges, other);
			continue;
		}
		alone = false;
		range->flags &= (uint8_t)~RANGE_ALONE;
		if (!err)
			err = collect(map, range, mode, found);
		if (!writes(mode) || !covers(extent, range->extent))
			continue;
		range->stamp = map->stamp;
		list->node[nr++] = other;
	}
	list->nr = nr;
	if (alone)
		ranges->cell[own].flags |= RANGE_ALONE;
	return likely(!err) ? own : 0;
}

/* As above.  Most new ranges are alone, as their neighbours are. */
static noinline uint32_t look_further(struct access_map *map,
				      struct extent extent,
				      enum sley_access_mode mode, uint32_t own,
				      struct node_list *found)
{
	if (!own && ranges_are_clear(&map->ranges, extent))
		return ranges_add(&map->ranges, extent, RANGE_ALONE);
	return look_around(map, extent, mode, own, found);
}

/* The number of the entry, or 0 if there is no memory. */
static inline uint32_t find(struct access_map *map,
			    const struct sley_access *access,
			    struct node_list *found)
{
	struct ranges *ranges = &map->ranges;
	struct extent extent = extent_of(access);
	uint32_t own = ranges_exact(ranges, extent);
	struct range *range = &ranges->cell[own];

	/* Number 0, no range, is not alone. */
	if (unlikely(!(range->flags & RANGE_ALONE))) {
		own = look_further(map, extent, access->mode, own, found);
		range = &ranges->cell[own];
	}
	range->stamp = map->stamp;
	return likely(!collect(map, range, access->mode, found)) ? own : 0;
}

int access_find(struct access_map *map, const struct sley_access *access,
		uint32_t nr, struct node_list *found)
{
	int err = 0;

	map->order.nr = 0;
	if (nr)
		err = reserve(map, nr);
	for (uint32_t i = 0; i < nr && likely(!err); i++) {
		uint32_t own = 0;

		if (likely(!is_nothing(&access[i]))) {
			own = find(map, &access[i], found);
			err = likely(own) ? 0 : -ENOMEM;
		}
		map->own.node[i] = own;
	}
	return err;
}

int access_find_order(struct access_map *map, struct node_list *found)
{
	uint32_t nr = map->order.nr;

	if (!nr)
		return 0;
	if (node_list_reserve(found, map->mem, nr))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		node_list_add(found, map->order.node[i]);
	return 0;
}

/* ---- note ---------------------------------------------------------------------- */

static void forget_covered(struct access_map *map)
{
	struct ranges *ranges = &map->ranges;

	for (uint32_t i = 0; i < map->covered.nr; i++) {
		uint32_t other = (uint32_t)map->covered.node[i];
		struct range *range = &ranges->cell[other];

		/* A range may be covered twice. */
		if (range->flags & RANGE_DROPPED)
			continue;
		readers_forget(ranges, range);
		ranges_drop(ranges, other);
	}
	map->covered.nr = 0;
}

static void note_reader(struct access_map *map, struct range *range,
			sley_node node)
{
	readers_add(&map->ranges, range, node);
	if (readers_are_many(range))
		readers_prune(&map->ranges, range, map->is_over, map->arg);
}

void access_note(struct access_map *map, const struct sley_access *access,
		 uint32_t nr, sley_node node)
{
	const sley_node *own = map->own.node;
	struct range *cell = map->ranges.cell;

	if (unlikely(map->covered.nr) && nr)
		forget_covered(map);
	for (uint32_t i = 0; i < nr; i++) {
		struct range *range = &cell[own[i]];

		if (unlikely(!own[i]))
			continue;
		/* If another access covers the entry it was dropped: no harm. */
		if (writes(access[i].mode)) {
			readers_forget(&map->ranges, range);
			range->writer = node;
		} else {
			note_reader(map, range, node);
		}
	}
}
