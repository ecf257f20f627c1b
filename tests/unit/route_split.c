/* SPDX-License-Identifier: MIT */
/*
 * route_split.c - a range is cut into sub-ranges: all of it, each container once, evenly.
 */
#include "harness/test.h"

#include "route/split.h"

/* The sub-ranges of @count containers, from @first on, are the whole range in order. */
static void check_split(uint32_t first, uint32_t count, uint32_t nr)
{
	uint32_t next = first, longest = 0, shortest = UINT32_MAX;

	CHECK_EQ(split_nr(count), nr);
	for (uint32_t i = 0; i < nr; i++) {
		struct span piece = split_at((struct span){ first, count }, i);

		CHECK_EQ(piece.first, next);
		CHECK_GE(piece.count, 1);
		CHECK(piece.count <= longest || i == 0);
		if (piece.count > longest)
			longest = piece.count;
		if (piece.count < shortest)
			shortest = piece.count;
		next += piece.count;
	}
	CHECK_EQ(next, first + count);
	if (nr)
		CHECK_LE(longest - shortest, 1);
}

TEST(c18_the_sub_ranges_of_a_range_are_all_of_it)
{
	check_split(0, 0, 0);
	check_split(7, 0, 0);
	check_split(0, 1, 1);
	check_split(65535, 1, 1);
	for (uint32_t count = 2; count <= SPLIT_MOST; count++)
		check_split(count, count, count);
	for (uint32_t count = SPLIT_MOST; count < 40 * SPLIT_MOST; count++)
		check_split(3, count, SPLIT_MOST);
	check_split(0, 65536, SPLIT_MOST);
	check_split(1, UINT32_MAX - 1, SPLIT_MOST);
}

TEST(c18_the_longer_sub_ranges_come_first)
{
	struct span all = { 10, SPLIT_MOST + 3 };

	CHECK_EQ(split_at(all, 2).first, 14);
	CHECK_EQ(split_at(all, 2).count, 2);
	CHECK_EQ(split_at(all, 3).first, 16);
	CHECK_EQ(split_at(all, 3).count, 1);
}
