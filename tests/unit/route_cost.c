/* SPDX-License-Identifier: MIT */
/*
 * route_cost.c - what is learned of a method: never negative, never out of bounds,
 * whatever was measured, and by several threads at a time.
 */
#include "harness/test.h"

#include "route/cost.h"

#include <math.h>

static struct method_cost cost;

static void learn(uint64_t ns)
{
	cost_learn(&cost, COST_LEARN_DEFAULT, 1, ns, false);
}

TEST(nothing_is_known_at_first)
{
	CHECK_EQ(cost_busy(&cost, 1), 0);
	CHECK_EQ(cost_wall(&cost, 1), 0);
	CHECK_EQ(cost_predict(&cost, UINT64_MAX), 0);
}

TEST(the_first_measurement_is_believed_and_the_next_ones_move_it_by_a_fifth)
{
	learn(1000);
	CHECK_EQ(cost_busy(&cost, 1), 1000);
	learn(2000);
	CHECK_EQ(cost_busy(&cost, 1), 1200);
	learn(200);
	CHECK_EQ(cost_busy(&cost, 1), 1000);
	CHECK_EQ(cost.nr_runs, 3);
}

static void learn_at(double rate, uint64_t ns)
{
	cost_learn(&cost, cost_rate(rate), 1, ns, false);
}

TEST(the_rate_says_how_far_a_measurement_moves_the_estimate)
{
	learn_at(0.001, 1000000);
	CHECK_EQ(cost_busy(&cost, 1), 1000000); /* the first is believed */
	learn_at(0.001, 2000000);
	CHECK_EQ(cost_busy(&cost, 1), 1001000);
	learn_at(0.5, 1000);
	CHECK_EQ(cost_busy(&cost, 1), 501000);
	learn_at(1, 7);
	CHECK_EQ(cost_busy(&cost, 1), 7);
	learn_at(1, UINT64_MAX);
	CHECK_EQ(cost_busy(&cost, 1), COST_MAX_NS);
}

TEST(a_rate_is_above_0_and_up_to_1)
{
	CHECK_EQ(cost_rate(0), COST_LEARN_DEFAULT);
	CHECK_EQ(cost_rate(0.2), COST_LEARN_DEFAULT);
	CHECK_EQ(cost_rate(1), COST_LEARN_ALL);
	CHECK_EQ(cost_rate(1e-300), 1);
	CHECK_EQ(cost_rate(-0.1), 0);
	CHECK_EQ(cost_rate(1.0001), 0);
	CHECK_EQ(cost_rate(NAN), 0);
	CHECK_EQ(cost_rate(INFINITY), 0);
}

TEST(nothing_goes_below_zero_or_stays_unknown)
{
	learn(1 << 20);
	for (int i = 0; i < 1000; i++)
		learn(0);
	CHECK_EQ(cost_busy(&cost, 1), 0); /* below a nanosecond */
	CHECK_GT(cost.busy, 0);
	learn(5 * 5);
	CHECK_EQ(cost_busy(&cost, 1), 5);
}

TEST(what_was_measured_has_a_limit_and_so_has_a_prediction)
{
	learn(UINT64_MAX);
	CHECK_EQ(cost_busy(&cost, 1), COST_MAX_NS);
	CHECK_EQ(cost_busy(&cost, UINT64_MAX), COST_MAX_NS);
	CHECK_EQ(cost_predict(&cost, 3), COST_MAX_NS);
	for (int i = 0; i < 200; i++)
		learn(100);
	CHECK_LT(cost_busy(&cost, 1), 110);
}

TEST(a_run_that_waited_teaches_the_wall_time_only)
{
	cost_learn(&cost, COST_LEARN_DEFAULT, 1, 5000, true);
	CHECK_EQ(cost_busy(&cost, 1), 0);
	CHECK_EQ(cost_wall(&cost, 1), 5000);
	CHECK_EQ(cost_predict(&cost, 2), 10000);
	cost_learn(&cost, COST_LEARN_DEFAULT, 1, 100, false);
	CHECK_EQ(cost_busy(&cost, 1), 100);
	CHECK_EQ(cost_predict(&cost, 2), 200);
}

TEST(a_request_is_a_unit_and_each_4096_bytes_are_one_more)
{
	CHECK_EQ(cost_units(0), 1);
	CHECK_EQ(cost_units(4095), 1);
	CHECK_EQ(cost_units(4096), 2);
	CHECK_EQ(cost_units(UINT64_MAX), 1 + UINT64_MAX / 4096);
	cost_learn(&cost, COST_LEARN_DEFAULT, cost_units(7 * 4096), 8000,
		   false);
	CHECK_EQ(cost_busy(&cost, 1), 1000);
	cost_learn(&cost, COST_LEARN_DEFAULT, cost_units(UINT64_MAX), 1, false);
	CHECK_EQ(cost_busy(&cost, 1), 800);
}

enum { LEAST = 1000, MOST = 9000 };

static void *learn_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100000; i++)
		cost_learn(&cost, COST_LEARN_DEFAULT, 1, i % 2 ? LEAST : MOST,
			   i % 3 == 0);
	return NULL;
}

TEST(several_threads_never_leave_what_was_measured)
{
	pthread_t thread[4];

	learn(LEAST);
	for (int i = 0; i < 4; i++)
		thread[i] = test_thread(learn_many, NULL);
	for (int i = 0; i < 100000; i++) {
		uint64_t ns = cost_predict(&cost, 1);

		CHECK_GE(ns, LEAST);
		CHECK_LE(ns, MOST);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK_GE(cost_wall(&cost, 1), LEAST);
	CHECK_LE(cost_wall(&cost, 1), MOST);
}
