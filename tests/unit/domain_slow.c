/* SPDX-License-Identifier: MIT */
/*
 * domain_slow.c - which members the ledger names because they do not yield to urgent work:
 * .slow and .pressed of src/domain/ledger.h, by which a host lowers.
 */
#include "domain_crowd.h"

static const struct ledger_options options = LEDGER_OPTIONS_DEFAULT;

TEST(a_holder_that_does_not_yield_is_named)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 29);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.slow, 0);
	CHECK_EQ(crowd.broker.ledger.pressed, 1);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.slow, 1);
	CHECK_EQ(crowd.broker.ledger.pressed, 1);
	CHECK_EQ(crowd_obey(0), 1);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.slow, 0);
	CHECK_EQ(crowd.broker.ledger.pressed, 0);
}

/* The kernel may run the urgent work beside any of them. */
TEST(holders_of_less_urgent_work_are_named_with_it)
{
	crowd_of_two(2, 20, &options);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	CHECK_EQ(crowd_take(1), 1);
	crowd_run(1, 50);
	crowd_admit(2, &usual);
	CHECK_EQ(crowd_tick(), 0);
	crowd_want(2, 1, 25);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.slow, 2);
	CHECK_EQ(crowd.broker.ledger.pressed, 2);
	crowd_want(2, 1, 10);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.slow, 3);
	CHECK_EQ(crowd.broker.ledger.pressed, 3);
}

/* Member 1 is to get the core some time, and its holder is not named meanwhile. */
static void check_wished_and_not_pressed(uint32_t ticks)
{
	bool wished = false;

	for (uint32_t i = 0; i < ticks; i++) {
		CHECK_EQ(crowd_tick(), 0);
		CHECK_EQ(crowd.broker.ledger.pressed, 0);
		CHECK_EQ(crowd.broker.ledger.slow, 0);
		wished = wished || crowd.broker.ledger.core[0].wish == 1;
	}
	CHECK(wished);
}

/* To lower the holder would hold it up, and win nothing. */
TEST(a_holder_that_may_not_be_overtaken_is_not_named)
{
	struct ledger_options ageing = options;

	ageing.age_ticks = 1;
	crowd_of_two(1, 50, &ageing);
	crowd_want(1, 1, 40);
	check_wished_and_not_pressed(20);
	CHECK_LT(crowd.broker.ledger.member[1].level, 32);
}

TEST(a_holder_that_an_equal_wants_a_core_of_is_not_pressed)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 30);
	check_wished_and_not_pressed(100);
}
