/* SPDX-License-Identifier: MIT */
/*
 * openmp_range.c - the peers libgomp and libomp in the rows about loops:
 * `parallel for`, with the default schedule.  There is no sort.
 */
#include "openmp.h"

#include "../problems/array.h"

#include <omp.h>

static void tiny(void)
{
#pragma omp parallel
	{
		uint64_t mine = 0;

#pragma omp for nowait
		for (int i = 0; i < TINY_NR; i++)
			mine++;
		tally_add(mine);
	}
}

void openmp_for_tiny(const struct measure *m)
{
	omp_set_num_threads(m->workers);
	array_measure_tiny(m, tiny);
}

static void saxpy(float *y, const float *x, size_t nr)
{
#pragma omp parallel for
	for (size_t i = 0; i < nr; i++)
		y[i] += SAXPY_FACTOR * x[i];
}

void openmp_for_saxpy(const struct measure *m)
{
	omp_set_num_threads(m->workers);
	array_measure_saxpy(m, saxpy);
}

static double sum(const double *x, size_t nr)
{
	double whole = 0;

#pragma omp parallel for reduction(+ : whole)
	for (size_t i = 0; i < nr; i++)
		whole += x[i];
	return whole;
}

void openmp_reduce(const struct measure *m)
{
	omp_set_num_threads(m->workers);
	array_measure_reduce(m, sum);
}

static void scan(int64_t *out, const int64_t *x, size_t nr)
{
	int64_t before = 0;

#pragma omp parallel for reduction(inscan, + : before)
	for (size_t i = 0; i < nr; i++) {
		before += x[i];
#pragma omp scan inclusive(before)
		out[i] = before;
	}
}

void openmp_scan(const struct measure *m)
{
	omp_set_num_threads(m->workers);
	array_measure_scan(m, scan);
}
