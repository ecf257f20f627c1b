/* SPDX-License-Identifier: MIT */
/*
 * 12_barrier.c - tasks that compute in steps: no task begins a step before all
 * tasks have ended the last step.
 *
 * Each cell becomes the sum of its neighbours.  At the first meeting of a step, the
 * last of the four tasks swaps the two rows; the second meeting makes the others
 * wait for the swap.
 *
 *   cc 12_barrier.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

enum { CELLS = 4, STEPS = 10 };

static struct sley_barrier meeting = SLEY_BARRIER_INIT(CELLS);
static long row[2][CELLS];
static int now;

static void cell(void *arg)
{
	int i = (int)((long *)arg - row[0]), step;

	for (step = 0; step < STEPS; step++) {
		const long *old = row[now];
		long sum = old[(i + CELLS - 1) % CELLS] + old[(i + 1) % CELLS];

		row[!now][i] = sum;
		if (sley_barrier_wait(&meeting) == 1)
			now = !now;
		if (sley_barrier_wait(&meeting) < 0)
			return;
	}
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[CELLS];
	int i;

	(void)arg;
	row[0][0] = 1;
	for (i = 0; i < CELLS; i++)
		sley_spawn(&group, &task[i], cell, &row[0][i]);
	sley_join(&group);
	for (i = 0; i < CELLS; i++)
		printf("%ld ", row[now][i]);
	printf("after %d steps\n", STEPS);
}

int main(void)
{
	int err = sley_run(NULL, root, NULL);

	return err || row[now][0] != 1 << (STEPS - 1) || row[now][1] != 0;
}
