/* SPDX-License-Identifier: MIT */
/*
 * core_pace.c - the picks from one fair pick of a worker to the next.
 */
#include "harness/test.h"

#include "core/sched/pace.h"

enum { LIMIT = 61, TURN = 1000 };

static struct pace pace;
static uint64_t now_ns = 7000;

static uint32_t next(uint32_t tick, uint64_t took_ns)
{
	uint32_t head_start;

	now_ns += took_ns;
	head_start = pace_next(&pace, tick, LIMIT, now_ns, TURN);
	CHECK_EQ(head_start, pace.head_start);
	CHECK_EQ(pace.since_ns, now_ns);
	return head_start;
}

/* Picks until the next fair pick, when the picks up to this one took @took_ns. */
static uint32_t picks_after(uint64_t took_ns)
{
	return LIMIT - next(LIMIT, took_ns);
}

static void begin(void)
{
	pace = (struct pace){ .since_ns = now_ns };
}

TEST(as_many_picks_come_as_fit_into_a_turn)
{
	begin();
	CHECK_EQ(picks_after(LIMIT * 100), 10);
	CHECK_EQ(picks_after(10 * 100), 10);
	CHECK_EQ(picks_after(10 * 125), 8);
	CHECK_EQ(picks_after(8 * 90), 11);
}

/* A poke asks for a fair pick before the tick is at its limit. */
TEST(an_early_fair_pick_counts_the_picks_that_were_made)
{
	begin();
	CHECK_EQ(picks_after(LIMIT * 100), 10);
	CHECK_EQ(LIMIT - next(LIMIT - 10 + 3, 3 * 200), 5);
}

TEST(short_tasks_never_make_more_picks_than_the_limit)
{
	begin();
	CHECK_EQ(picks_after(LIMIT), LIMIT);
	CHECK_EQ(picks_after(LIMIT), LIMIT);
}

TEST(a_clock_that_stands_still_is_no_error)
{
	begin();
	CHECK_EQ(picks_after(0), LIMIT);
}

TEST(one_pick_at_least)
{
	begin();
	CHECK_EQ(picks_after(3600000000000ull), 1);
	CHECK_EQ(picks_after(TURN + 1), 1);
	CHECK_EQ(picks_after(TURN), 1);
}

TEST(at_most_twice_as_many_picks_as_before)
{
	static const uint32_t nr[] = { 1, 2, 4, 8, 16, 32, LIMIT, LIMIT };

	begin();
	CHECK_EQ(picks_after(LIMIT * 2 * TURN), nr[0]);
	for (unsigned int i = 1; i < sizeof(nr) / sizeof(nr[0]); i++)
		CHECK_EQ(picks_after(1), nr[i]);
}

/* The picks were more than were planned, and say nothing of how long tasks are. */
TEST(a_pick_that_was_put_off_leaves_the_pace)
{
	begin();
	CHECK_EQ(picks_after(LIMIT * 100), 10);
	CHECK_EQ(LIMIT - next(LIMIT + 1, 1), 10);
	CHECK_EQ(LIMIT - next(LIMIT + 1, 100 * TURN), 10);
	CHECK_EQ(picks_after(10 * 50), 20);
}
