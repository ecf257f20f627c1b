/* SPDX-License-Identifier: MIT */
/*
 * for_tiles.c - parallel loops over a rectangle.
 */
#include "conformance/everywhere.h"

enum { MOST = 20000 };

static struct board {
	struct sley_tile whole;
	size_t columns;
	atomic_size_t tiles, smallest, largest, longest_side;
	atomic_uchar at[MOST];
} board;

static size_t area_of(const struct sley_tile *tile)
{
	return (tile->row_end - tile->row) * (tile->column_end - tile->column);
}

static void clear_board(size_t row, size_t rows, size_t column, size_t columns)
{
	CHECK(rows * columns <= MOST);
	memset(&board, 0, sizeof(board));
	board.whole =
		(struct sley_tile){ row, row + rows, column, column + columns };
	board.columns = columns;
	board.smallest = SIZE_MAX;
}

static void note_least(atomic_size_t *at, size_t n)
{
	size_t old = atomic_load(at);

	while (n < old && !atomic_compare_exchange_weak(at, &old, n))
		;
}

static void note_most(atomic_size_t *at, size_t n)
{
	size_t old = atomic_load(at);

	while (n > old && !atomic_compare_exchange_weak(at, &old, n))
		;
}

static void visit(const struct sley_tile *tile, void *arg)
{
	const struct sley_tile *whole = &board.whole;

	(void)arg;
	CHECK(tile->row < tile->row_end && tile->column < tile->column_end);
	CHECK(tile->row >= whole->row && tile->row_end <= whole->row_end);
	CHECK(tile->column >= whole->column &&
	      tile->column_end <= whole->column_end);
	for (size_t r = tile->row; r < tile->row_end; r++) {
		for (size_t c = tile->column; c < tile->column_end; c++)
			atomic_fetch_add(
				&board.at[(r - whole->row) * board.columns +
					  (c - whole->column)],
				1);
	}
	atomic_fetch_add(&board.tiles, 1);
	note_least(&board.smallest, area_of(tile));
	note_most(&board.largest, area_of(tile));
	note_most(&board.longest_side, tile->row_end - tile->row);
	note_most(&board.longest_side, tile->column_end - tile->column);
}

static void check_all_once(void)
{
	for (size_t i = 0; i < area_of(&board.whole); i++)
		CHECK_EQ(board.at[i], 1);
}

static void check_shapes(void *arg)
{
	static const size_t shape[][2] = {
		{ 1, 1 },     { 1, 2 },     { 2, 1 },     { 3, 3 },
		{ 1, 10000 }, { 10000, 1 }, { 7, 1000 },  { 1000, 7 },
		{ 100, 100 }, { 128, 128 }, { 131, 137 },
	};

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(shape); i++) {
		clear_board(3, shape[i][0], 5, shape[i][1]);
		sley_for_tiles(&board.whole, visit, NULL);
		check_all_once();
		clear_board(SIZE_MAX - shape[i][0], shape[i][0],
			    SIZE_MAX - shape[i][1], shape[i][1]);
		CHECK_EQ(sley_for_tiles_with(&board.whole, visit, NULL, NULL),
			 0);
		check_all_once();
	}
}

TEST_WORKERS(for_tiles_each_element_is_done_once)
{
	from_everywhere(check_shapes, NULL);
}

TEST(for_tiles_any_number_of_workers)
{
	with_many_workers(check_shapes, NULL);
}

TEST(for_tiles_nothing_to_do)
{
	clear_board(0, 10, 0, 10);
	sley_for_tiles(&(struct sley_tile){ 0, 0, 0, 5 }, visit, NULL);
	sley_for_tiles(&(struct sley_tile){ 0, 5, 5, 5 }, visit, NULL);
	sley_for_tiles(&(struct sley_tile){ 5, 3, 0, 5 }, visit, NULL);
	sley_for_tiles(&(struct sley_tile){ 0, 1, 9, 5 }, visit, NULL);
	CHECK_EQ(board.tiles, 0);
}

