/* SPDX-License-Identifier: MIT */
/*
 * http_range.c - ranges of a file of 100 bytes, and of other sizes.
 */
#include "harness/test.h"
#include "http/message/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANGES 4

/* "206 0+5 9+1": the answer, and first+size of each range. */
static const char *answer(const char *value, uint64_t file_size)
{
	static const int statuses[] = { 200, 206, 416 };
	static char text[200];
	struct http_range ranges[MAX_RANGES];
	size_t nr, size = strlen(value);
	char *copy = malloc(size ? size : 1);
	int length;

	memcpy(copy, value, size);
	length = snprintf(text, sizeof(text), "%d",
			  statuses[http_range_parse(copy, size, file_size,
						    ranges, MAX_RANGES, &nr)]);
	for (size_t i = 0; i < nr; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   " %llu+%llu",
				   (unsigned long long)ranges[i].first,
				   (unsigned long long)ranges[i].size);
	free(copy);
	return text;
}

TEST(one_range_is_cut_to_the_file)
{
	CHECK_STR(answer("bytes=0-4", 100), "206 0+5");
	CHECK_STR(answer("bytes=0-0", 100), "206 0+1");
	CHECK_STR(answer("bytes=99-", 100), "206 99+1");
	CHECK_STR(answer("bytes=90-200", 100), "206 90+10");
	CHECK_STR(answer("bytes=0-", 100), "206 0+100");
	CHECK_STR(answer("BYTES=1-2", 100), "206 1+2");
	CHECK_STR(answer("bytes= 1-2 ", 100), "206 1+2");
}

TEST(a_suffix_counts_from_the_end)
{
	CHECK_STR(answer("bytes=-1", 100), "206 99+1");
	CHECK_STR(answer("bytes=-100", 100), "206 0+100");
	CHECK_STR(answer("bytes=-101", 100), "206 0+100");
	CHECK_STR(answer("bytes=-99999999999999999999", 100), "206 0+100");
}

TEST(several_ranges_keep_their_order)
{
	CHECK_STR(answer("bytes=50-59,0-9, -5", 100), "206 50+10 0+10 95+5");
	CHECK_STR(answer("bytes=,1-1,,2-2 ,\t3-3,", 100), "206 1+1 2+1 3+1");
	CHECK_STR(answer("bytes=1-1,100-,2-2", 100), "206 1+1 2+1");
}

TEST(a_range_behind_the_file_is_unsatisfiable)
{
	CHECK_STR(answer("bytes=100-", 100), "416");
	CHECK_STR(answer("bytes=100-200", 100), "416");
	CHECK_STR(answer("bytes=-0", 100), "416");
	CHECK_STR(answer("bytes=100-,200-300,-0", 100), "416");
	CHECK_STR(answer("bytes=18446744073709551616-", 100), "416");
	CHECK_STR(answer("bytes=18446744073709551615-", UINT64_MAX), "416");
}

TEST(numbers_may_be_as_large_as_the_file)
{
	CHECK_STR(answer("bytes=18446744073709551614-", UINT64_MAX),
		  "206 18446744073709551614+1");
	CHECK_STR(answer("bytes=0-99999999999999999999", 5), "206 0+5");
	CHECK_STR(answer("bytes=0-18446744073709551615", UINT64_MAX),
		  "206 0+18446744073709551615");
}

TEST(a_malformed_range_is_ignored)
{
	CHECK_STR(answer("", 100), "200");
	CHECK_STR(answer("bytes", 100), "200");
	CHECK_STR(answer("bytes=", 100), "200");
	CHECK_STR(answer("bytes=,", 100), "200");
	CHECK_STR(answer("bytes=1", 100), "200");
	CHECK_STR(answer("bytes=-", 100), "200");
	CHECK_STR(answer("bytes=--1", 100), "200");
	CHECK_STR(answer("bytes=1-2-3", 100), "200");
	CHECK_STR(answer("bytes=1 -2", 100), "200");
	CHECK_STR(answer("bytes=a-b", 100), "200");
	CHECK_STR(answer("bytes=+1-2", 100), "200");
	CHECK_STR(answer("bytes=1-2 3-4", 100), "200");
	CHECK_STR(answer("bytes =1-2", 100), "200");
	CHECK_STR(answer("bytes:1-2", 100), "200");
}

TEST(a_range_that_ends_before_it_begins_is_ignored)
{
	CHECK_STR(answer("bytes=5-4", 100), "200");
	CHECK_STR(answer("bytes=0-1,5-4", 100), "200");
}

TEST(another_unit_is_ignored)
{
	CHECK_STR(answer("lines=1-2", 100), "200");
}

TEST(too_many_ranges_are_ignored)
{
	CHECK_STR(answer("bytes=0-0,1-1,2-2,3-3", 100), "206 0+1 1+1 2+1 3+1");
	CHECK_STR(answer("bytes=0-0,1-1,2-2,3-3,4-4", 100), "200");
	CHECK_STR(answer("bytes=100-,100-,100-,100-,4-4", 100), "200");
}

TEST(ranges_that_are_larger_than_the_file_are_ignored)
{
	CHECK_STR(answer("bytes=0-49,50-99", 100), "206 0+50 50+50");
	CHECK_STR(answer("bytes=0-50,50-99", 100), "200");
	CHECK_STR(answer("bytes=0-,0-,0-", 100), "200");
}

TEST(an_empty_file_is_sent_whole)
{
	CHECK_STR(answer("bytes=0-", 0), "200");
	CHECK_STR(answer("bytes=-5", 0), "200");
}
