/* SPDX-License-Identifier: MIT */
/*
 * graph_pass.c - a pass visits each node once, and is never inside another pass.
 */
#include "harness/test.h"

#include "graph/node/pass.h"

TEST(a_pass_visits_each_node_once)
{
	struct pass pass = { .number = 0 };
	uint32_t a = PASS_NEVER, b = PASS_NEVER;

	pass_begin(&pass);
	CHECK(!pass_has_visited(&pass, a));
	CHECK(pass_visit(&pass, &a));
	CHECK(!pass_visit(&pass, &a));
	CHECK(pass_has_visited(&pass, a));
	CHECK(!pass_has_visited(&pass, b));
	pass_end(&pass);
}

TEST(the_next_pass_begins_with_no_node_visited)
{
	struct pass pass = { .number = 0 };
	uint32_t stamp = PASS_NEVER;

	for (int i = 0; i < 3; i++) {
		pass_begin(&pass);
		CHECK(pass_visit(&pass, &stamp));
		CHECK(!pass_visit(&pass, &stamp));
		pass_end(&pass);
	}
}

TEST(a_new_node_is_not_visited_when_the_numbers_begin_again)
{
	struct pass pass = { .number = UINT32_MAX };
	uint32_t stamp = PASS_NEVER;

	pass_begin(&pass);
	CHECK(!pass_has_visited(&pass, stamp));
	CHECK(pass_visit(&pass, &stamp));
	pass_end(&pass);
}

#ifndef NDEBUG
TEST_ABORTS(a_pass_inside_another_pass_aborts, "under_way")
{
	struct pass pass = { .number = 0 };

	pass_begin(&pass);
	pass_begin(&pass);
}

TEST_ABORTS(a_visit_outside_of_a_pass_aborts, "under_way")
{
	struct pass pass = { .number = 0 };
	uint32_t stamp = PASS_NEVER;

	pass_begin(&pass);
	pass_end(&pass);
	(void)pass_visit(&pass, &stamp);
}
#endif
