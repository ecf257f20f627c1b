/* SPDX-License-Identifier: MIT */
/*
 * route_group_map.c - the workers of groups: kept while a request of the group is
 * there, as far as there is room.
 */
#include "harness/test.h"

#include "base/hash.h"
#include "route/group_map.h"

#define SLOTS (1u << GROUP_SLOT_BITS)

static struct mem mem;
static struct group_map map;

static void begin(void)
{
	mem_init(&mem, NULL);
	group_map_init(&map);
}

static void end(void)
{
	group_map_fini(&map, &mem);
	CHECK_EQ(mem.allocated, 0);
}

/* The worker that a request of @group gets, which would have chosen @worker. */
static uint32_t enter(uint64_t group, uint32_t worker)
{
	CHECK(group_map_enter(&map, &mem, group, &worker));
	return worker;
}

/* The next group after @group whose first slot is @slot. */
static uint64_t next_group(uint64_t group, size_t slot)
{
	do
		group++;
	while (hash_slot(hash_word(group), GROUP_SLOT_BITS) != slot);
	return group;
}

TEST(a_map_without_groups_has_no_memory)
{
	begin();
	CHECK_EQ(mem.allocated, 0);
	CHECK_EQ(enter(5, 1), 1);
	CHECK(mem.allocated > 0);
	group_map_leave(&map, 5);
	end();
}

TEST(the_first_request_chooses_the_worker_of_its_group)
{
	begin();
	CHECK_EQ(enter(5, 1), 1);
	CHECK_EQ(enter(6, 2), 2);
	CHECK_EQ(enter(5, 3), 1);
	CHECK_EQ(enter(6, 3), 2);
	CHECK_EQ(enter(UINT64_MAX, 4), 4);
	group_map_leave(&map, 5);
	CHECK_EQ(enter(5, 3), 1);
	end();
}

TEST(a_group_without_requests_is_forgotten)
{
	begin();
	CHECK_EQ(enter(5, 1), 1);
	CHECK_EQ(enter(5, 2), 1);
	group_map_leave(&map, 5);
	CHECK_EQ(enter(5, 2), 1);
	group_map_leave(&map, 5);
	group_map_leave(&map, 5);
	CHECK_EQ(enter(5, 2), 2);
	group_map_leave(&map, 5);
	end();
}

/* At the end of the table: the probes go on at its beginning. */
static void fill_from(size_t slot)
{
	uint64_t group[GROUP_PROBES + 1] = { next_group(0, slot) };
	uint32_t worker = 99;

	begin();
	for (uint32_t i = 0; i < GROUP_PROBES; i++) {
		CHECK_EQ(enter(group[i], i), i);
		group[i + 1] = next_group(group[i], slot);
	}
	/* One more has no room; the others are still known. */
	CHECK(!group_map_enter(&map, &mem, group[GROUP_PROBES], &worker));
	CHECK_EQ(worker, 99);
	for (uint32_t i = 0; i < GROUP_PROBES; i++)
		CHECK_EQ(enter(group[i], 50), i);
	/* The slot of a group that is gone goes to the next. */
	group_map_leave(&map, group[3]);
	CHECK(!group_map_enter(&map, &mem, group[GROUP_PROBES], &worker));
	group_map_leave(&map, group[3]);
	CHECK_EQ(enter(group[GROUP_PROBES], 60), 60);
	/* A group behind a free slot is found, and not put in twice. */
	group_map_leave(&map, group[0]);
	group_map_leave(&map, group[0]);
	CHECK_EQ(enter(group[GROUP_PROBES], 70), 60);
	CHECK_EQ(enter(group[GROUP_PROBES - 1], 70), GROUP_PROBES - 1);
	end();
}

TEST(groups_of_one_slot_share_the_slots_behind_it)
{
	fill_from(0);
	fill_from(17);
	fill_from(SLOTS - 1);
}

TEST(a_map_has_room_for_many_groups)
{
	uint32_t kept = 0;

	begin();
	for (uint64_t group = 1; group <= SLOTS / 2; group++) {
		uint32_t worker = (uint32_t)group;

		kept += group_map_enter(&map, &mem, group, &worker);
	}
	CHECK_GE(kept, SLOTS / 2 - SLOTS / 32);
	end();
}

static void *no_memory(void *user, size_t size, size_t align)
{
	(void)user;
	(void)size;
	(void)align;
	return NULL;
}

static void never_freed(void *user, void *memory, size_t size)
{
	(void)user;
	(void)size;
	CHECK(memory == NULL);
}

TEST(without_memory_no_group_is_kept)
{
	static const struct sley_allocator none = {
		.alloc = no_memory,
		.free = never_freed,
	};
	uint32_t worker = 3;

	mem_init(&mem, &none);
	group_map_init(&map);
	CHECK(!group_map_enter(&map, &mem, 5, &worker));
	CHECK_EQ(worker, 3);
	end();
	/* Memory comes later: groups are kept from then on. */
	begin();
	CHECK_EQ(enter(5, 3), 3);
	CHECK_EQ(enter(5, 4), 3);
	end();
}
