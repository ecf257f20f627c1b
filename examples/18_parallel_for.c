/* SPDX-License-Identifier: MIT */
/*
 * 18_parallel_for.c - loops and sums on all workers.
 *
 * The functions get a piece of the range at a time.  Ordered, the sum has the
 * same bits in every run, on every machine.
 *
 *   cc 18_parallel_for.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

enum { NR = 1000000 };

static double height[NR];
static bool good;

static void fill(size_t begin, size_t end, void *arg)
{
	(void)arg;
	for (size_t i = begin; i < end; i++) {
		double x = (double)i / NR;

		height[i] = 4 / (1 + x * x) / NR;
	}
}

static double add(size_t begin, size_t end, void *arg)
{
	const double *value = arg;
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += value[i];
	return sum;
}

static void compute(void *arg)
{
	double pi, again;

	(void)arg;
	sley_for(0, NR, fill, NULL);
	pi = sley_reduce_double(0, NR, add, height);
	printf("pi is nearly %.4f\n", pi);
	good = pi > 3.1415 && pi < 3.1417;
	for (int i = 0; i < 2; i++) {
		again = pi;
		if (sley_reduce_double_with(&pi, 0, NR, add, height,
					    SLEY_HOW(.ordered = true)))
			good = false;
	}
	good = good && pi == again; /* to the last bit */
}

int main(void)
{
	return sley_run(NULL, compute, NULL) || !good;
}
