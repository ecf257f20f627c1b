/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - the inner loops of all participants, compiled once: no peer is faster
 * or slower because of a different compiler or a different -O.
 */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is the square safe from the queens in the rows before? */
bool kernel_safe(const signed char *columns, int row, int column);

/* c += a * b, squares of @n in matrices whose rows are @stride apart. */
void kernel_multiply(double *c, const double *a, const double *b, size_t n,
		     size_t stride);

/* y += a * x, from @begin to @end - 1. */
void kernel_saxpy(float *y, const float *x, float a, size_t begin, size_t end);

/* The sum of the elements from @begin to @end - 1. */
double kernel_sum(const double *x, size_t begin, size_t end);
int64_t kernel_sum_int64(const int64_t *x, size_t begin, size_t end);

/* Writes @before + x[begin], and so on; returns the last. */
int64_t kernel_scan_int64(int64_t *out, const int64_t *x, size_t begin,
			  size_t end, int64_t before);

/* x -> factor * x + plus, @nr times, one after the other. */
uint64_t kernel_lcg(uint64_t x, uint64_t nr);

/* The @factor and the @plus of @nr such operations in one. */
void kernel_lcg_jump(uint64_t nr, uint64_t *factor, uint64_t *plus);

#ifdef __cplusplus
}
#endif
#endif
