/* SPDX-License-Identifier: MIT */
/*
 * graph_access.c - who waits for whom, by what they read and write: S03, S04, S05.
 */
#include "unit/graph_access.h"

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
