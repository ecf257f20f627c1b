/* SPDX-License-Identifier: MIT */
/*
 * sort_inputs.h - what is sorted, and what must come out.
 */
#ifndef SLEY_TESTS_CONFORMANCE_TASK_SORT_INPUTS_H
#define SLEY_TESTS_CONFORMANCE_TASK_SORT_INPUTS_H

#include <stdlib.h>

#include "conformance/bound.h"

static inline int64_t random_at(size_t i, size_t nr)
{
	(void)i;
	(void)nr;
	return (int64_t)test_random(UINT64_MAX);
}

static inline int64_t sorted_at(size_t i, size_t nr)
{
	(void)nr;
	return (int64_t)i - 50;
}

static inline int64_t reverse_at(size_t i, size_t nr)
{
	return (int64_t)(nr - i) - 50;
}

static inline int64_t equal_at(size_t i, size_t nr)
{
	(void)i;
	(void)nr;
	return 7;
}

static inline int64_t organ_pipe_at(size_t i, size_t nr)
{
	return (int64_t)(i < nr / 2 ? i : nr - i);
}

static inline int64_t few_at(size_t i, size_t nr)
{
	(void)i;
	(void)nr;
	return (int64_t)test_random(4) - 2;
}

static inline int64_t saw_at(size_t i, size_t nr)
{
	(void)nr;
	return (int64_t)(i % 37);
}

static inline int64_t almost_sorted_at(size_t i, size_t nr)
{
	(void)nr;
	return (int64_t)(i ^ (test_random(64) ? 0 : 64));
}

static inline int64_t one_stray_at(size_t i, size_t nr)
{
	return i == nr / 3 ? -1 : 1;
}

/* Makes the median of first, middle and last a bad one, each time. */
static inline int64_t killer_at(size_t i, size_t nr)
{
	size_t half = nr / 2;

	if (i < half)
		return (int64_t)(i % 2 ? half + i : i + 1);
	return (int64_t)(2 * (i - half) + 2);
}

typedef int64_t input_fn(size_t i, size_t nr);

static input_fn *const inputs[] = {
	random_at, sorted_at, reverse_at,       equal_at,     organ_pipe_at,
	few_at,    saw_at,    almost_sorted_at, one_stray_at, killer_at,
};

static inline void fill(int64_t *a, size_t nr, input_fn *input)
{
	for (size_t i = 0; i < nr; i++)
		a[i] = input(i, nr);
}

static inline int compare_int64(const void *a, const void *b, void *arg)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	(void)arg;
	return (x > y) - (x < y);
}

static inline int compare_plain(const void *a, const void *b)
{
	return compare_int64(a, b, NULL);
}

static inline void check_permutation(int64_t *a, const int64_t *in, size_t nr)
{
	int64_t *want = malloc(nr * sizeof(*want));

	memcpy(want, in, nr * sizeof(*want));
	qsort(want, nr, sizeof(*want), compare_plain);
	qsort(a, nr, sizeof(*a), compare_plain);
	CHECK_EQ(memcmp(a, want, nr * sizeof(*a)), 0);
	free(want);
}

static inline bool is_sorted(const int64_t *a, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (a[i - 1] > a[i])
			return false;
	}
	return true;
}

#endif
