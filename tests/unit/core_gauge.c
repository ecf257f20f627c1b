/* SPDX-License-Identifier: MIT */
/*
 * core_gauge.c - the load of a worker, as a mean over the last 100 ms.
 */
#include "harness/test.h"

#include "core/sched/gauge.h"

#define MS 1000000ull
#define HALF (GAUGE_FULL / 2)

TEST(a_look_counts_for_its_share_of_the_last_100_ms)
{
	CHECK_EQ(gauge_mean(0, 50 * MS, 0), HALF);
	CHECK_EQ(gauge_mean(0, 25 * MS, 0), GAUGE_FULL / 4);
	CHECK_EQ(gauge_mean(GAUGE_FULL, 25 * MS, 25 * MS), GAUGE_FULL * 3 / 4);
	CHECK_EQ(gauge_mean(HALF, 10 * MS, 5 * MS), HALF);
}

TEST(after_100_ms_nothing_else_counts)
{
	CHECK_EQ(gauge_mean(GAUGE_FULL, 100 * MS, 100 * MS), 0);
	CHECK_EQ(gauge_mean(0, 200 * MS, 50 * MS), GAUGE_FULL * 3 / 4);
}

TEST(the_idle_part_of_a_look_is_not_busy)
{
	CHECK_EQ(gauge_mean(0, 100 * MS, 25 * MS), GAUGE_FULL * 3 / 4);
	CHECK_EQ(gauge_mean(0, 50 * MS, 25 * MS), GAUGE_FULL / 4);
}

/* The words of a worker may be of different moments. */
TEST(more_idle_time_than_time_is_all_idle)
{
	CHECK_EQ(gauge_mean(GAUGE_FULL, 50 * MS, 60 * MS), HALF);
	CHECK_EQ(gauge_mean(GAUGE_FULL, 200 * MS, UINT64_MAX), 0);
}

TEST(no_time_changes_nothing)
{
	CHECK_EQ(gauge_mean(77, 0, 0), 77);
	CHECK_EQ(gauge_mean(77, 0, 5), 77);
}

TEST(the_longest_time_overflows_nothing)
{
	CHECK_EQ(gauge_mean(0, UINT64_MAX, 0), GAUGE_FULL);
	CHECK_EQ(gauge_mean(0, 1ull << 63, 1ull << 62), HALF);
	CHECK_EQ(gauge_mean(0, 1ull << 40, 1ull << 39), HALF);
	CHECK_EQ(gauge_mean(0, (1ull << 40) - 2, (1ull << 39) - 1), HALF);
}
