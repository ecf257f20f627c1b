/* SPDX-License-Identifier: MIT */
/*
 * reduce.c - sums over a range.
 */
#include "conformance/everywhere.h"

enum { MOST = 50000 };

static double value[MOST];

/* Of very different sizes: each order of adding them gives other bits. */
static void make_values(void)
{
	double x = 0.1;

	for (size_t i = 0; i < MOST; i++) {
		x = 3.9 * x * (1 - x);
		value[i] = (x - 0.5) * (i % 7 ? 1 : 1e9);
	}
}

static double sum_values(size_t begin, size_t end, void *arg)
{
	double sum = 0;

	(void)arg;
	CHECK_LT(begin, end);
	for (size_t i = begin; i < end; i++)
		sum += value[i];
	return sum;
}

static int64_t sum_indices(size_t begin, size_t end, void *arg)
{
	int64_t sum = 0;

	(void)arg;
	for (size_t i = begin; i < end; i++)
		sum += (int64_t)i;
	return sum;
}

static void check_sums(void *arg)
{
	static const size_t nr[] = { 0, 1, 2, 63, 64, 1000, 10000, MOST };

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(nr); i++) {
		int64_t n = (int64_t)nr[i], sum = -1;

		CHECK_EQ(sley_reduce_int64(0, nr[i], sum_indices, NULL),
			 n * (n - 1) / 2);
		CHECK_EQ(sley_reduce_int64_with(&sum, 0, nr[i], sum_indices,
						NULL, SLEY_HOW(.grain = 3)),
			 0);
		CHECK_EQ(sum, n * (n - 1) / 2);
		CHECK_EQ(sley_reduce_int64_with(&sum, 0, nr[i], sum_indices,
						NULL, SLEY_HOW(.priority = 4)),
			 0);
		CHECK_EQ(sum, n * (n - 1) / 2);
	}
	CHECK_EQ(sley_reduce_int64(5, 2, sum_indices, NULL), 0);
}

TEST_WORKERS(reduce_sums_are_right)
{
	from_everywhere(check_sums, NULL);
}

TEST(reduce_with_any_number_of_workers)
{
	with_many_workers(check_sums, NULL);
}

static int64_t huge(size_t begin, size_t end, void *arg)
{
	(void)arg;
	return (int64_t)((uint64_t)(end - begin) << 61);
}

TEST(reduce_integers_wrap_around)
{
	CHECK_EQ(sley_reduce_int64(0, 17, huge, NULL), (int64_t)1 << 61);
}

static void check_doubles(void *arg)
{
	double serial = sum_values(0, MOST, NULL), sum;

	(void)arg;
	sum = sley_reduce_double(0, MOST, sum_values, NULL) - serial;
	CHECK(sum < 1 && sum > -1);
	CHECK(sley_reduce_double(4, 4, sum_values, NULL) == 0);
}

TEST_WORKERS(reduce_doubles_nearly_as_a_loop_does)
{
	make_values();
	from_everywhere(check_doubles, NULL);
}

/* ---- the same bits ------------------------------------------------------------ */

struct bits {
	size_t nr, grain;
	bool known;
	double first;
};

static void compare_bits(void *arg)
{
	struct bits *bits = arg;
	double sum;

	for (int i = 0; i < 5; i++) {
		CHECK_EQ(sley_reduce_double_with(
				 &sum, 0, bits->nr, sum_values, NULL,
				 SLEY_HOW(.ordered = true, .grain = bits->grain,
					  .priority = i % 2)),
			 0);
		if (!bits->known)
			bits->first = sum;
		bits->known = true;
		CHECK(memcmp(&sum, &bits->first, sizeof(sum)) == 0);
	}
}

TEST(reduce_ordered_has_the_same_bits_with_any_number_of_workers)
{
	static const size_t nr[] = { 10, 1000, MOST };
	struct bits bits;

	make_values();
	for (size_t i = 0; i < 2 * ARRAY_SIZE(nr); i++) {
		bits = (struct bits){ nr[i / 2], i % 2 ? 17 : 0, false, 0 };
		with_many_workers(compare_bits, &bits);
	}
}

TEST_WORKERS(reduce_ordered_has_the_same_bits_whoever_calls)
{
	struct bits bits = { MOST, 0, false, 0 };

	make_values();
	compare_bits(&bits);
	from_everywhere(compare_bits, &bits);
}

/* ---- any kind of value ---------------------------------------------------------- */

/* Joining ranges is associative, and anything but commutative. */
struct span {
	size_t begin, end;
	char fill[SLEY_REDUCTION_MAX - 2 * sizeof(size_t)];
};

