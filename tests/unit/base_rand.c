/* SPDX-License-Identifier: MIT */
/*
 * base_rand.c - replayable, and spread well enough to choose victims.
 */
#include "harness/test.h"

#include "base/rand.h"

TEST(the_same_seed_gives_the_same_numbers)
{
	struct rand a, b, other;
	int nr_equal = 0;

	rand_seed(&a, test_seed());
	rand_seed(&b, test_seed());
	rand_seed(&other, test_seed() + 1);
	for (int i = 0; i < 1000; i++) {
		uint64_t x = rand_next(&a);

		CHECK(x == rand_next(&b));
		nr_equal += x == rand_next(&other);
	}
	CHECK_EQ(nr_equal, 0);
}

TEST(below_stays_below_and_reaches_every_number)
{
	struct rand rand;

	rand_seed(&rand, test_seed());
	for (uint32_t n = 1; n <= 64; n++) {
		uint64_t seen = 0;

		for (int i = 0; i < 4000; i++) {
			uint32_t x = rand_below(&rand, n);

			CHECK_LT(x, n);
			seen |= UINT64_C(1) << x;
		}
		CHECK_EQ(__builtin_popcountll(seen), n);
	}
	CHECK_LT(rand_below(&rand, UINT32_MAX), UINT32_MAX);
}

/* Who sees every number, every second or every third one. */
TEST(spread_below_reaches_every_number_soon_and_again)
{
	for (int step = 1; step <= 3; step++) {
		for (uint32_t n = 2; n <= 64; n++) {
			int due = (step == 1 ? 2 : 3) * (int)n;
			int last[64] = { 0 };
			struct rand rand;
			uint32_t x = 0;

			rand_seed(&rand, test_seed());
			for (int i = 1; i <= 4000; i++) {
				for (int k = 0; k < step; k++)
					x = rand_spread_below(&rand, n);
				CHECK_LT(x, n);
				CHECK_LE(i - last[x], due);
				last[x] = i;
			}
			for (uint32_t k = 0; k < n; k++)
				CHECK_LE(4000 - last[k], due);
		}
	}
}

/* Each bit of n numbers is set n/2 times, give or take 8 standard deviations. */
TEST(every_bit_is_set_half_of_the_time_even_from_seed_zero)
{
	int nr_set[64] = { 0 };
	const int nr = 10000;
	struct rand rand;

	rand_seed(&rand, 0);
	for (int i = 0; i < nr; i++) {
		uint64_t x = rand_next(&rand);

		for (int bit = 0; bit < 64; bit++)
			nr_set[bit] += x >> bit & 1;
	}
	for (int bit = 0; bit < 64; bit++) {
		CHECK_GT(nr_set[bit], nr / 2 - 400);
		CHECK_LT(nr_set[bit], nr / 2 + 400);
	}
}
