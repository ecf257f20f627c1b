/* SPDX-License-Identifier: MIT */
/*
 * kernels.c - the inner loops that everybody calls.
 */
#include "kernels.h"

bool kernel_safe(const signed char *columns, int row, int column)
{
	for (int r = 0; r < row; r++) {
		int aside = columns[r] - column;

		if (aside == 0 || aside == row - r || aside == r - row)
			return false;
	}
	return true;
}

void kernel_multiply(double *c, const double *a, const double *b, size_t n,
		     size_t stride)
{
	for (size_t i = 0; i < n; i++) {
		double *restrict row = c + i * stride;

		for (size_t k = 0; k < n; k++) {
			const double *restrict other = b + k * stride;
			double factor = a[i * stride + k];

			for (size_t j = 0; j < n; j++)
				row[j] += factor * other[j];
		}
	}
}
