/* SPDX-License-Identifier: MIT */
/*
 * matrix.h - the problem `matmul`: the product of two square matrices, by
 * quarters.
 *
 * A product is eight products of quarters: four products that write to four
 * different quarters and may run in parallel, and then four more.  Small squares
 * are multiplied by kernel_multiply(), which is compiled once, for all peers.
 */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include "../measure.h"
#include "kernels.h"

#define MATRIX_N 1024
#define MATRIX_QUICK 128
#define MATRIX_LEAF 64

/* c += a * b, squares of n in matrices whose rows are @stride apart. */
struct matrix_job {
	double *c;
	const double *a, *b;
	size_t n, stride;
};

/* The four products of quarters of half @phase, 0 or 1. */
static inline void matrix_split(const struct matrix_job *job, int phase,
				struct matrix_job quarter[4])
{
	size_t half = job->n / 2, right = half, down = half * job->stride;

	for (int i = 0; i < 4; i++) {
		size_t row = i / 2 ? down : 0, column = i % 2 ? right : 0;

		quarter[i].c = job->c + row + column;
		quarter[i].a = job->a + row + (phase ? right : 0);
		quarter[i].b = job->b + (phase ? down : 0) + column;
		quarter[i].n = half;
		quarter[i].stride = job->stride;
	}
}

/* True: the job was small, and has been done. */
static inline bool matrix_leaf(const struct matrix_job *job)
{
	if (job->n > MATRIX_LEAF)
		return false;
	kernel_multiply(job->c, job->a, job->b, job->n, job->stride);
	return true;
}

static inline double *matrix_make(size_t n, uint64_t step)
{
	double *matrix = (double *)malloc(n * n * sizeof(double));

	for (size_t i = 0; i < n * n; i++)
		matrix[i] = (double)(i * step % 7);
	return matrix;
}

/* Element @i, @j of a * b, one by one.  The numbers are small: no rounding. */
static inline double matrix_element(const struct matrix_job *job, size_t i,
				    size_t j)
{
	double sum = 0;

	for (size_t k = 0; k < job->n; k++)
		sum += job->a[i * job->n + k] * job->b[k * job->n + j];
	return sum;
}

/* Times @multiply and checks some elements in all parts of the product. */
static inline void matrix_measure(const struct measure *m, const char *metric,
				  void (*multiply)(const struct matrix_job *))
{
	size_t n = m->quick ? MATRIX_QUICK : MATRIX_N;
	struct matrix_job job = { matrix_make(n, 0), matrix_make(n, 3),
				  matrix_make(n, 5), n, n };
	uint64_t start = measure_now();

	multiply(&job);
	measure_report(metric, (double)(measure_now() - start) / 1e6);
	for (size_t i = 0; i < n; i += 31)
		MEASURE_CHECK(m, job.c[i * n + i * 7 % n] ==
					 matrix_element(&job, i, i * 7 % n));
	free(job.c);
	free((void *)job.a);
	free((void *)job.b);
}

#endif