static void span_init(void *of, void *arg)
{
	struct span *span = of;

	(void)arg;
	CHECK_EQ((uintptr_t)of % 16, 0);
	span->begin = SIZE_MAX;
	memset(span->fill, 'x', sizeof(span->fill));
}

static void span_join(struct span *span, size_t begin, size_t end)
{
	if (span->begin == SIZE_MAX)
		span->begin = begin;
	else
		CHECK_EQ(span->end, begin);
	span->end = end;
}

static void span_add(void *of, size_t begin, size_t end, void *arg)
{
	(void)arg;
	span_join(of, begin, end);
	if (test_random(50) == 0)
		sley_yield();
}

static void span_combine(void *of, const void *right, void *arg)
{
	const struct span *span = right;

	(void)arg;
	span_join(of, span->begin, span->end);
	for (size_t i = 0; i < sizeof(span->fill); i++)
		CHECK_EQ(span->fill[i], 'x');
}

static const struct sley_reduction spans = {
	.size = sizeof(struct span),
	.init = span_init,
	.add = span_add,
	.combine = span_combine,
};

static void check_spans(void *arg)
{
	_Alignas(16) struct span span;

	(void)arg;
	for (size_t nr = 1; nr < 30000; nr = nr * 3 + 1) {
		sley_reduce(&span, 5, 5 + nr, &spans, NULL);
		CHECK_EQ(span.begin, 5);
		CHECK_EQ(span.end, 5 + nr);
		CHECK_EQ(sley_reduce_with(&span, 5, 5 + nr, &spans, NULL,
					  SLEY_HOW(.ordered = true)),
			 0);
		CHECK_EQ(span.begin, 5);
		CHECK_EQ(span.end, 5 + nr);
	}
	sley_reduce(&span, 3, 3, &spans, NULL);
	CHECK_EQ(span.begin, SIZE_MAX);
	sley_reduce(&span, SIZE_MAX - 9999, SIZE_MAX - 1, &spans, NULL);
	CHECK_EQ(span.end, SIZE_MAX - 1);
}

TEST_WORKERS(reduce_combines_with_the_right_neighbour_only)
{
	from_everywhere(check_spans, NULL);
}

TEST(reduce_refuses_what_it_cannot_do)
{
	struct sley_reduction large = spans, none = spans;
	_Alignas(16) struct span span;

	large.size = SLEY_REDUCTION_MAX + 1;
	none.size = 0;
	CHECK_EQ(sley_reduce_with(&span, 0, 9, &large, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_reduce_with(&span, 0, 9, &none, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_reduce_with(&span, 0, 9, &spans, NULL,
				  SLEY_HOW(.priority = -99)),
		 SLEY_EPRIORITY);
}

TEST_ABORTS(reduce_of_too_large_values_aborts, "sley: misuse in sley_reduce")
{
	struct sley_reduction large = spans;
	struct span span;

	large.size = SLEY_REDUCTION_MAX + 1;
	sley_reduce(&span, 0, 9, &large, NULL);
}

/* ---- cancelling --------------------------------------------------------------------- */

struct victim {
	struct sley_task task;
	atomic_llong done;
	size_t at;
};

static int64_t sum_and_cancel(size_t begin, size_t end, void *arg)
{
	struct victim *v = arg;
	int64_t sum = sum_indices(begin, end, NULL);

	if (begin <= v->at && v->at < end)
		sley_cancel(&v->task);
	atomic_fetch_add(&v->done, sum);
	return sum;
}

static void sum_until_cancelled(void *arg)
{
	struct victim *v = arg;
	int64_t sum = -1;

	CHECK_EQ(sley_reduce_int64_with(&sum, 0, 100000, sum_and_cancel, v,
					SLEY_HOW(.grain = 1)),
		 -ECANCELED);
	/* What ran is in it, once. */
	CHECK_EQ(sum, v->done);
	CHECK_EQ(sley_reduce_int64_with(&sum, 0, 100000, sum_and_cancel, v,
					SLEY_HOW(.ordered = true)),
		 -ECANCELED);
	CHECK_EQ(sum, 0);
	CHECK_EQ(sley_reduce_int64(0, 1000, sum_and_cancel, v), 499500);
}

TEST_WORKERS(reduce_cancelled_midway_is_the_sum_of_what_ran)
{
	struct sley *rt = start();

	for (int i = 0; i < 20; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct victim v = { .done = 0, .at = test_random(5000) };

		sley_spawn(&group, &v.task, sum_until_cancelled, &v);
		sley_join(&group);
	}
	stop(rt);
}
