/* SPDX-License-Identifier: MIT */
/*
 * parallel_sort.c - the heaps, which only the worst inputs meet.
 */
#include "harness/test.h"
#include "parallel/sort.h"

#define NUMBER int32_t
#define KERNEL(name) name##_int32
#include "parallel/sort_kernel.h"

#define NUMBER uint64_t
#define KERNEL(name) name##_uint64
#include "parallel/sort_kernel.h"

static int compare_int32(const void *a, const void *b, void *arg)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	(void)arg;
	return (x > y) - (x < y);
}

/* By a step of @kind; the sum tells if one was lost. */
static void check_int32(const struct sort_kind *kind, bool heap, size_t nr)
{
	struct sort sort = { .size = 4, .compare = compare_int32 };
	int32_t a[300];
	int64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		a[i] = (int32_t)test_random(nr + nr / 2) - 20;
		sum += (int64_t)a[i] * a[i];
	}
	(heap ? kind->heap : kind->insertion)(&sort, (char *)a, nr);
	for (size_t i = 0; i < nr; i++) {
		CHECK(i == 0 || a[i - 1] <= a[i]);
		sum -= (int64_t)a[i] * a[i];
	}
	CHECK_EQ(sum, 0);
	CHECK_EQ(kind->run(&sort, (char *)a, nr), nr);
}

TEST(sort_heaps_and_insertions_sort)
{
	for (size_t nr = 1; nr <= 300; nr++) {
		check_int32(&kind_int32, true, nr);
		check_int32(&kind_int32, false, nr);
		check_int32(&sort_any, true, nr);
		check_int32(&sort_any, false, nr);
	}
}

TEST(sort_numbers_above_the_largest_signed_one)
{
	uint64_t a[] = { UINT64_MAX, 0, 1ull << 63, 5, INT64_MAX };
	const struct sort_kind *kind = &kind_uint64;

	kind->heap(NULL, (char *)a, 5);
	CHECK(a[0] == 0 && a[1] == 5 && a[2] == INT64_MAX);
	CHECK(a[3] == 1ull << 63 && a[4] == UINT64_MAX);
}

/* Both sides are smaller, and what is between them is in its place. */
static void check_cut(const struct sort_kind *kind, size_t nr, size_t kinds)
{
	struct sort sort = { .size = 4, .compare = compare_int32 };
	struct rand rand = { nr };
	struct sort_cut cut;
	int32_t a[1000];

	for (size_t i = 0; i < nr; i++)
		a[i] = (int32_t)test_random(kinds);
	cut = kind->cut(&sort, (char *)a, nr, &rand);
	CHECK_LT(cut.left, nr);
	CHECK_LE(cut.left, cut.right);
	CHECK_LE(cut.right, nr);
	CHECK(cut.left || cut.right);
	for (size_t i = 0; i < cut.right; i++) {
		for (size_t k = i < cut.left ? cut.left : cut.right; k < nr;
		     k++)
			CHECK_LE(a[i], a[k]);
	}
}

TEST(sort_cuts_make_both_sides_smaller)
{
	for (size_t nr = SORT_SHORT + 1; nr <= 1000; nr += 1 + nr / 50) {
		for (size_t kinds = 1; kinds < 3000; kinds *= 3) {
			check_cut(&kind_int32, nr, kinds);
			check_cut(&sort_any, nr, kinds);
		}
	}
}
