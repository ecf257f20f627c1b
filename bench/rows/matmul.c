/* SPDX-License-Identifier: MIT */
/*
 * matmul.c - row `matmul`: four quarters in parallel, twice.
 */
#include "rows.h"

#include "../problems/matrix.h"

static void plain_multiply(void *arg)
{
	const struct matrix_job *job = arg;

	if (matrix_leaf(job))
		return;
	for (int phase = 0; phase < 2; phase++) {
		struct matrix_job quarter[4];
		struct sley_forked child[3];

		matrix_split(job, phase, quarter);
		for (int i = 0; i < 3; i++)
			sley_fork(&child[i], plain_multiply, &quarter[i]);
		plain_multiply(&quarter[3]);
		for (int i = 3; i-- > 0;)
			sley_fork_join(&child[i]);
	}
}

static void multiply(const struct matrix_job *job)
{
	plain_multiply((void *)job);
}

static void root(void *arg)
{
	const struct measure *m = arg;

	matrix_measure(m, "ms", multiply);
}

void row_matmul(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
