/* SPDX-License-Identifier: MIT */
/*
 * scan.c - row `scan`: the running sums of an array.
 */
#include "rows.h"

#include "../problems/array.h"

static void root(void *arg)
{
	const struct measure *m = arg;

	array_measure_scan(m, sley_scan_int64);
}

void row_scan(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
