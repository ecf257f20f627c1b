/* SPDX-License-Identifier: MIT */
/*
 * os_clock.c - time goes on, and at the usual speed.
 */
#include "harness/test.h"

#include "os/clock.h"

#include <time.h>

TEST(time_never_goes_back)
{
	uint64_t last = os_now();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = os_now();

		CHECK_LE(last, now);
		last = now;
	}
}

TEST(time_is_the_monotonic_clock_in_nanoseconds)
{
	struct timespec ts;
	uint64_t before = os_now(), between;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	between = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	CHECK_LE(before, between);
	CHECK_LE(between, os_now());
}

TEST(the_coarse_clock_is_late_and_goes_on)
{
	uint64_t begin = os_now();

	for (int i = 0; i < 100000; i++) {
		uint64_t coarse = os_now_coarse();

		CHECK_LE(coarse, os_now());
	}
	CHECK_EVENTUALLY(os_now_coarse() > begin);
}
