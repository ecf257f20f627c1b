/* SPDX-License-Identifier: MIT */
/*
 * graph_access.c - who waits for whom, by what they read and write: S03, S04, S05.
 */
#include "unit/graph_access.h"

#include <errno.h>

/* ---- S03: modes ---------------------------------------------------------------- */

TEST(s03_who_reads_needs_the_last_writer_and_nobody_else)
{
	struct scene scene;
	sley_node writer;

	scene_begin(&scene);
	(void)ADD(&scene, OUT(64, 8));
	writer = ADD(&scene, OUT(64, 8));
	for (int i = 0; i < 20; i++) {
		(void)ADD(&scene, IN(64, 8));
		CHECK_EQ(scene.found.nr, 1);
		CHECK(needs(&scene, writer));
	}
	scene_end(&scene);
}

TEST(s03_who_writes_follows_the_writer_and_those_who_read_since)
{
	struct scene scene;

	for (uint32_t readers = 0; readers < 40; readers++) {
		sley_node writer;

		scene_begin(&scene);
		(void)ADD(&scene, OUT(64, 8));
		(void)ADD(&scene, IN(64, 8));
		writer = ADD(&scene, OUT(64, 8));
		for (uint32_t i = 0; i < readers; i++)
			(void)ADD(&scene, IN(64, 8));
		(void)ADD(&scene, OUT(64, 8));
		CHECK_EQ(scene.nr_needed, 0);
		CHECK_EQ(scene.found.nr, readers + 1);
		for (uint32_t i = 0; i <= readers; i++)
			CHECK(follows(&scene, writer + i));
		scene_end(&scene);
	}
}

TEST(s03_who_updates_needs_the_writer_and_follows_the_readers)
{
	struct scene scene;
	sley_node writer, reader, update;

	scene_begin(&scene);
	writer = ADD(&scene, OUT(64, 8));
	reader = ADD(&scene, IN(64, 8));
	update = ADD(&scene, INOUT(64, 8));
	CHECK_EQ(scene.found.nr, 2);
	CHECK(needs(&scene, writer));
	CHECK(follows(&scene, reader));
	(void)ADD(&scene, INOUT(64, 8));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(needs(&scene, update));
	scene_end(&scene);
}

TEST(s03_no_mode_and_no_bytes_order_nothing)
{
	struct scene scene;

	scene_begin(&scene);
	(void)ADD(&scene, OUT(64, 8));
	(void)ADD(&scene, NONE(64, 8), OUT(64, 0), INOUT(68, 0), NONE(0, 0));
	CHECK_EQ(scene.found.nr, 0);
	CHECK_EQ(scene_find(&scene, NULL, 0), 0);
	access_note(&scene.map, NULL, 0, 77);
	(void)ADD(&scene, INOUT(64, 8));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(needs(&scene, 1));
	scene_end(&scene);
}

/* ---- S04: ranges --------------------------------------------------------------- */

TEST(s04_ranges_that_only_touch_do_not_overlap)
{
	static const uint64_t size[] = { 1, 2, 3, 7, 8, 24, 64, 1000, 1 << 20 };
	struct scene scene;

	for (int i = 0; i < 9; i++) {
		for (int k = 0; k < 9; k++) {
			uint64_t at = 1 << 21;

			scene_begin(&scene);
			(void)ADD(&scene, OUT(at, size[i]));
			(void)ADD(&scene, OUT(at - size[k], size[k]));
			CHECK_EQ(scene.found.nr, 0);
			(void)ADD(&scene, OUT(at + size[i], size[k]));
			CHECK_EQ(scene.found.nr, 0);
			(void)ADD(&scene, IN(at - 1, 2));
			CHECK_EQ(scene.nr_needed, 2);
			(void)ADD(&scene, IN(at + size[i] - 1, 2));
			CHECK_EQ(scene.nr_needed, 2);
			scene_end(&scene);
		}
	}
}

