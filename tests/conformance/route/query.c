/* SPDX-License-Identifier: MIT */
/*
 * query.c - queries as texts: C15, C16.
 */
#include "conformance/bound.h"

static void expect_text(struct sley_query query, const char *expected)
{
	char text[SLEY_QUERY_TEXT];
	struct sley_query again;

	CHECK_EQ(sley_query_text(&query, text, sizeof(text)), strlen(expected));
	CHECK_STR(text, expected);
	CHECK_EQ(sley_query_parse(&again, text), 0);
	CHECK_EQ(memcmp(&again, &query, sizeof(query)), 0);
}

TEST(c16_every_query_is_a_text_and_back)
{
	expect_text(sley_query_local(), "local");
	expect_text(sley_query_dynamic(), "dynamic");
	expect_text(sley_query_broadcast(), "broadcast");
	expect_text(sley_query_id(0), "direct_id:0");
	expect_text(sley_query_id(17), "direct_id:17");
	expect_text(sley_query_hash(UINT64_MAX),
		    "direct_hash:18446744073709551615");
	expect_text(sley_query_range(3, 0), "range:3:0");
	expect_text(sley_query_range(UINT64_MAX, UINT64_MAX),
		    "range:18446744073709551615:18446744073709551615");
	expect_text(sley_query_physical(2), "physical:2");
}

TEST(c15_every_query_may_have_a_time_out)
{
	expect_text(sley_query_within(sley_query_local(), 0), "local@0");
	expect_text(sley_query_within(sley_query_range(1, 2), 250),
		    "range:1:2@250");
	expect_text(sley_query_within(sley_query_id(1), UINT64_MAX),
		    "direct_id:1@4294967294");
}

TEST(c16_case_does_not_matter)
{
	struct sley_query query;

	CHECK_EQ(sley_query_parse(&query, "LOCAL"), 0);
	CHECK_EQ(query.kind, SLEY_QUERY_LOCAL);
	CHECK_EQ(sley_query_parse(&query, "Direct_Hash:42"), 0);
	CHECK_EQ(query.kind, SLEY_QUERY_HASH);
	CHECK_EQ(query.first, 42);
}

TEST(c16_anything_else_is_an_error_and_changes_nothing)
{
	static const char *const bad[] = {
		"",
		" ",
		"locally",
		"loca",
		"local ",
		" local",
		"local:1",
		"local@",
		"local@x",
		"direct_id",
		"direct_id:",
		"direct_id:x",
		"direct_id:1x",
		"direct_id:-1",
		"direct_id:+1",
		"direct_id: 1",
		"direct_id:0x1",
		"direct_id:1:2",
		"range:1",
		"range:1:",
		"range::1",
		"range:1:2:3",
		"range:1:2@3@4",
		"broadcast:0",
		"physical",
		"local@1 ",
		"@1",
		":1",
	};
	struct sley_query query = sley_query_range(7, 9), before = query;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(sley_query_parse(&query, bad[i]), -EINVAL);
		CHECK_EQ(memcmp(&query, &before, sizeof(query)), 0);
	}
}

TEST(c16_numbers_that_are_too_large_are_an_error)
{
	struct sley_query query;

	CHECK_EQ(sley_query_parse(&query, "direct_id:18446744073709551616"),
		 -ERANGE);
	CHECK_EQ(sley_query_parse(&query, "range:0:99999999999999999999"),
		 -ERANGE);
	CHECK_EQ(sley_query_parse(&query, "local@4294967294"), 0);
	CHECK_EQ(sley_query_parse(&query, "local@4294967295"), -ERANGE);
}

TEST(c16_a_text_that_does_not_fit_is_an_error)
{
	struct sley_query query = sley_query_id(12);
	char text[SLEY_QUERY_TEXT];

	CHECK_EQ(sley_query_text(&query, text, strlen("direct_id:12")),
		 -ENOSPC);
	CHECK_EQ(sley_query_text(&query, text, strlen("direct_id:12") + 1), 12);
	query.kind = 99;
	CHECK_EQ(sley_query_text(&query, text, sizeof(text)), -EINVAL);
}
