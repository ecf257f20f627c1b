/* SPDX-License-Identifier: MIT */
/*
 * os_symbol.c - addresses of code as people read them.
 *
 * With a function that no sanitizer replaces.
 */
#include "harness/test.h"

#include "os/symbol.h"

#include <gnu/libc-version.h>

TEST(a_function_of_a_library_has_its_name)
{
	char text[64];

	os_symbol(text, sizeof(text),
		  (const void *)(uintptr_t)gnu_get_libc_version);
	CHECK_STR(text, "gnu_get_libc_version");
}

TEST(an_address_inside_of_it_has_an_offset)
{
	char text[64];

	os_symbol(text, sizeof(text),
		  (const char *)(uintptr_t)gnu_get_libc_version + 1);
	CHECK_STR(text, "gnu_get_libc_version+0x1");
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

	os_symbol(text, sizeof(text),
		  (const void *)(uintptr_t)gnu_get_libc_version);
	CHECK_STR(text, "gnu");
}
