/* SPDX-License-Identifier: MIT */
/*
 * core_next_slot.c - the slot of a worker for the task it runs next, one thread at a
 * time.
 */
#include "harness/test.h"

#include "core/sched/next_slot.h"

static struct sley_task a, b;

TEST(an_empty_slot_gives_nothing)
{
	struct next next = { 0 };

	CHECK(next_empty(&next));
	CHECK(!next_stealable(&next));
	CHECK(next_take(&next) == NULL);
	CHECK(next_steal(&next) == NULL);
	CHECK(!next_open(&next));
	CHECK_EQ(next.word, 0);
}

TEST(who_puts_one_in_gets_the_one_before)
{
	struct next next = { 0 };

	CHECK(next_put(&next, &a, 0) == NULL);
	CHECK(next_put(&next, &b, NEXT_OWN) == &a);
	CHECK(next_put(&next, &a, NEXT_OWN) == &b);
	CHECK(next_put(&next, &b, 0) == &a);
	CHECK(next_take(&next) == &b);
	CHECK(next_empty(&next));
}

TEST(what_may_be_stolen_is_taken_by_either)
{
	struct next next = { 0 };

	CHECK(!next_put(&next, &a, 0));
	CHECK(!next_empty(&next) && next_stealable(&next));
	CHECK(next_steal(&next) == &a);
	CHECK(next_empty(&next));
	CHECK(!next_put(&next, &a, 0));
	CHECK(next_take(&next) == &a);
	CHECK(next_steal(&next) == NULL);
}

TEST(thieves_leave_alone_what_is_the_workers_own)
{
	struct next next = { 0 };

	CHECK(!next_put(&next, &a, NEXT_OWN));
	CHECK(!next_empty(&next) && !next_stealable(&next));
	CHECK(next_steal(&next) == NULL);
	CHECK(next_take(&next) == &a);
	CHECK(next_empty(&next));
}

TEST(what_was_opened_may_be_stolen)
{
	struct next next = { 0 };

	CHECK(!next_put(&next, &a, NEXT_OWN));
	CHECK(next_open(&next));
	CHECK(next_stealable(&next));
	CHECK(next_open(&next)); /* it is open, and there */
	CHECK(next_steal(&next) == &a);
	CHECK(!next_open(&next));
}

TEST(opening_one_does_not_open_the_next)
{
	struct next next = { 0 };

	CHECK(!next_put(&next, &a, NEXT_OWN));
	CHECK(next_open(&next));
	CHECK(next_put(&next, &b, NEXT_OWN) == &a);
	CHECK(!next_stealable(&next));
	CHECK(next_steal(&next) == NULL);
	CHECK(next_take(&next) == &b);
}
