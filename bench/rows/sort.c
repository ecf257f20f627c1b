/* SPDX-License-Identifier: MIT */
/*
 * sort.c - row `sort`: ten million integers, as numbers and by a comparison.
 */
#include "rows.h"

#include "../problems/array.h"

static int compare(const void *a, const void *b, void *arg)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	(void)arg;
	return (x > y) - (x < y);
}

static void sort_generic(int64_t *x, size_t nr)
{
	sley_sort(x, nr, sizeof(x[0]), compare, NULL);
}

static void root(void *arg)
{
	const struct measure *m = arg;

	array_measure_sort(m, "ns", sley_sort_int64);
	array_measure_sort(m, "generic_ns", sort_generic);
}

void row_sort(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
