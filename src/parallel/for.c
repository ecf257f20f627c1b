/* SPDX-License-Identifier: MIT */
/*
 * for.c - parallel loops over a range and over a rectangle.
 *
 * A rectangle is cut into tiles, all of one size but the tiles at the edges.  The
 * tiles are numbered row by row, and a loop over the numbers does the rest.  So
 * there is one way to share work, not two.  The size depends on the rectangle
 * alone: TILES tiles are enough for any machine, and a square of TILE_SIDE is as
 * much as a first-level cache holds.
 */
#include "base/assert.h"
#include "parallel/split.h"

#include <errno.h>
#include <sley/for.h>

/* ---- a range ----------------------------------------------------------------- */

struct loop {
	struct split split;
	sley_range_fn *fn;
	void *arg;
};

static void loop_piece(struct split *split, size_t begin, size_t end,
		       void *value)
{
	struct loop *loop = container_of(split, struct loop, split);

	(void)value;
	loop->fn(begin, end, loop->arg);
}

void sley_for(size_t begin, size_t end, sley_range_fn *fn, void *arg)
{
	struct loop loop = {
		.split.piece = loop_piece,
		.fn = fn,
		.arg = arg,
	};

	sley_check_fn(fn);
	how_default(&loop.split.how);
	(void)!split_run(&loop.split, begin, end, NULL);
}

int sley_for_with(size_t begin, size_t end, sley_range_fn *fn, void *arg,
		  const struct sley_how *how)
{
	struct loop loop = {
		.split.piece = loop_piece,
		.fn = fn,
		.arg = arg,
	};
	int err = how_read(&loop.split.how, how);

	sley_check_fn(fn);
	return err ? err : split_run(&loop.split, begin, end, NULL);
}

/* ---- a rectangle --------------------------------------------------------------- */

#define TILES 256
#define TILE_SIDE 64

struct tiles {
	struct split split;
	const struct sley_tile *whole;
	size_t rows, columns; /* of each tile             */
	size_t across;        /* tiles in a row of tiles  */
	sley_tile_fn *fn;
	void *arg;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Tile number @number. */
static struct sley_tile tile_at(const struct tiles *tiles, size_t number)
{
	const struct sley_tile *whole = tiles->whole;
	struct sley_tile tile = {
		.row = whole->row + number / tiles->across * tiles->rows,
		.column =
			whole->column + number % tiles->across * tiles->columns,
	};

	/* The end of the whole may be SIZE_MAX: add no more than is left. */
	tile.row_end = tile.row + least(tiles->rows, whole->row_end - tile.row);
	tile.column_end = tile.column + least(tiles->columns,
					      whole->column_end - tile.column);
	return tile;
}

static void tiles_piece(struct split *split, size_t begin, size_t end,
			void *value)
{
	struct tiles *tiles = container_of(split, struct tiles, split);

	(void)value;
	for (size_t i = begin; i < end; i++) {
		struct sley_tile tile = tile_at(tiles, i);

		tiles->fn(&tile, tiles->arg);
	}
}

/* The smallest number whose square is @n or more. */
static size_t root_above(size_t n)
{
	size_t below = 0;

	/* Bit by bit: the largest number whose square is less. */
	for (size_t bit = (size_t)1 << 31; bit; bit /= 2) {
		if ((below | bit) * (below | bit) < n)
			below |= bit;
	}
	return below + 1;
}

static size_t divide_up(size_t a, size_t b)
{
	return a / b + (a % b != 0);
}

/* Choose the size of the tiles: @grain elements or more.  Returns the number. */
static size_t tiles_cut(struct tiles *tiles, size_t grain)
{
	const struct sley_tile *whole = tiles->whole;
	size_t rows = whole->row_end - whole->row;
	size_t columns = whole->column_end - whole->column;

	if (!grain)
		grain = least(rows * columns / TILES, TILE_SIDE * TILE_SIDE);
	grain = grain ? least(grain, rows * columns) : 1;
	tiles->rows = least(rows, root_above(grain));
	tiles->columns = least(columns, divide_up(grain, tiles->rows));
	tiles->rows = least(rows, divide_up(grain, tiles->columns));
	tiles->across = divide_up(columns, tiles->columns);
	return tiles->across * divide_up(rows, tiles->rows);
}

static bool is_empty(const struct sley_tile *tile)
{
	return tile->row >= tile->row_end || tile->column >= tile->column_end;
}

/* Does the number of elements fit a size_t? */
static bool is_countable(const struct sley_tile *tile)
{
	return is_empty(tile) || tile->column_end - tile->column <=
					 SIZE_MAX / (tile->row_end - tile->row);
}

static int tiles_run(struct tiles *tiles)
{
	size_t grain = tiles->split.how.grain;

	if (is_empty(tiles->whole))
		return 0;
	/* A tile has a grain of elements already. */
	tiles->split.how.grain = grain ? 1 : 0;
	return split_run(&tiles->split, 0, tiles_cut(tiles, grain), NULL);
}

void sley_for_tiles(const struct sley_tile *whole, sley_tile_fn *fn, void *arg)
{
	struct tiles tiles = {
		.split.piece = tiles_piece,
		.whole = whole,
		.fn = fn,
		.arg = arg,
	};

	sley_check_fn(fn);
	sley_check(is_countable(whole),
		   "the rectangle has more elements than a size_t can count");
	how_default(&tiles.split.how);
	(void)!tiles_run(&tiles);
}

int sley_for_tiles_with(const struct sley_tile *whole, sley_tile_fn *fn,
			void *arg, const struct sley_how *how)
{
	struct tiles tiles = {
		.split.piece = tiles_piece,
		.whole = whole,
		.fn = fn,
		.arg = arg,
	};
	int err = is_countable(whole) ? how_read(&tiles.split.how, how)
				      : -EINVAL;

	sley_check_fn(fn);
	return err ? err : tiles_run(&tiles);
}
