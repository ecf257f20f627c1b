/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - the inner loops that everybody calls, compiled once: no peer is
 * faster or slower because of another compiler or another -O.
 */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Would a queen there be seen by none of those in the rows before? */
bool kernel_safe(const signed char *columns, int row, int column);

/* c += a * b, squares of @n in matrices whose rows are @stride apart. */
void kernel_multiply(double *c, const double *a, const double *b, size_t n,
		     size_t stride);

#ifdef __cplusplus
}
#endif
#endif
