/* SPDX-License-Identifier: MIT */
/*
 * tbb_range.cpp - the peer oneTBB in the rows about loops: the algorithms of
 * oneTBB, with the default partitioners.
 */
#include "../problems/array.h"
#include "tbb.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>

#include <functional>

using range = oneapi::tbb::blocked_range<size_t>;

static void tiny(void)
{
	oneapi::tbb::parallel_for(range(0, TINY_NR),
				  [](const range &r) { tally_add(r.size()); });
}

void tbb_for_tiny(const struct measure *m)
{
	tbb_run(m, [&] { array_measure_tiny(m, tiny); });
}

static void saxpy(float *y, const float *x, size_t nr)
{
	oneapi::tbb::parallel_for(range(0, nr), [=](const range &r) {
		kernel_saxpy(y, x, SAXPY_FACTOR, r.begin(), r.end());
	});
}

void tbb_for_saxpy(const struct measure *m)
{
	tbb_run(m, [&] { array_measure_saxpy(m, saxpy); });
}

static double sum(const double *x, size_t nr)
{
	return oneapi::tbb::parallel_reduce(
		range(0, nr), 0.0,
		[=](const range &r, double before) {
			return before + kernel_sum(x, r.begin(), r.end());
		},
		std::plus<double>());
}

void tbb_reduce(const struct measure *m)
{
	tbb_run(m, [&] { array_measure_reduce(m, sum); });
}

static void scan(int64_t *out, const int64_t *x, size_t nr)
{
	oneapi::tbb::parallel_scan(
		range(0, nr), (int64_t)0,
		[=](const range &r, int64_t before, bool final) {
			if (!final)
				return before +
				       kernel_sum_int64(x, r.begin(), r.end());
			return kernel_scan_int64(out, x, r.begin(), r.end(),
						 before);
		},
		std::plus<int64_t>());
}

void tbb_scan(const struct measure *m)
{
	tbb_run(m, [&] { array_measure_scan(m, scan); });
}

static void sort(int64_t *x, size_t nr)
{
	oneapi::tbb::parallel_sort(x, x + nr);
}

void tbb_sort(const struct measure *m)
{
	tbb_run(m, [&] { array_measure_sort(m, "ns", sort); });
}
