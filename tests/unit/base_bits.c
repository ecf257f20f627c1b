/* SPDX-License-Identifier: MIT */
/*
 * base_bits.c - single words, at their edges.
 */
#include "harness/test.h"

#include "base/bits.h"

TEST(the_first_bit_is_the_lowest)
{
	CHECK_EQ(bits_first(0), -1);
	for (int i = 0; i < 64; i++) {
		CHECK_EQ(bits_first(UINT64_C(1) << i), i);
		CHECK_EQ(bits_first(UINT64_MAX << i), i);
	}
}

TEST(popcount_counts_all_64_bits)
{
	CHECK_EQ(popcount(0), 0);
	CHECK_EQ(popcount(UINT64_MAX), 64);
	CHECK_EQ(popcount(UINT64_C(0x8000000100000001)), 3);
}

TEST(zero_is_no_power_of_two)
{
	CHECK(!is_pow2(0));
	CHECK(is_pow2(1));
	CHECK(is_pow2(2));
	CHECK(!is_pow2(3));
	CHECK(is_pow2(UINT64_C(1) << 63));
	CHECK(!is_pow2(UINT64_MAX));
}

TEST(rounding_up_keeps_multiples)
{
	CHECK_EQ(round_up(0, 64), 0);
	CHECK_EQ(round_up(1, 64), 64);
	CHECK_EQ(round_up(64, 64), 64);
	CHECK_EQ(round_up(65, 64), 128);
	CHECK_EQ(round_up(7, 1), 7);
	CHECK(round_up(SIZE_MAX - 63, 64) == SIZE_MAX - 63);
}
