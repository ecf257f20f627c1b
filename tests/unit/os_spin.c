/* SPDX-License-Identifier: MIT */
/*
 * os_spin.c - a waiter of a lock sleeps for a while at most, and counts itself off.
 */
#include "harness/test.h"

#include "lf/spin.h"
#include "os/clock.h"

static uint32_t word;

static bool in_vain(const void *address)
{
	CHECK(address == &word);
	CHECK_EQ(spin_has_sleepers(), 1);
	return true;
}

static bool worthwhile(const void *address)
{
	CHECK(address == &word);
	return false;
}

TEST(without_a_wake_there_is_the_timeout)
{
	for (uint32_t nr_sleeps = 0; nr_sleeps < 20; nr_sleeps++) {
		uint64_t start_ns = os_now();

		spin_sleep(&word, in_vain, nr_sleeps);
		/* Chaos and faults end it at once. */
		if (nr_sleeps == 19 && !test_is_chaotic())
			CHECK_GE(os_now() - start_ns, 20 * 1000000);
		CHECK(!spin_has_sleepers());
	}
}

TEST(whoever_finds_it_free_does_not_sleep)
{
	uint64_t start_ns = os_now();

	for (int i = 0; i < 1000; i++)
		spin_sleep(&word, worthwhile, UINT32_MAX);
	CHECK_LT(os_now() - start_ns, 1000 * 20ull * 1000000);
	CHECK(!spin_has_sleepers());
}
