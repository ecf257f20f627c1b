/* SPDX-License-Identifier: MIT */
/*
 * sort_numbers.c - integers and doubles in order.
 */
#include <math.h>

#include "conformance/task/sort_inputs.h"

#define DEFINE_CHECK(name, type)                                               \
	static void check_##name(size_t nr)                                    \
	{                                                                      \
		type *a = malloc(nr * sizeof(*a) + 1);                         \
		uint64_t sum = 0;                                              \
                                                                               \
		for (size_t i = 0; i < nr; i++) {                              \
			a[i] = (type)test_random(UINT64_MAX);                  \
			sum += (uint64_t)a[i] * (uint64_t)a[i];                \
		}                                                              \
		sley_sort_##name(a, nr);                                       \
		for (size_t i = 0; i < nr; i++) {                              \
			sum -= (uint64_t)a[i] * (uint64_t)a[i];                \
			CHECK(i == 0 || a[i - 1] <= a[i]);                     \
		}                                                              \
		CHECK_EQ(sum, 0);                                              \
		CHECK_EQ(sley_sort_##name##_with(a, nr,                        \
						 SLEY_HOW(.priority = 99)),    \
			 SLEY_EPRIORITY);                                      \
		CHECK_EQ(sley_sort_##name##_with(a, nr, NULL), 0);             \
		free(a);                                                       \
	}

DEFINE_CHECK(int32, int32_t)
DEFINE_CHECK(uint32, uint32_t)
DEFINE_CHECK(int64, int64_t)
DEFINE_CHECK(uint64, uint64_t)

TEST_WORKERS(sort_integers_of_each_type)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 19, 20, 21, 500, 20000 };
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_int32(sizes[i]);
		check_uint32(sizes[i]);
		check_int64(sizes[i]);
		check_uint64(sizes[i]);
	}
	stop(rt);
}

static double from_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t to_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* All special ones, and some beside them. */
static double some_double(void)
{
	static const uint64_t special[] = {
		0x0,
		0x8000000000000000,
		0x1,
		0x8000000000000001,
		0x7ff0000000000000,
		0xfff0000000000000,
		0x7ff8000000000000,
		0xfff8000000000000,
		0x7fffffffffffffff,
		0xffffffffffffffff,
		0x7ff0000000000001,
		0xfff0000000000001,
		0x7fefffffffffffff,
		0xffefffffffffffff,
		0x3ff0000000000000,
	};

	if (test_random(4) == 0)
		return from_bits(special[test_random(ARRAY_SIZE(special))]);
	return from_bits(test_random(UINT64_MAX));
}

static bool doubles_in_order(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(b);
	return a < b || (a == b && signbit(a) >= signbit(b));
}

TEST_WORKERS(sort_doubles_with_zeros_by_sign_and_nans_last)
{
	enum { NR = 40000 };
	static double a[NR], b[NR];
	struct sley *rt = start();

	for (size_t nr = 0; nr <= NR; nr = nr * 2 + 1) {
		uint64_t sum = 0;

		for (size_t i = 0; i < nr; i++) {
			a[i] = b[i] = some_double();
			sum += to_bits(a[i]) * to_bits(a[i]);
		}
		sley_sort_double(a, nr);
		for (size_t i = 0; i < nr; i++) {
			/* Bit by bit, also what is not a number. */
			sum -= to_bits(a[i]) * to_bits(a[i]);
			CHECK(i == 0 || doubles_in_order(a[i - 1], a[i]));
		}
		CHECK_EQ(sum, 0);
		CHECK_EQ(sley_sort_double_with(b, nr, SLEY_HOW(.grain = 99)),
			 0);
		CHECK_EQ(memcmp(a, b, nr * sizeof(*a)), 0);
	}
	stop(rt);
}