TEST(s04_who_reads_the_whole_needs_everybody_who_wrote_a_part)
{
	enum { N = 1000 };
	struct scene scene;

	scene_begin(&scene);
	for (uint64_t i = 0; i < N; i++) {
		(void)ADD(&scene, OUT(4096 + 24 * i, 24));
		CHECK_EQ(scene.found.nr, 0);
	}
	(void)ADD(&scene, IN(4096, 24 * N));
	CHECK_EQ(scene.found.nr, N);
	for (uint64_t i = 1; i <= N; i++)
		CHECK(needs(&scene, i));
	(void)ADD(&scene, IN(4096 + 24 * 10 - 1, 26));
	CHECK_EQ(scene.found.nr, 3);
	scene_end(&scene);
}

TEST(s04_what_a_write_covers_is_forgotten)
{
	struct scene scene;
	sley_node whole;

	scene_begin(&scene);
	for (uint64_t i = 0; i < 10; i++) {
		(void)ADD(&scene, OUT(64 + 8 * i, 8));
		(void)ADD(&scene, IN(64 + 8 * i, 8));
		(void)ADD(&scene, IN(64 + 8 * i, 4));
	}
	whole = ADD(&scene, OUT(64, 80));
	CHECK_EQ(scene.found.nr, 30);
	(void)ADD(&scene, INOUT(72, 8));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(needs(&scene, whole));
	(void)ADD(&scene, OUT(80, 4));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(follows(&scene, whole));
	scene_end(&scene);
}

TEST(s04_what_a_write_overlaps_in_part_stays)
{
	struct scene scene;
	sley_node whole, part;

	scene_begin(&scene);
	whole = ADD(&scene, OUT(64, 64));
	part = ADD(&scene, OUT(96, 64));
	CHECK(follows(&scene, whole));
	(void)ADD(&scene, IN(64, 8));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(needs(&scene, whole));
	(void)ADD(&scene, IN(96, 8));
	CHECK(needs(&scene, part));
	scene_end(&scene);
}

TEST(s04_a_range_ends_where_the_address_space_does)
{
	struct scene scene;
	sley_node top, all;

	scene_begin(&scene);
	top = ADD(&scene, OUT(UINT64_MAX, 1));
	(void)ADD(&scene, IN(0, 1));
	CHECK_EQ(scene.found.nr, 0);
	(void)ADD(&scene, IN(UINT64_MAX - 7, 8));
	CHECK(needs(&scene, top));
	(void)ADD(&scene, IN(UINT64_MAX - 7, 1000));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(needs(&scene, top));
	all = ADD(&scene, OUT(1, UINT64_MAX));
	CHECK(follows(&scene, top));
	CHECK(!follows(&scene, 2));
	(void)ADD(&scene, INOUT(UINT64_MAX, UINT64_MAX));
	CHECK_EQ(scene.found.nr, 1);
	CHECK(needs(&scene, all));
	scene_end(&scene);
}

/* ---- S05: what one node uses more than once ------------------------------------ */

TEST(s05_to_read_and_write_the_same_is_to_update_it)
{
	struct scene scene;

	for (int order = 0; order < 2; order++) {
		sley_node writer, reader, both;

		scene_begin(&scene);
		writer = ADD(&scene, OUT(64, 8));
		reader = ADD(&scene, IN(64, 8));
		both = order ? ADD(&scene, IN(64, 8), OUT(64, 8))
			     : ADD(&scene, OUT(64, 8), IN(64, 8));
		CHECK(needs(&scene, writer));
		CHECK(follows(&scene, reader));
		CHECK(!needs(&scene, both) && !follows(&scene, both));
		(void)ADD(&scene, IN(64, 8));
		CHECK_EQ(scene.found.nr, 1);
		CHECK(needs(&scene, both));
		both = ADD(&scene, IN(64, 8), IN(64, 8), OUT(64, 8),
			   OUT(64, 8));
		(void)ADD(&scene, OUT(64, 8));
		CHECK_EQ(scene.found.nr, 1);
		CHECK(follows(&scene, both));
		scene_end(&scene);
	}
}

