/* SPDX-License-Identifier: MIT */
/*
 * group_two.c - the other file of the program of group_one.c.
 */
#include "harness/test.h"

TEST(the_second_file_has_one_test)
{
	CHECK(test_seed() != 0);
}

TEST_WORKERS(workers_have_roles_in_the_second_file)
{
	CHECK_NE(test_config()->workers, 0);
}
