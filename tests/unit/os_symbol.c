/* SPDX-License-Identifier: MIT */
/*
 * os_symbol.c - addresses of code as people read them.
 */
#include "harness/test.h"

#include "os/symbol.h"

#include <stdlib.h>
#include <string.h>

TEST(a_function_of_a_library_has_its_name)
{
	char text[64];

	os_symbol(text, sizeof(text), (const void *)(uintptr_t)abort);
	CHECK_STR(text, "abort");
}

TEST(an_address_inside_of_it_has_an_offset)
{
	char text[64];

	os_symbol(text, sizeof(text), (const char *)(uintptr_t)abort + 1);
	CHECK_STR(text, "abort+0x1");
}

TEST(what_is_no_code_is_a_number)
{
	char text[64];

	os_symbol(text, sizeof(text), (const void *)(uintptr_t)0x10);
	CHECK_STR(text, "0x10");
}

TEST(what_does_not_fit_is_cut)
{
	char text[4];

	os_symbol(text, sizeof(text), (const void *)(uintptr_t)abort);
	CHECK_STR(text, "abo");
}
