/* SPDX-License-Identifier: MIT */
/*
 * route_door.c - a door with one thread: which calls are refused, and when it is empty.
 * The interleavings are in tests/model/route_door.c.
 */
#include "harness/test.h"

#include "route/door.h"

static struct door door;

static bool is_told_empty(void)
{
	return sley_event_is_set(&door.empty);
}

TEST(a_door_counts_what_is_inside)
{
	CHECK(door_is_empty(&door));
	CHECK(door_enter(&door));
	CHECK(door_enter(&door));
	CHECK_EQ(door_count(&door), 2);
	CHECK(!door_is_empty(&door));
	door_leave(&door);
	door_leave(&door);
	CHECK_EQ(door_count(&door), 0);
	CHECK(door_is_empty(&door));
	CHECK(!is_told_empty());
}

TEST(an_empty_door_is_told_empty_at_once)
{
	door_shut(&door);
	CHECK(is_told_empty());
	CHECK_EQ(door_wait(&door, 0, 0), 0);
	CHECK(!door_enter(&door));
	CHECK(door_is_empty(&door));
	door_open(&door);
	CHECK(!is_told_empty());
	CHECK(door_enter(&door));
}

TEST(the_last_leaver_tells_the_keeper)
{
	CHECK(door_enter(&door));
	CHECK(door_enter(&door));
	door_shut(&door);
	CHECK_EQ(door_count(&door), 2);
	CHECK_EQ(door_wait(&door, 0, 0), -ETIMEDOUT);
	door_leave(&door);
	CHECK(!is_told_empty());
	CHECK(!door_enter(&door));
	door_leave(&door);
	CHECK_EQ(door_wait(&door, 0, 0), 0);
	/* It stays so for the next that asks. */
	CHECK_EQ(door_wait(&door, 0, 0), 0);
	door_open(&door);
	CHECK(!is_told_empty());
}

TEST(a_keeper_that_gives_up_leaves_nothing_behind)
{
	CHECK(door_enter(&door));
	door_shut(&door);
	door_give_up(&door);
	CHECK(!is_told_empty());
	CHECK_EQ(door_count(&door), 1);
	CHECK(door_enter(&door));
	door_leave(&door);
	door_leave(&door);
	CHECK(!is_told_empty());
	/* The last has left before the keeper gives up. */
	CHECK(door_enter(&door));
	door_shut(&door);
	door_leave(&door);
	CHECK(is_told_empty());
	door_give_up(&door);
	CHECK(!is_told_empty());
	CHECK(door_enter(&door));
}
