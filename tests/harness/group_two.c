/* SPDX-License-Identifier: MIT */
/*
 * group_two.c - the other file of the program of group_one.c.
 */
#include "harness/test.h"

TEST(the_second_file_has_one_test)
{
	CHECK(test_seed() != 0);
}
