/* SPDX-License-Identifier: MIT */
/*
 * param.c - the parameters of a module as a text.
 */
#include "conformance/bound.h"

#include <stdio.h>

static const char text[] = "limit=100\n"
			   "empty=\n"
			   "equation=a = b\n"
			   "log.level=info\n"
			   "huge=18446744073709551616\n"
			   "last=7"; /* without an end of line */

static const size_t size = sizeof(text) - 1;

static void check_value(const char *name, const char *wanted)
{
	size_t length = 99;
	const char *value = sley_param_find(text, size, name, &length);

	CHECK(value != NULL);
	CHECK_EQ(length, strlen(wanted));
	CHECK(!memcmp(value, wanted, length));
}

TEST(a_parameter_is_found_by_its_whole_name)
{
	size_t length = 99;

	check_value("limit", "100");
	check_value("empty", "");
	check_value("equation", "a = b");
	check_value("log.level", "info");
	check_value("last", "7");
	CHECK(!sley_param_find(text, size, "lim", &length));
	CHECK(!sley_param_find(text, size, "limits", &length));
	CHECK(!sley_param_find(text, size, "log.", &length));
	CHECK(!sley_param_find(text, size, "", &length));
	CHECK(!sley_param_find(NULL, 0, "limit", &length));
	CHECK(!sley_param_find(text, 0, "limit", &length));
	CHECK_EQ(length, 99);
}

TEST(a_parameter_may_be_a_number)
{
	uint64_t number = 99;

	CHECK_EQ(sley_param_number(text, size, "empty", &number), -EINVAL);
	CHECK_EQ(sley_param_number(text, size, "equation", &number), -EINVAL);
	CHECK_EQ(sley_param_number(text, size, "huge", &number), -ERANGE);
	CHECK_EQ(sley_param_number(text, size, "none", &number), -ENOENT);
	CHECK_EQ(number, 99);
	CHECK_EQ(sley_param_number(text, size, "limit", &number), 0);
	CHECK_EQ(number, 100);
	CHECK_EQ(sley_param_number(text, size, "last", &number), 0);
	CHECK_EQ(number, 7);
}

static int switch_of(const char *value, bool *on)
{
	char line[32];

	snprintf(line, sizeof(line), "it=%s\n", value);
	return sley_param_switch(line, strlen(line), "it", on);
}

TEST(a_parameter_may_be_a_switch)
{
	static const char *const words[][2] = { { "false", "true" },
						{ "no", "yes" },
						{ "Off", "ON" } };
	static const char *const others[] = { "", "0", "1", "tru", "truee" };
	bool on;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		on = true;
		CHECK_EQ(switch_of(words[i][0], &on), 0);
		CHECK(!on);
		CHECK_EQ(switch_of(words[i][1], &on), 0);
		CHECK(on);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK_EQ(switch_of(others[i], &on), -EINVAL);
	CHECK_EQ(sley_param_switch(text, size, "none", &on), -ENOENT);
	CHECK(on);
}

TEST(parameters_that_a_module_does_not_know_are_noticed)
{
	static const char *const some[] = { "limit", "empty", "equation",
					    "huge",  "last",  NULL };
	static const char *const all[] = { "limit", "empty", "equation", "huge",
					   "last",  "log.",  NULL };

	CHECK_EQ(sley_params_check(text, size, all), 0);
	CHECK_EQ(sley_params_check(text, size, some), -EINVAL);
	CHECK_EQ(sley_params_check("limit", 5, all), -EINVAL);
	CHECK_EQ(sley_params_check("\n", 1, all), -EINVAL);
	CHECK_EQ(sley_params_check("log.=1\n", 7, all), -EINVAL);
	CHECK_EQ(sley_params_check(NULL, 0, all), 0);
}

TEST(a_text_is_told_from_a_struct)
{
	const uint32_t with_size[3] = { sizeof(with_size), 1, 2 };

	CHECK(sley_params_are_text(text, size));
	CHECK(sley_params_are_text("a=1", 3));
	CHECK(sley_params_are_text("ab=1", 4));
	CHECK(!sley_params_are_text(with_size, sizeof(with_size)));
	CHECK(!sley_params_are_text(NULL, 0));
	CHECK(!sley_params_are_text(text, 0));
}
