/* SPDX-License-Identifier: MIT */
/*
 * idle.c - a worker without work: how long it looks for work before it sleeps.
 */
#include "conformance/bound.h"

TEST(the_time_of_a_search_has_limits_and_a_default)
{
	static const uint32_t bad[] = { 1000001, UINT32_MAX - 1 };
	static const uint32_t good[] = { 0, 1, 20, 5000, 1000000, SLEY_NO_SPIN };
	struct sley_config config = config_of(2), effective = config;
	struct sley *rt;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		config.spin_us = bad[i];
		CHECK_EQ(sley_create(&rt, &config), -EINVAL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		config.spin_us = good[i];
		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_get_config(rt, &effective), 0);
		CHECK_EQ(effective.spin_us, good[i] ? good[i] : 20);
		CHECK_EQ(sley_destroy(rt), 0);
	}
}

TEST_WORKERS(tasks_run_however_long_workers_search)
{
	static const uint32_t us[] = { SLEY_NO_SPIN, 1, 1000 };
	struct sley_config config = *test_config();

	for (size_t i = 0; i < ARRAY_SIZE(us); i++) {
		atomic_int ran = 0;
		struct sley *rt;

		config.spin_us = us[i];
		rt = start_with(&config);
		for (int n = 0; n < 20; n++)
			run_tasks(20, count_task, &ran);
		CHECK_EQ(ran, 400);
		stop(rt);
	}
}

/*
 * Tasks come 5 ms apart, and the worker searches for a second.  A machine that
 * stalls for half a second at a time proves nothing in that round.
 */
TEST(a_worker_that_searches_long_enough_does_not_sleep)
{
	struct sley_config config = config_of(1);
	uint64_t before_ns = sley_now();
	bool slept = false;
	struct sley *rt;
	atomic_int ran = 0;

	if (test_is_chaotic())
		test_skip("chaos ends searches early");
	config.spin_us = 1000000;
	rt = start_with(&config);
	for (int i = 1; i <= 20 && !slept; i++) {
		test_nap_ms(5);
		CHECK_EQ(sley_schedule(count_task, &ran), 0);
		CHECK_EVENTUALLY(ran == i);
		slept = stats_of(rt).parks > 0;
		if (sley_now() - before_ns > 500 * SLEY_MSEC)
			test_skip("the machine stalls");
		before_ns = sley_now();
	}
	CHECK(!slept);
	stop(rt);
}
