/* SPDX-License-Identifier: MIT */
/*
 * core_outside.c - the balance between local tasks and tasks from outside.
 */
#include "harness/test.h"

#include "core/sched/outside.h"

enum { TICK = 1000, START = 5000 };

static struct outside outside;

static bool is_next(uint64_t now_ns)
{
	return outside_is_next(&outside, now_ns, TICK);
}

/* As the worker does when it takes a task from outside. */
static void run_one(uint64_t now_ns)
{
	CHECK(is_next(now_ns));
	outside.runs = true;
}

TEST(the_first_task_from_outside_is_next_at_once)
{
	CHECK(is_next(START));
	CHECK_EQ(outside.balance_ns, 0);
}

TEST(local_tasks_have_as_much_time_as_a_task_from_outside_had)
{
	run_one(START);
	CHECK(!is_next(START + 300));
	CHECK(!is_next(START + 400));
	CHECK(!is_next(START + 599));
	CHECK(is_next(START + 600));
}

TEST(tasks_from_outside_have_as_much_time_as_local_tasks_had)
{
	CHECK(is_next(START));
	run_one(START + 300);
	run_one(START + 400);
	run_one(START + 600); /* the balance is even, and that is enough */
	CHECK(!is_next(START + 601));
}

/* A draw ends the run of a task from outside, whatever is next. */
TEST(time_after_a_draw_is_time_of_local_tasks)
{
	run_one(START);
	CHECK(!is_next(START + 100));
	CHECK(!outside.runs);
	CHECK(is_next(START + 250));
	CHECK(!outside.runs);
	CHECK_EQ(outside.balance_ns, 50);
}

TEST(local_tasks_owe_a_tick_at_most)
{
	CHECK(is_next(START));
	run_one(START + TICK + 1);
	CHECK_EQ(outside.balance_ns, TICK);
	run_one(START + 2 * TICK + 1);
	CHECK(!is_next(START + 2 * TICK + 2));
}

TEST(tasks_from_outside_owe_a_tick_at_most)
{
	run_one(START);
	CHECK(!is_next(START + TICK + 1));
	CHECK_EQ(outside.balance_ns, -TICK);
	CHECK(!is_next(START + 2 * TICK));
	CHECK(is_next(START + 2 * TICK + 1));
}

TEST(a_long_task_takes_the_balance_from_end_to_end)
{
	const uint64_t hour = 3600000000000ull;

	CHECK(is_next(START));
	run_one(START + hour);
	CHECK_EQ(outside.balance_ns, TICK);
	CHECK(!is_next(START + 2 * hour));
	CHECK_EQ(outside.balance_ns, -TICK);
	CHECK(is_next(START + 3 * hour));
	CHECK_EQ(outside.balance_ns, TICK);
}

/* A time that no signed number holds does not become negative. */
TEST(a_time_beyond_all_numbers_counts_for_the_task_that_ran)
{
	run_one(START);
	CHECK(!is_next(UINT64_MAX));
	CHECK_EQ(outside.balance_ns, -TICK);
}

TEST(a_worker_without_local_tasks_forgets)
{
	run_one(START);
	CHECK(!is_next(START + 700));
	outside_forget(&outside);
	CHECK(is_next(START + 800));
	CHECK_EQ(outside.balance_ns, 0);

	outside.runs = true;
	outside_forget(&outside);
	CHECK(!outside.runs);
	CHECK(is_next(START + 900));
	CHECK_EQ(outside.balance_ns, 0);
}
