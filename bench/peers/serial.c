/* SPDX-License-Identifier: MIT */
/*
 * serial.c - the participant `serial`: the same problems in plain C, on one
 * thread, with calls in place of forks.  Compiled with the flags of our rows.
 */
#include "../problems/array.h"
#include "../problems/coarse.h"
#include "../problems/fib.h"
#include "../problems/matrix.h"
#include "../problems/queens.h"
#include "../problems/skynet.h"
#include "../problems/uts.h"
#include "../tally.h"

static void run_fib(const struct measure *m)
{
	fib_measure(m, "ns", FIB_TURNS, fib_serial);
}

static void run_coarse(const struct measure *m)
{
	uint64_t start = measure_now(), steps = coarse_steps(m);
	uint64_t left = coarse_half(COARSE_LEFT, steps);

	coarse_report(m, start, left, coarse_half(COARSE_RIGHT, steps));
}

static __attribute__((noinline)) long skynet(long first, long leaves)
{
	long each = leaves / SKYNET_WAYS, sum = 0;

	if (leaves == 1)
		return first;
	for (int i = 0; i < SKYNET_WAYS; i++)
		sum += skynet(first + i * each, each);
	return sum;
}

static void run_skynet(const struct measure *m)
{
	skynet_measure(m, "ns", SKYNET_TURNS, skynet);
}

static void run_nqueens(const struct measure *m)
{
	queens_measure(m, "ns", queens_serial);
}

static __attribute__((noinline)) long walk(uint64_t node)
{
	long nodes = 1;

	if (!uts_inner(node))
		return 1;
	for (int i = 0; i < UTS_WAYS; i++)
		nodes += walk(uts_child(node, i));
	return nodes;
}

static __attribute__((noinline)) long uts(int root)
{
	long nodes = 1;

	for (int i = 0; i < root; i++)
		nodes += walk(uts_child(UTS_SEED, i));
	return nodes;
}

static void run_uts(const struct measure *m)
{
	uts_measure(m, "ns", UTS_TURNS, uts);
}

static __attribute__((noinline)) void empty(void)
{
	tally_one();
}

static void run_spawn_batch(const struct measure *m)
{
	uint64_t nr = measure_size(m, SPAWN_BATCHES) * SPAWN_BATCH;
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++)
		empty();
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, tally_sum() == nr);
}

static void multiply(const struct matrix_job *job)
{
	if (matrix_leaf(job))
		return;
	for (int phase = 0; phase < 2; phase++) {
		struct matrix_job quarter[4];

		matrix_split(job, phase, quarter);
		for (int i = 0; i < 4; i++)
			multiply(&quarter[i]);
	}
}

static void run_matmul(const struct measure *m)
{
	matrix_measure(m, "ms", multiply);
}

static __attribute__((noinline)) void tiny(void)
{
	tally_add(TINY_NR);
}

static void run_for_tiny(const struct measure *m)
{
	array_measure_tiny(m, tiny);
}

static void saxpy(float *y, const float *x, size_t nr)
{
	kernel_saxpy(y, x, SAXPY_FACTOR, 0, nr);
}

static void run_for_saxpy(const struct measure *m)
{
	array_measure_saxpy(m, saxpy);
}

static double sum(const double *x, size_t nr)
{
	return kernel_sum(x, 0, nr);
}

static void run_reduce(const struct measure *m)
{
	array_measure_reduce(m, sum);
}

static void scan(int64_t *out, const int64_t *x, size_t nr)
{
	kernel_scan_int64(out, x, 0, nr, 0);
}

static void run_scan(const struct measure *m)
{
	array_measure_scan(m, scan);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void sort(int64_t *x, size_t nr)
{
	qsort(x, nr, sizeof(x[0]), compare);
}

static void run_sort(const struct measure *m)
{
	array_measure_sort(m, "ns", sort);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "fib", run_fib },
		{ "coarse", run_coarse },
		{ "skynet", run_skynet },
		{ "nqueens", run_nqueens },
		{ "uts", run_uts },
		{ "spawn-batch", run_spawn_batch },
		{ "matmul", run_matmul },
		{ "for-tiny", run_for_tiny },
		{ "for-saxpy", run_for_saxpy },
		{ "reduce", run_reduce },
		{ "scan", run_scan },
		{ "sort", run_sort },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
