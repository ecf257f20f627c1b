/* SPDX-License-Identifier: MIT */
/*
 * openmp_fork.c - the peers libgomp and libomp in the rows that fork and join.
 *
 * `omp task` and `omp taskwait`; a thread of the team starts.  The last child is
 * called, as in our rows.
 */
#include "openmp.h"

#include "../problems/coarse.h"
#include "../problems/fib.h"
#include "../problems/matrix.h"
#include "../problems/queens.h"
#include "../problems/skynet.h"
#include "../problems/uts.h"

static long fib(long n)
{
	long left, right;

	if (n < 2)
		return n;
#pragma omp task shared(left)
	left = fib(n - 1);
	right = fib(n - 2);
#pragma omp taskwait
	return left + right;
}

void openmp_fib(const struct measure *m)
{
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	fib_measure(m, "ns", FIB_TURNS_SLOW, fib);
}

void openmp_coarse(const struct measure *m)
{
	uint64_t left, right, start, steps = coarse_steps(m);

#pragma omp parallel num_threads(m->workers)
#pragma omp single
	{
		start = measure_now();
#pragma omp task shared(right)
		right = coarse_half(COARSE_RIGHT, steps);
		left = coarse_half(COARSE_LEFT, steps);
#pragma omp taskwait
		coarse_report(m, start, left, right);
	}
}

static long skynet(long first, long leaves)
{
	long each = leaves / SKYNET_WAYS, sum = 0, part[SKYNET_WAYS];
	const int last = SKYNET_WAYS - 1;

	if (leaves == 1)
		return first;
	for (int i = 0; i < last; i++) {
#pragma omp task shared(part)
		part[i] = skynet(first + i * each, each);
	}
	part[last] = skynet(first + last * each, each);
#pragma omp taskwait
	for (int i = 0; i < SKYNET_WAYS; i++)
		sum += part[i];
	return sum;
}

void openmp_skynet(const struct measure *m)
{
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	skynet_measure(m, "ns", SKYNET_TURNS_SLOW, skynet);
}

static long queens(const struct queens_board *board, int row)
{
	struct queens_board next[QUEENS_MAX];
	long ways[QUEENS_MAX], sum = 0;
	int nr = 0, n = board->n;

	if (row == n)
		return 1;
	for (int c = 0; c < n; c++) {
		if (!queens_safe(board, row, c))
			continue;
		if (nr > 0) {
#pragma omp task shared(next, ways) firstprivate(nr, row)
			ways[nr - 1] = queens(&next[nr - 1], row + 1);
		}
		queens_put(&next[nr++], board, row, c);
	}
	if (nr > 0)
		ways[nr - 1] = queens(&next[nr - 1], row + 1);
#pragma omp taskwait
	while (nr-- > 0)
		sum += ways[nr];
	return sum;
}

void openmp_nqueens(const struct measure *m)
{
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	queens_measure(m, "ns", queens);
}

static long walk(uint64_t node)
{
	long nodes = 1, below[UTS_WAYS];
	const int last = UTS_WAYS - 1;

	if (!uts_inner(node))
		return 1;
	for (int i = 0; i < last; i++) {
#pragma omp task shared(below)
		below[i] = walk(uts_child(node, i));
	}
	below[last] = walk(uts_child(node, last));
#pragma omp taskwait
	for (int i = 0; i < UTS_WAYS; i++)
		nodes += below[i];
	return nodes;
}

static long uts(int root)
{
	static long below[UTS_ROOT];
	long nodes = 1;

	for (int i = 0; i < root; i++) {
#pragma omp task
		below[i] = walk(uts_child(UTS_SEED, i));
	}
#pragma omp taskwait
	for (int i = 0; i < root; i++)
		nodes += below[i];
	return nodes;
}

void openmp_uts(const struct measure *m)
{
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	uts_measure(m, "ns", UTS_TURNS_SLOW, uts);
}

static void multiply(const struct matrix_job *job)
{
	if (matrix_leaf(job))
		return;
	for (int phase = 0; phase < 2; phase++) {
		struct matrix_job quarter[4];

		matrix_split(job, phase, quarter);
		for (int i = 0; i < 3; i++) {
#pragma omp task shared(quarter)
			multiply(&quarter[i]);
		}
		multiply(&quarter[3]);
#pragma omp taskwait
	}
}

void openmp_matmul(const struct measure *m)
{
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	matrix_measure(m, "ms", multiply);
}
