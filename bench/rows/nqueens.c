/* SPDX-License-Identifier: MIT */
/*
 * nqueens.c - row `nqueens`: fork a child for each safe square, but call the last
 * child; typed and plain.
 */
#include "fork_forms.h"

#include "../problems/queens.h"

SLEY_FORKABLE(long, queens_inline, const struct queens_board *, board, int, row)

long queens_inline(const struct queens_board *board, int row)
{
	struct queens_inline_fork child[QUEENS_MAX];
	struct queens_board next[QUEENS_MAX];
	long ways = 0;
	int nr = 0, n = board->n;

	if (row == n)
		return 1;
	for (int c = 0; c < n; c++) {
		if (!queens_safe(board, row, c))
			continue;
		if (nr > 0)
			queens_inline_fork(&child[nr - 1], &next[nr - 1],
					   row + 1);
		queens_put(&next[nr++], board, row, c);
	}
	if (nr > 0)
		ways = queens_inline(&next[--nr], row + 1);
	while (nr-- > 0)
		ways += queens_inline_join(&child[nr]);
	return ways;
}

struct plain {
	struct queens_board board;
	int row;
	long ways;
};

static void plain_queens(void *arg)
{
	struct plain *self = arg;

	self->ways = queens_plain(&self->board, self->row);
}

long queens_plain(const struct queens_board *board, int row)
{
	struct sley_forked child[QUEENS_MAX];
	struct plain next[QUEENS_MAX];
	long ways = 0;
	int nr = 0, n = board->n;

	if (row == n)
		return 1;
	for (int c = 0; c < n; c++) {
		if (!queens_safe(board, row, c))
			continue;
		if (nr > 0)
			sley_fork(&child[nr - 1], plain_queens, &next[nr - 1]);
		queens_put(&next[nr].board, board, row, c);
		next[nr++].row = row + 1;
	}
	if (nr > 0)
		ways = queens_plain(&next[--nr].board, row + 1);
	while (nr-- > 0) {
		sley_fork_join(&child[nr]);
		ways += next[nr].ways;
	}
	return ways;
}

static void root(void *arg)
{
	const struct measure *m = arg;

	queens_measure(m, "ns", queens_inline);
	queens_measure(m, "plain_ns", queens_plain);
}

void row_nqueens(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
