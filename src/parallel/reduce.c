/* SPDX-License-Identifier: MIT */
/*
 * reduce.c - sums over a range.
 *
 * Sums of doubles and integers are reductions like any other: the cost is a call
 * for each piece.
 */
#include "base/assert.h"
#include "parallel/split.h"

#include <errno.h>

/* ---- any kind of value ---------------------------------------------------------- */

static void reduce_piece(struct split *split, size_t begin, size_t end,
			 void *value)
{
	split->sum->add(value, begin, end, split->arg);
}

static bool size_allowed(const struct sley_reduction *sum)
{
	return sum->size >= 1 && sum->size <= SLEY_REDUCTION_MAX;
}

void sley_reduce(void *result, size_t begin, size_t end,
		 const struct sley_reduction *sum, void *arg)
{
	struct split split = { .piece = reduce_piece, .sum = sum, .arg = arg };

	sley_check_fn(sum->init && sum->add && sum->combine);
	sley_check(size_allowed(sum),
		   "a value of a reduction has 1 to SLEY_REDUCTION_MAX bytes");
	how_default(&split.how);
	sum->init(result, arg);
	(void)!split_run(&split, begin, end, result);
}

int sley_reduce_with(void *result, size_t begin, size_t end,
		     const struct sley_reduction *sum, void *arg,
		     const struct sley_how *how)
{
	struct split split = { .piece = reduce_piece, .sum = sum, .arg = arg };
	int err = size_allowed(sum) ? how_read(&split.how, how) : -EINVAL;

	sley_check_fn(sum->init && sum->add && sum->combine);
	if (err)
		return err;
	sum->init(result, arg);
	return split_run(&split, begin, end, result);
}

/* ---- doubles --------------------------------------------------------------------- */

struct sum_double {
	sley_sum_double_fn *fn;
	void *arg;
};

static void init_double(void *value, void *arg)
{
	(void)arg;
	*(double *)value = 0;
}

static void add_double(void *value, size_t begin, size_t end, void *arg)
{
	const struct sum_double *sum = arg;

	*(double *)value += sum->fn(begin, end, sum->arg);
}

static void combine_double(void *value, const void *right, void *arg)
{
	(void)arg;
	*(double *)value += *(const double *)right;
}

static const struct sley_reduction doubles = {
	.size = sizeof(double),
	.init = init_double,
	.add = add_double,
	.combine = combine_double,
};

double sley_reduce_double(size_t begin, size_t end, sley_sum_double_fn *fn,
			  void *arg)
{
	struct sum_double sum = { fn, arg };
	double result;

	sley_check_fn(fn);
	sley_reduce(&result, begin, end, &doubles, &sum);
	return result;
}

int sley_reduce_double_with(double *result, size_t begin, size_t end,
			    sley_sum_double_fn *fn, void *arg,
			    const struct sley_how *how)
{
	struct sum_double sum = { fn, arg };

	sley_check_fn(fn);
	return sley_reduce_with(result, begin, end, &doubles, &sum, how);
}

/* ---- integers --------------------------------------------------------------------- */

struct sum_int64 {
	sley_sum_int64_fn *fn;
	void *arg;
};

/* Unsigned, where adding wraps around. */
static void init_int64(void *value, void *arg)
{
	(void)arg;
	*(uint64_t *)value = 0;
}

static void add_int64(void *value, size_t begin, size_t end, void *arg)
{
	const struct sum_int64 *sum = arg;

	*(uint64_t *)value += (uint64_t)sum->fn(begin, end, sum->arg);
}

static void combine_int64(void *value, const void *right, void *arg)
{
	(void)arg;
	*(uint64_t *)value += *(const uint64_t *)right;
}

static const struct sley_reduction integers = {
	.size = sizeof(int64_t),
	.init = init_int64,
	.add = add_int64,
	.combine = combine_int64,
};

int64_t sley_reduce_int64(size_t begin, size_t end, sley_sum_int64_fn *fn,
			  void *arg)
{
	struct sum_int64 sum = { fn, arg };
	int64_t result;

	sley_check_fn(fn);
	sley_reduce(&result, begin, end, &integers, &sum);
	return result;
}

int sley_reduce_int64_with(int64_t *result, size_t begin, size_t end,
			   sley_sum_int64_fn *fn, void *arg,
			   const struct sley_how *how)
{
	struct sum_int64 sum = { fn, arg };

	sley_check_fn(fn);
	return sley_reduce_with(result, begin, end, &integers, &sum, how);
}
