/* SPDX-License-Identifier: MIT */
/*
 * reduce.c - row `reduce`: the sum of an array.
 */
#include "rows.h"

#include "../problems/array.h"

static double piece(size_t begin, size_t end, void *arg)
{
	const double *x = arg;

	return kernel_sum(x, begin, end);
}

static double sum(const double *x, size_t nr)
{
	return sley_reduce_double(0, nr, piece, (void *)x);
}

static void root(void *arg)
{
	const struct measure *m = arg;

	array_measure_reduce(m, sum);
}

void row_reduce(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
