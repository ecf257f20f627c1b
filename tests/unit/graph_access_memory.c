/* SPDX-License-Identifier: MIT */
/*
 * graph_access_memory.c - what the map of accesses forgets, what that costs, and what
 * happens when there is no memory.
 */
#include "unit/graph_access.h"

#include <errno.h>

TEST(readers_that_are_over_are_forgotten)
{
	struct scene scene;
	uint64_t before = 0;

	scene_begin(&scene);
	(void)ADD(&scene, OUT(64, 8));
	for (int i = 0; i < 100000; i++) {
		(void)ADD(&scene, IN(64, 8));
		if (scene.last > 100)
			scene.over_below = scene.last - 100;
		if (i == 1000)
			before = mem_allocated(&scene.mem);
	}
	CHECK_EQ(mem_allocated(&scene.mem), before);
	(void)ADD(&scene, OUT(64, 8));
	CHECK_LE(scene.found.nr, 300);
	for (sley_node node = scene.over_below; node < scene.last; node++)
		CHECK(follows(&scene, node));
	scene_end(&scene);
}

/* Once there was much to remember. */
TEST(readers_are_forgotten_as_soon_after_many)
{
	struct scene scene;

	scene_begin(&scene);
	for (int i = 0; i < 10000; i++)
		(void)ADD(&scene, IN(64, 8));
	(void)ADD(&scene, OUT(64, 8));
	CHECK_EQ(scene.found.nr, 10000);
	for (int i = 0; i < 1000; i++) {
		(void)ADD(&scene, IN(64, 8));
		scene.over_below = scene.last;
	}
	(void)ADD(&scene, OUT(64, 8));
	CHECK_LE(scene.found.nr, 64);
	scene_end(&scene);
}

TEST(who_streams_over_new_memory_needs_no_more_of_it)
{
	struct scene scene;
	uint64_t before = 0;

	scene_begin(&scene);
	for (uint64_t i = 0; i < 100000; i++) {
		(void)ADD(&scene, IN(100 * i, 150), OUT(1u << 30 | i * 8, 8));
		(void)ADD(&scene, OUT(100 * i, 100), OUT(i << 33, 1u << 31));
		if (scene.last > 100)
			scene.over_below = scene.last - 100;
		if (i == 5000)
			before = mem_allocated(&scene.mem);
	}
	CHECK_EQ(mem_allocated(&scene.mem), before);
	CHECK_LE(before, 200000);
	scene_end(&scene);
}

/* However many are not over, each is asked a few times at most. */
TEST(to_forget_pays_for_itself)
{
	struct scene scene;

	for (sley_node living = 1; living < 200; living += 9) {
		scene_begin(&scene);
		for (uint64_t i = 0; i < 3000; i++) {
			(void)ADD(&scene, OUT(64 + 16 * i, 8), IN(0, 8));
			if (scene.last > living)
				scene.over_below = scene.last - living;
		}
		CHECK_LE(scene.nr_asked, 6 * 3000);
		scene_end(&scene);
	}
}

TEST(many_readers_are_no_burden_for_others)
{
	struct scene scene;

	scene_begin(&scene);
	for (uint64_t i = 0; i < 1000; i++)
		(void)ADD(&scene, IN(0, 1000));
	for (uint64_t i = 0; i < 1000; i++)
		(void)ADD(&scene, IN(i, 1));
	CHECK_LE(scene.nr_asked, 10000);
	scene_end(&scene);
}

TEST(what_is_alone_is_known_to_be)
{
	struct scene scene;
	const struct ranges *ranges = &scene.map.ranges;
	struct extent whole = { 64, 127 }, other = { 128, 131 };

	scene_begin(&scene);
	(void)ADD(&scene, OUT(64, 64));
	(void)ADD(&scene, OUT(128, 4));
	CHECK(ranges->cell[ranges_exact(ranges, whole)].flags & RANGE_ALONE);
	(void)ADD(&scene, OUT(64, 8));
	CHECK(!(ranges->cell[ranges_exact(ranges, whole)].flags & RANGE_ALONE));
	(void)ADD(&scene, OUT(64, 64));
	(void)ADD(&scene, OUT(64, 64));
	CHECK(ranges->cell[ranges_exact(ranges, whole)].flags & RANGE_ALONE);
	CHECK(ranges->cell[ranges_exact(ranges, other)].flags & RANGE_ALONE);
	scene_end(&scene);
}

