/* SPDX-License-Identifier: MIT */
/*
 * tbb_fork.cpp - the peer oneTBB in the rows that fork and join.
 *
 * A task_group per node; the children are lambdas; the last child is called, as
 * in our rows.
 */
#include "../problems/coarse.h"
#include "../problems/fib.h"
#include "../problems/matrix.h"
#include "../problems/queens.h"
#include "../problems/skynet.h"
#include "../problems/uts.h"
#include "tbb.h"

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

using oneapi::tbb::task_group;

static long fib(long n)
{
	long left, right;

	if (n < 2)
		return n;
	task_group group; /* not before: a leaf needs no group */
	group.run([&] { left = fib(n - 1); });
	right = fib(n - 2);
	group.wait();
	return left + right;
}

void tbb_fib(const struct measure *m)
{
	tbb_run(m, [&] { fib_measure(m, "ns", FIB_TURNS_SLOW, fib); });
}

void tbb_coarse(const struct measure *m)
{
	uint64_t left, right, start = 0, steps = coarse_steps(m);

	tbb_run(m, [&] {
		start = measure_now();
		oneapi::tbb::parallel_invoke(
			[&] { left = coarse_half(COARSE_LEFT, steps); },
			[&] { right = coarse_half(COARSE_RIGHT, steps); });
		coarse_report(m, start, left, right);
	});
}

static long skynet(long first, long leaves)
{
	long each = leaves / SKYNET_WAYS, sum = 0, part[SKYNET_WAYS];
	const int last = SKYNET_WAYS - 1;

	if (leaves == 1)
		return first;
	task_group group;
	for (int i = 0; i < last; i++)
		group.run([&part, first, each, i] {
			part[i] = skynet(first + i * each, each);
		});
	part[last] = skynet(first + last * each, each);
	group.wait();
	for (int i = 0; i < SKYNET_WAYS; i++)
		sum += part[i];
	return sum;
}

void tbb_skynet(const struct measure *m)
{
	tbb_run(m, [&] { skynet_measure(m, "ns", SKYNET_TURNS_SLOW, skynet); });
}

static long queens(const struct queens_board *board, int row)
{
	struct queens_board next[QUEENS_MAX];
	long ways[QUEENS_MAX], sum = 0;
	int nr = 0, n = board->n;

	if (row == n)
		return 1;
	task_group group;
	for (int c = 0; c < n; c++) {
		if (!queens_safe(board, row, c))
			continue;
		if (nr > 0)
			group.run([&next, &ways, nr, row] {
				ways[nr - 1] = queens(&next[nr - 1], row + 1);
			});
		queens_put(&next[nr++], board, row, c);
	}
	if (nr > 0)
		ways[nr - 1] = queens(&next[nr - 1], row + 1);
	group.wait();
	while (nr-- > 0)
		sum += ways[nr];
	return sum;
}

void tbb_nqueens(const struct measure *m)
{
	tbb_run(m, [&] { queens_measure(m, "ns", queens); });
}

static long walk(uint64_t node)
{
	long nodes = 1, below[UTS_WAYS];
	const int last = UTS_WAYS - 1;

	if (!uts_inner(node))
		return 1;
	task_group group;
	for (int i = 0; i < last; i++)
		group.run([&below, node, i] {
			below[i] = walk(uts_child(node, i));
		});
	below[last] = walk(uts_child(node, last));
	group.wait();
	for (int i = 0; i < UTS_WAYS; i++)
		nodes += below[i];
	return nodes;
}

static long uts(int root)
{
	static long below[UTS_ROOT];
	long nodes = 1;
	task_group group;

	for (int i = 0; i < root; i++)
		group.run([i] { below[i] = walk(uts_child(UTS_SEED, i)); });
	group.wait();
	for (int i = 0; i < root; i++)
		nodes += below[i];
	return nodes;
}

void tbb_uts(const struct measure *m)
{
	tbb_run(m, [&] { uts_measure(m, "ns", UTS_TURNS_SLOW, uts); });
}

static void multiply(const struct matrix_job *job)
{
	if (matrix_leaf(job))
		return;
	for (int phase = 0; phase < 2; phase++) {
		struct matrix_job quarter[4];
		task_group group;

		matrix_split(job, phase, quarter);
		for (int i = 0; i < 3; i++)
			group.run([&quarter, i] { multiply(&quarter[i]); });
		multiply(&quarter[3]);
		group.wait();
	}
}

void tbb_matmul(const struct measure *m)
{
	tbb_run(m, [&] { matrix_measure(m, "ms", multiply); });
}
