/* SPDX-License-Identifier: MIT */
/*
 * scan_numbers.c - sums of all that came before, of integers and doubles: scans
 * like any other (scan.c), with loops over arrays as their functions.
 *
 * A block is added up in four sums, which do not wait for each other.  For
 * doubles that is part of the shape: the same four in every run.
 */
#include <sley/scan.h>

#include "base/compiler.h"

/* ---- integers: unsigned, where adding wraps around ------------------------ */

struct integers {
	int64_t *out;
	const int64_t *in;
};

static void init_int64(void *value, void *arg)
{
	(void)arg;
	*(uint64_t *)value = 0;
}

static void add_int64(void *value, size_t begin, size_t end, void *arg)
{
	const int64_t *in = ((const struct integers *)arg)->in;
	uint64_t a = 0, b = 0, c = 0, d = 0;
	size_t i = begin;

	for (; end - i >= 4; i += 4) {
		a += (uint64_t)in[i];
		b += (uint64_t)in[i + 1];
		c += (uint64_t)in[i + 2];
		d += (uint64_t)in[i + 3];
	}
	for (; i < end; i++)
		a += (uint64_t)in[i];
	*(uint64_t *)value += a + b + c + d;
}

static void combine_int64(void *value, const void *right, void *arg)
{
	(void)arg;
	*(uint64_t *)value += *(const uint64_t *)right;
}

static const struct sley_reduction sum_int64 = {
	.size = sizeof(int64_t),
	.init = init_int64,
	.add = add_int64,
	.combine = combine_int64,
};

static void write_int64(void *before, size_t begin, size_t end, void *arg)
{
	const struct integers *n = arg;
	const int64_t *in = n->in;
	int64_t *out = n->out;
	uint64_t sum = *(uint64_t *)before;

	for (size_t i = begin; i < end; i++) {
		sum += (uint64_t)in[i];
		out[i] = (int64_t)sum;
	}
	*(uint64_t *)before = sum;
}

static void write_before_int64(void *before, size_t begin, size_t end,
			       void *arg)
{
	const struct integers *n = arg;
	const int64_t *in = n->in;
	int64_t *out = n->out;
	uint64_t sum = *(uint64_t *)before;

	for (size_t i = begin; i < end; i++) {
		uint64_t next = sum + (uint64_t)in[i];

		out[i] = (int64_t)sum;
		sum = next;
	}
	*(uint64_t *)before = sum;
}

void sley_scan_int64(int64_t *out, const int64_t *in, size_t nr)
{
	struct integers n = { out, in };

	sley_scan(0, nr, &sum_int64, write_int64, &n);
}

int sley_scan_int64_with(int64_t *out, const int64_t *in, size_t nr,
			 const struct sley_how *how)
{
	struct integers n = { out, in };

	return sley_scan_with(0, nr, &sum_int64, write_int64, &n, how);
}

void sley_scan_before_int64(int64_t *out, const int64_t *in, size_t nr)
{
	struct integers n = { out, in };

	sley_scan(0, nr, &sum_int64, write_before_int64, &n);
}

int sley_scan_before_int64_with(int64_t *out, const int64_t *in, size_t nr,
				const struct sley_how *how)
{
	struct integers n = { out, in };

	return sley_scan_with(0, nr, &sum_int64, write_before_int64, &n, how);
}

/* ---- doubles ---------------------------------------------------------------- */

struct doubles {
	double *out;
	const double *in;
};

static void init_double(void *value, void *arg)
{
	(void)arg;
	*(double *)value = 0;
}

static void add_double(void *value, size_t begin, size_t end, void *arg)
{
	const double *in = ((const struct doubles *)arg)->in;
	double a = 0, b = 0, c = 0, d = 0;
	size_t i = begin;

	for (; end - i >= 4; i += 4) {
		a += in[i];
		b += in[i + 1];
		c += in[i + 2];
		d += in[i + 3];
	}
	for (; i < end; i++)
		a += in[i];
	*(double *)value += (a + b) + (c + d);
}

static void combine_double(void *value, const void *right, void *arg)
{
	(void)arg;
	*(double *)value += *(const double *)right;
}

static const struct sley_reduction sum_double = {
	.size = sizeof(double),
	.init = init_double,
	.add = add_double,
	.combine = combine_double,
};

static void write_double(void *before, size_t begin, size_t end, void *arg)
{
	const struct doubles *n = arg;
	const double *in = n->in;
	double *out = n->out;
	double sum = *(double *)before;

	for (size_t i = begin; i < end; i++) {
		sum += in[i];
		out[i] = sum;
	}
	*(double *)before = sum;
}

static void write_before_double(void *before, size_t begin, size_t end,
				void *arg)
{
	const struct doubles *n = arg;
	const double *in = n->in;
	double *out = n->out;
	double sum = *(double *)before;

	for (size_t i = begin; i < end; i++) {
		double next = sum + in[i];

		out[i] = sum;
		sum = next;
	}
	*(double *)before = sum;
}

void sley_scan_double(double *out, const double *in, size_t nr)
{
	struct doubles n = { out, in };

	sley_scan(0, nr, &sum_double, write_double, &n);
}

int sley_scan_double_with(double *out, const double *in, size_t nr,
			  const struct sley_how *how)
{
	struct doubles n = { out, in };

	return sley_scan_with(0, nr, &sum_double, write_double, &n, how);
}

void sley_scan_before_double(double *out, const double *in, size_t nr)
{
	struct doubles n = { out, in };

	sley_scan(0, nr, &sum_double, write_before_double, &n);
}

int sley_scan_before_double_with(double *out, const double *in, size_t nr,
				 const struct sley_how *how)
{
	struct doubles n = { out, in };

	return sley_scan_with(0, nr, &sum_double, write_before_double, &n, how);
}