TEST(what_is_covered_again_and_again_needs_no_more_memory)
{
	struct scene scene;
	uint64_t before = 0;

	scene_begin(&scene);
	for (int i = 0; i < 2000; i++) {
		for (uint64_t k = 0; k < 50; k++)
			(void)ADD(&scene, IN(64 + 8 * (k % 10), 8), IN(0, 8));
		(void)ADD(&scene, OUT(64, 80), OUT(0, 8));
		CHECK_LE(scene.found.nr, 102);
		if (i == 100)
			before = mem_allocated(&scene.mem);
	}
	CHECK_EQ(mem_allocated(&scene.mem), before);
	scene_end(&scene);
}

TEST(a_new_beginning_knows_nothing)
{
	static const uint64_t nr[] = { 3, 5000, 2, 100, 1 };
	struct scene scene;

	scene_begin(&scene);
	for (int round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < nr[round]; i++) {
			(void)ADD(&scene, IN(1 << 20, 8), OUT(i * 8, 8),
				  OUT(1u << 31 | i * 100, 90));
			CHECK_EQ(scene.found.nr, 0);
		}
		for (uint64_t i = 0; i < nr[round]; i++) {
			(void)ADD(&scene, OUT(i * 8, 8));
			CHECK_EQ(scene.found.nr, 1);
		}
		access_forget(&scene.map);
	}
	scene_end(&scene);
}

TEST(where_there_is_room_no_memory_is_needed)
{
	struct scene scene;
	const struct ranges *ranges = &scene.map.ranges;
	uint64_t i = 1;

	scene_begin(&scene);
	while (ranges->max < 64 || ranges_room(ranges))
		(void)ADD(&scene, OUT(8 * i++, 8));
	scene.over_below = 11;
	test_fail_allocation_after(0);
	for (int k = 0; k < 10; k++)
		(void)ADD(&scene, OUT(8 * i++, 8));
	CHECK_EQ(scene_find(&scene, (struct sley_access[]){ OUT(0, 1) }, 1),
		 -ENOMEM);
	test_fail_allocation_after(-1);
	scene_end(&scene);
}

/* ---- nodes that do not come ----------------------------------------------------- */

#define MANY 300

/* Of each 30 the first was written, and the second read by 40. */
static void prepare(struct scene *scene, struct sley_access *access)
{
	for (uint64_t i = 0; i < MANY; i++) {
		access[i] = INOUT(8 * i, 1 + i % 30);
		if (i % 30 == 0)
			(void)ADD(scene, OUT(8 * i, 8));
		for (int k = 0; k < 40 && i % 30 == 1; k++)
			(void)ADD(scene, IN(8 * i, 8));
	}
}

/* All or nothing is found; how many. */
static uint32_t find_with(struct scene *scene, const struct sley_access *access,
			  int64_t allocations)
{
	int err;

	test_fail_allocation_after(allocations);
	err = scene_find(scene, access, MANY);
	test_fail_allocation_after(-1);
	CHECK(err == 0 || err == -ENOMEM);
	return err ? 0 : scene->found.nr;
}

TEST(a_node_that_does_not_come_leaves_nothing_behind)
{
	struct sley_access access[MANY];
	uint32_t all = 0, found;
	struct scene scene;

	for (int64_t n = -1; n < 20; n++) {
		scene_begin(&scene);
		prepare(&scene, access);
		found = find_with(&scene, access, n);
		if (n < 0)
			all = found;
		CHECK_GT(all, 0);
		CHECK(found == all || (found == 0 && n < 15));
		if (n == 0)
			CHECK_EQ(found, 0);
		CHECK_EQ(find_with(&scene, access, -1), all);
		(void)ADD(&scene, OUT(30 * 8, 16));
		CHECK_EQ(scene.found.nr, 41);
		(void)ADD(&scene, INOUT(32 * 8, 28 * 8));
		CHECK_EQ(scene.found.nr, 0);
		scene_end(&scene);
	}
	CHECK_GT(all, 400);
}

/* There is memory for what is found last, but not for what is found first. */
TEST(a_lack_of_memory_is_told_even_if_it_has_passed)
{
	struct sley_access whole = INOUT(0, 16);
	struct scene scene;

	scene_begin(&scene);
	(void)ADD(&scene, OUT(8, 8));
	(void)ADD(&scene, IN(8, 4));
	for (int i = 0; i < 100; i++)
		(void)ADD(&scene, IN(0, 8));
	test_fail_allocation_after(0);
	CHECK_EQ(scene_find(&scene, &whole, 1), -ENOMEM);
	test_fail_allocation_after(-1);
	CHECK_EQ(scene_find(&scene, &whole, 1), 0);
	CHECK_EQ(scene.found.nr, 102);
	scene_end(&scene);
}
