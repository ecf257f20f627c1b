/* SPDX-License-Identifier: MIT */
/*
 * array.h - the problems about ten million elements: `for-saxpy`, `reduce`,
 * `scan` and `sort`; and `for-tiny`, which is about a thousand.
 *
 * The time is per element, but per loop for `for-tiny`.  Summed numbers are small
 * and whole: the result is the same in any order.
 */
#ifndef BENCH_ARRAY_H
#define BENCH_ARRAY_H

#include "../measure.h"
#include "../tally.h"
#include "kernels.h"
#include "splitmix.h"

#define ARRAY_NR 10000000
#define ARRAY_QUICK 10000
#define ARRAY_TURNS 10
#define TINY_NR 1000
#define TINY_TURNS 20000
#define SAXPY_FACTOR 2.0f

static inline size_t array_nr(const struct measure *m)
{
	return m->quick ? ARRAY_QUICK : ARRAY_NR;
}

/* @loop runs over TINY_NR elements and counts the elements in the tally. */
static inline void array_measure_tiny(const struct measure *m,
				      void (*loop)(void))
{
	uint64_t turns = measure_size(m, TINY_TURNS), warm = turns / 10, start;

	for (uint64_t i = 0; i < warm; i++)
		loop();
	start = measure_now();
	for (uint64_t i = 0; i < turns; i++)
		loop();
	measure_report_each("ns", start, turns);
	MEASURE_CHECK(m, tally_sum() == (warm + turns) * TINY_NR);
}

static inline void array_measure_saxpy(const struct measure *m,
				       void (*saxpy)(float *y, const float *x,
						     size_t nr))
{
	size_t nr = array_nr(m), right = 0;
	float *x = (float *)malloc(nr * sizeof(float));
	float *y = (float *)malloc(nr * sizeof(float));
	uint64_t start;

	for (size_t i = 0; i < nr; i++) {
		x[i] = (float)(i % 16);
		y[i] = 1;
	}
	start = measure_now();
	for (int i = 0; i < ARRAY_TURNS; i++)
		saxpy(y, x, nr);
	measure_report_each("ns", start, ARRAY_TURNS * nr);
	for (size_t i = 0; i < nr; i++)
		right += y[i] == 1 + ARRAY_TURNS * SAXPY_FACTOR * x[i];
	MEASURE_CHECK(m, right == nr);
	free(x);
	free(y);
}

static inline void array_measure_reduce(const struct measure *m,
					double (*sum)(const double *x,
						      size_t nr))
{
	size_t nr = array_nr(m);
	double *x = (double *)malloc(nr * sizeof(double)), right = 0;
	uint64_t start;

	for (size_t i = 0; i < nr; i++) {
		x[i] = (double)(i % 16);
		right += x[i];
	}
	start = measure_now();
	for (int i = 0; i < ARRAY_TURNS; i++)
		MEASURE_CHECK(m, sum(x, nr) == right);
	measure_report_each("ns", start, ARRAY_TURNS * nr);
	free(x);
}

static inline void array_measure_scan(const struct measure *m,
				      void (*scan)(int64_t *out,
						   const int64_t *x, size_t nr))
{
	size_t nr = array_nr(m), right = 0;
	int64_t *x = (int64_t *)malloc(nr * sizeof(int64_t)), sum = 0;
	int64_t *out = (int64_t *)malloc(nr * sizeof(int64_t));
	uint64_t start;

	for (size_t i = 0; i < nr; i++) {
		x[i] = (int64_t)(i % 16);
		out[i] = -1;
	}
	start = measure_now();
	for (int i = 0; i < ARRAY_TURNS; i++)
		scan(out, x, nr);
	measure_report_each("ns", start, ARRAY_TURNS * nr);
	for (size_t i = 0; i < nr; i++)
		right += out[i] == (sum += x[i]);
	MEASURE_CHECK(m, right == nr);
	free(x);
	free(out);
}

static inline void array_measure_sort(const struct measure *m,
				      const char *metric,
				      void (*sort)(int64_t *x, size_t nr))
{
	size_t nr = array_nr(m), right = 1;
	int64_t *x = (int64_t *)malloc(nr * sizeof(int64_t));
	uint64_t before = 0, after = 0, start;

	for (size_t i = 0; i < nr; i++) {
		x[i] = (int64_t)splitmix(i);
		before += splitmix((uint64_t)x[i]);
	}
	start = measure_now();
	sort(x, nr);
	measure_report_each(metric, start, nr);
	for (size_t i = 0; i < nr; i++)
		after += splitmix((uint64_t)x[i]);
	for (size_t i = 1; i < nr; i++)
		right += x[i - 1] <= x[i];
	MEASURE_CHECK(m, right == nr);
	MEASURE_CHECK(m, before == after); /* the same elements */
	free(x);
}

#endif