static void check_grain(void *arg)
{
	(void)arg;
	for (size_t grain = 1; grain < 20000; grain = grain * 3 + 1) {
		size_t side = 1;

		clear_board(0, 100, 0, 150);
		CHECK_EQ(sley_for_tiles_with(&board.whole, visit, NULL,
					     SLEY_HOW(.grain = grain)),
			 0);
		check_all_once();
		while (side * side < grain)
			side++;
		/* Square, as far as the rectangle is; not much larger. */
		if (grain <= 10000)
			CHECK_LE(board.longest_side, side);
		CHECK_LE(grain < 15000 ? grain : 15000, board.largest);
		CHECK_LE(board.largest, grain + 2 * side);
	}
}

TEST_WORKERS(for_tiles_have_as_many_elements_as_the_grain_says)
{
	from_everywhere(check_grain, NULL);
}

TEST(for_tiles_with_reads_what_it_is_given)
{
	struct sley_tile vast = { 0, (size_t)1 << 40, 0, (size_t)1 << 40 };

	clear_board(0, 10, 0, 10);
	CHECK_EQ(sley_for_tiles_with(&board.whole, visit, NULL,
				     SLEY_HOW(.priority = 77)),
		 SLEY_EPRIORITY);
	CHECK_EQ(sley_for_tiles_with(&vast, visit, NULL, NULL), -EINVAL);
	CHECK_EQ(board.tiles, 0);
}

static void count_tile(const struct sley_tile *tile, void *arg)
{
	atomic_fetch_add((atomic_size_t *)arg, area_of(tile));
}

TEST(for_tiles_of_the_largest_rectangles)
{
	const size_t root = (size_t)1 << 32;
	const struct sley_tile whole[] = {
		{ 0, root, 0, root - 1 },
		{ 0, 1, 0, SIZE_MAX },
		{ 0, SIZE_MAX, 7, 8 },
		{ 0, 3, 0, SIZE_MAX / 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		const size_t grain[] = { area_of(&whole[i]) / 100,
					 area_of(&whole[i]), SIZE_MAX };

		for (size_t k = 0; k < ARRAY_SIZE(grain); k++) {
			atomic_size_t area = 0;

			CHECK_EQ(sley_for_tiles_with(
					 &whole[i], count_tile, &area,
					 SLEY_HOW(.grain = grain[k])),
				 0);
			CHECK_EQ(area, area_of(&whole[i]));
		}
	}
}

TEST_ABORTS(for_tiles_more_elements_than_can_be_counted_abort,
	    "sley: misuse in sley_for_tiles")
{
	sley_for_tiles(&(struct sley_tile){ 0, (size_t)1 << 40, 0,
					    (size_t)1 << 40 },
		       visit, NULL);
}

static void meet(const struct sley_tile *tile, void *arg)
{
	atomic_int *here = arg;

	(void)tile;
	atomic_fetch_add(here, 1);
	while (atomic_load(here) < 2)
		test_nap_ms(1);
}

TEST_WORKERS(for_tiles_are_shared)
{
	struct sley *rt = start();
	struct sley_tile whole = { 0, 100, 0, 100 };
	atomic_int here = 0;

	if (nr_runners() < 2)
		test_skip("needs a thief");
	CHECK_EQ(sley_for_tiles_with(&whole, meet, &here,
				     SLEY_HOW(.grain = 2500)),
		 0);
	CHECK_EQ(here, 4);
	stop(rt);
}

static void cancelled_at_once(void *arg)
{
	sley_cancel(arg);
	clear_board(0, 100, 0, 100);
	CHECK_EQ(sley_for_tiles_with(&board.whole, visit, NULL, NULL),
		 -ECANCELED);
	CHECK_EQ(board.tiles, 0);
	sley_for_tiles(&board.whole, visit, NULL);
	check_all_once();
}

TEST_WORKERS(for_tiles_are_cancelled_with_the_caller)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, cancelled_at_once, &task);
	sley_join(&group);
	stop(rt);
}
