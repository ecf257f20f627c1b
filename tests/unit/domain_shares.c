/* SPDX-License-Identifier: MIT */
/*
 * domain_shares.c - src/domain/ledger.h: equals share the cores by weight, of a member or of
 * its user.
 */
#include "domain_crowd.h"

static const struct ledger_options options = LEDGER_OPTIONS_DEFAULT;

TEST(weights_divide_the_cores)
{
	const struct ledger_terms heavy = { .weight = 3 * LEDGER_WEIGHT };
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };

	crowd_begin(2, &options);
	crowd_admit(0, &heavy);
	CHECK_EQ(crowd_tick(), 0);
	(void)crowd_take(0);
	crowd_run(0, 32);
	crowd_admit(1, &usual);
	crowd_compete(2, 4000, used);
	crowd_check_share(used[0], 8000, 3, 4);
	crowd_check_share(used[1], 8000, 1, 4);
}

TEST(members_of_one_user_have_the_weight_of_one)
{
	struct ledger_options by_user = options;
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };

	by_user.by_user = true;
	crowd_begin(4, &by_user);
	for (uint32_t i = 0; i < 4; i++) {
		struct ledger_terms terms = { .weight = LEDGER_WEIGHT,
					      .user = i ? 7 : 8 };

		crowd_admit(i, &terms);
		CHECK_EQ(crowd_tick(), 0);
		(void)crowd_take(i);
		crowd_run(i, i ? MEMBER_RUNS_NOTHING : 32);
	}
	crowd_compete(4, 4000, used);
	crowd_check_share(used[0], 16000, 1, 2);
}

/* Of three members of user 7 one alone has work, beside a member of user 8. */
TEST(a_member_that_has_no_work_takes_nothing_of_its_user)
{
	struct ledger_options by_user = options;
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };

	by_user.by_user = true;
	crowd_begin(4, &by_user);
	for (uint32_t i = 0; i < 4; i++) {
		struct ledger_terms terms = { .weight = LEDGER_WEIGHT,
					      .user = i ? 7 : 8 };

		crowd_admit(i, &terms);
		CHECK_EQ(crowd_tick(), 0);
		(void)crowd_take(i);
		crowd_run(i, i ? MEMBER_RUNS_NOTHING : 32);
	}
	crowd_compete(2, 4000, used);
	crowd_check_share(used[0], 16000, 1, 2);
}

TEST(the_smallest_weight_is_divided_among_the_members_of_a_user)
{
	struct ledger_options by_user = options;
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };

	by_user.by_user = true;
	crowd_begin(4, &by_user);
	for (uint32_t i = 0; i < 4; i++) {
		struct ledger_terms terms = { .weight = 1, .user = i ? 7 : 8 };

		crowd_admit(i, &terms);
		CHECK_EQ(crowd_tick(), 0);
		(void)crowd_take(i);
		crowd_run(i, i ? MEMBER_RUNS_NOTHING : 32);
	}
	crowd_compete(4, 4000, used);
	crowd_check_share(used[0], 16000, 1, 2);
}

TEST(a_weight_that_changes_divides_what_comes)
{
	const struct ledger_terms heavy = { .weight = 3 * LEDGER_WEIGHT };
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };

	crowd_of_two(2, 32, &options);
	crowd_compete(2, 1000, used);
	crowd_check_share(used[0], 2000, 1, 2);
	memset(used, 0, sizeof(used));
	broker_set_terms(&crowd.broker, 0, &heavy);
	crowd_compete(2, 4000, used);
	crowd_check_share(used[0], 8000, 3, 4);
}
