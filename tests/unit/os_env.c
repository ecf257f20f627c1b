/* SPDX-License-Identifier: MIT */
/*
 * os_env.c - the environment.
 */
#include "harness/test.h"

#include "os/env.h"

#include <stdlib.h>

TEST(a_variable_is_found_only_if_set)
{
	unsetenv("SLEY_TEST_VARIABLE");
	CHECK(os_env("SLEY_TEST_VARIABLE") == NULL);
	setenv("SLEY_TEST_VARIABLE", "yes", 1);
	CHECK_STR(os_env("SLEY_TEST_VARIABLE"), "yes");
	setenv("SLEY_TEST_VARIABLE", "", 1);
	CHECK_STR(os_env("SLEY_TEST_VARIABLE"), "");
}
