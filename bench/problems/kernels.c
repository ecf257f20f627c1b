/* SPDX-License-Identifier: MIT */
/*
 * kernels.c - the inner loops of all participants.
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

void kernel_saxpy(float *y, const float *x, float a, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		y[i] += a * x[i];
}

double kernel_sum(const double *x, size_t begin, size_t end)
{
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += x[i];
	return sum;
}

int64_t kernel_sum_int64(const int64_t *x, size_t begin, size_t end)
{
	int64_t sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += x[i];
	return sum;
}

int64_t kernel_scan_int64(int64_t *out, const int64_t *x, size_t begin,
			  size_t end, int64_t before)
{
	for (size_t i = begin; i < end; i++) {
		before += x[i];
		out[i] = before;
	}
	return before;
}

/* Knuth's numbers. */
#define LCG_FACTOR 6364136223846793005u
#define LCG_PLUS 1442695040888963407u

uint64_t kernel_lcg(uint64_t x, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		x = x * LCG_FACTOR + LCG_PLUS;
	return x;
}

void kernel_lcg_jump(uint64_t nr, uint64_t *factor, uint64_t *plus)
{
	/* Twice as far with every bit of @nr. */
	uint64_t f = LCG_FACTOR, p = LCG_PLUS;

	*factor = 1;
	*plus = 0;
	for (; nr > 0; nr /= 2) {
		if (nr % 2) {
			*plus = *plus * f + p;
			*factor *= f;
		}
		p += p * f;
		f *= f;
	}
}
