/* SPDX-License-Identifier: MIT */
/*
 * coarse.c - row `coarse`: the parent forks one half and computes the other half.
 * The parent does not call sley meanwhile, but a thief must find the child.
 */
#include "rows.h"

#include "../problems/coarse.h"

struct half {
	uint64_t steps, result;
};

static void compute_right(void *arg)
{
	struct half *half = arg;

	half->result = coarse_half(COARSE_RIGHT, half->steps);
}

static void root(void *arg)
{
	const struct measure *m = arg;
	struct half right = { .steps = coarse_steps(m) };
	uint64_t start = measure_now(), left;
	struct sley_forked child;

	sley_fork(&child, compute_right, &right);
	left = coarse_half(COARSE_LEFT, coarse_steps(m));
	sley_fork_join(&child);
	coarse_report(m, start, left, right.result);
}

void row_coarse(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
