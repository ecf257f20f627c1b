/* SPDX-License-Identifier: MIT */
/*
 * for_saxpy.c - row `for-saxpy`: a loop over two arrays, bound by memory.
 */
#include "rows.h"

#include "../problems/array.h"

struct arrays {
	float *y;
	const float *x;
};

static void piece(size_t begin, size_t end, void *arg)
{
	struct arrays *a = arg;

	kernel_saxpy(a->y, a->x, SAXPY_FACTOR, begin, end);
}

static void saxpy(float *y, const float *x, size_t nr)
{
	struct arrays a = { y, x };

	sley_for(0, nr, piece, &a);
}

static void root(void *arg)
{
	const struct measure *m = arg;

	array_measure_saxpy(m, saxpy);
}

void row_for_saxpy(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
