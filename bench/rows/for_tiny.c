/* SPDX-License-Identifier: MIT */
/*
 * for_tiny.c - row `for-tiny`: a loop that is over before a thief has woken up.
 */
#include "rows.h"

#include "../problems/array.h"

static void count(size_t begin, size_t end, void *arg)
{
	(void)arg;
	tally_add(end - begin);
}

static void loop(void)
{
	sley_for(0, TINY_NR, count, NULL);
}

static void root(void *arg)
{
	const struct measure *m = arg;

	array_measure_tiny(m, loop);
}

void row_for_tiny(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