TEST(s05_a_node_may_read_the_whole_and_write_a_part)
{
	struct scene scene;

	for (int order = 0; order < 2; order++) {
		sley_node writer, both;

		scene_begin(&scene);
		writer = ADD(&scene, OUT(0, 64));
		both = order ? ADD(&scene, IN(0, 64), OUT(16, 8))
			     : ADD(&scene, OUT(16, 8), IN(0, 64));
		CHECK(needs(&scene, writer));
		(void)ADD(&scene, IN(16, 8));
		CHECK(needs(&scene, both));
		(void)ADD(&scene, OUT(40, 8));
		CHECK(follows(&scene, both));
		(void)ADD(&scene, IN(48, 8));
		CHECK(!needs(&scene, both));
		(void)ADD(&scene, OUT(0, 64));
		CHECK(follows(&scene, both));
		scene_end(&scene);
	}
}

TEST(s05_a_node_may_write_the_whole_and_use_a_part)
{
	struct scene scene;

	for (int order = 0; order < 4; order++) {
		struct sley_access whole = OUT(0, 64);
		struct sley_access part = order & 1 ? IN(16, 8) : OUT(16, 8);
		sley_node both;

		scene_begin(&scene);
		(void)ADD(&scene, OUT(16, 8));
		both = order & 2 ? ADD(&scene, whole, part)
				 : ADD(&scene, part, whole);
		CHECK_EQ(order & 1, needs(&scene, 1));
		(void)ADD(&scene, IN(20, 1));
		CHECK(needs(&scene, both));
		CHECK(!needs(&scene, 1));
		(void)ADD(&scene, OUT(0, 64));
		CHECK(follows(&scene, both));
		CHECK(!follows(&scene, 1));
		scene_end(&scene);
	}
}

/* The same entry is covered by both. */
TEST(s05_a_node_may_cover_the_same_twice)
{
	struct scene scene;
	sley_node both;

	scene_begin(&scene);
	(void)ADD(&scene, OUT(16, 8));
	both = ADD(&scene, OUT(0, 32), OUT(8, 32), OUT(4, 64));
	(void)ADD(&scene, IN(16, 8));
	CHECK(needs(&scene, both));
	CHECK(!needs(&scene, 1));
	(void)ADD(&scene, IN(60, 1));
	CHECK(needs(&scene, both));
	scene_end(&scene);
}

/* Those that end while a node is looked up are no reason to forget the node. */
TEST(s05_others_may_end_meanwhile)
{
	struct scene scene;

	for (uint64_t until = 1; until < 20; until++) {
		sley_node both;

		scene_begin(&scene);
		(void)ADD(&scene, OUT(16, 8));
		(void)ADD(&scene, OUT(24, 8), IN(16, 8), IN(512, 8));
		scene.nr_until = scene.nr_asked + until;
		both = ADD(&scene, OUT(0, 64), IN(20, 8), IN(0, 1 << 20),
			   OUT(1024, 8), OUT(28, 100), OUT(2048, 8),
			   OUT(4096, 8));
		scene.nr_until = 0;
		for (uint64_t i = 4; i <= 12; i++) {
			(void)ADD(&scene, IN(1u << i, 8));
			CHECK_EQ(needs(&scene, both), i < 7 || i > 9);
		}
		(void)ADD(&scene, OUT(512, 1));
		CHECK(follows(&scene, both));
		scene_end(&scene);
	}
}

/* ---- memory -------------------------------------------------------------------- */

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
	uint32_t nr;

	scene_begin(&scene);
	(void)ADD(&scene, OUT(0, 8));
	nr = scene.map.ranges.max;
	for (uint64_t i = 1; i < nr - 1; i++)
		(void)ADD(&scene, OUT(8 * i, 8));
	scene.over_below = nr / 4;
	test_fail_allocation_after(0);
	for (uint64_t i = 0; i < nr / 4 - 1; i++)
		(void)ADD(&scene, OUT(8 * (nr + i), 8));
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
		CHECK(found == all || (found == 0 && n < 15));
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
