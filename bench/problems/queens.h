/* SPDX-License-Identifier: MIT */
/*
 * queens.h - the problem `nqueens`: in how many ways can so many queens stand
 * on a board and not see each other?
 *
 * A task has a board with queens in the first rows.  The task looks at all squares
 * of the next row, and has a child for each safe square.  The task forks all
 * children but the last, which is called.  The last safe square is known only after
 * the row: so the task forks a child when the next safe square is found.
 */
#ifndef BENCH_QUEENS_H
#define BENCH_QUEENS_H

#include "../measure.h"
#include "kernels.h"

#define QUEENS_N 13
#define QUEENS_TASKS 4674889 /* beside the first */
#define QUEENS_WAYS 73712
#define QUEENS_QUICK 8
#define QUEENS_QUICK_TASKS 2056
#define QUEENS_QUICK_WAYS 92
#define QUEENS_MAX 15

struct queens_board {
	signed char n;
	signed char column[QUEENS_MAX]; /* of the queen in each row */
};

/* Is the square safe from the queens in the rows before? */
static inline bool queens_safe(const struct queens_board *board, int row,
			       int column)
{
	return kernel_safe(board->column, row, column);
}

/* The board with one more queen. */
static inline void queens_put(struct queens_board *next,
			      const struct queens_board *board, int row,
			      int column)
{
	*next = *board;
	next->column[row] = (signed char)column;
}

/* Without tasks. */
static __attribute__((noinline, unused)) long
queens_serial(const struct queens_board *board, int row)
{
	int n = board->n;
	long ways = 0;

	if (row == n)
		return 1;
	for (int c = 0; c < n; c++) {
		if (queens_safe(board, row, c)) {
			struct queens_board next;

			queens_put(&next, board, row, c);
			ways += queens_serial(&next, row + 1);
		}
	}
	return ways;
}

/* Times @queens and checks the answer.  The time is per task. */
static inline void
queens_measure(const struct measure *m, const char *metric,
	       long (*queens)(const struct queens_board *board, int row))
{
	int n = m->quick ? QUEENS_QUICK : QUEENS_N;
	struct queens_board empty = { (signed char)n, { 0 } };
	uint64_t start = measure_now();
	long ways = queens(&empty, 0);

	measure_report_each(metric, start,
			    m->quick ? QUEENS_QUICK_TASKS : QUEENS_TASKS);
	MEASURE_CHECK(m, ways == (m->quick ? QUEENS_QUICK_WAYS : QUEENS_WAYS));
}

#endif
