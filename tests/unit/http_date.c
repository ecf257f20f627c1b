/* SPDX-License-Identifier: MIT */
/*
 * http_date.c - dates, beside those of the C library.
 */
#include "harness/test.h"
#include "http/message/date.h"

#include <stdio.h>
#include <string.h>

#define EXAMPLE "Sun, 06 Nov 1994 08:49:37 GMT"

static const char *written(time_t time)
{
	static char text[HTTP_DATE_SIZE + 1];

	CHECK(http_date_write(text, time));
	return text;
}

static bool parses(const char *text)
{
	time_t time;

	return http_date_parse(text, strlen(text), &time);
}

TEST(the_example_of_the_standard)
{
	time_t time = 0;

	CHECK_STR(written(784111777), EXAMPLE);
	CHECK(http_date_parse(EXAMPLE, HTTP_DATE_SIZE, &time));
	CHECK_EQ(time, 784111777);
}

TEST(the_limits_of_the_calendar)
{
	char text[HTTP_DATE_SIZE];

	CHECK_STR(written(0), "Thu, 01 Jan 1970 00:00:00 GMT");
	CHECK_STR(written(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
	CHECK_STR(written(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
	CHECK_STR(written(253402300799), "Fri, 31 Dec 9999 23:59:59 GMT");
	CHECK_STR(written(-62167219200), "Sat, 01 Jan 0000 00:00:00 GMT");
	CHECK(!http_date_write(text, 253402300800));
	CHECK(!http_date_write(text, -62167219201));
}

static void check_as_library(time_t time)
{
	char text[100];
	struct tm tm;
	time_t back;

	gmtime_r(&time, &tm);
	/* %Y writes years below 1000 with fewer digits. */
	strftime(text, sizeof(text), "%a, %d %b ", &tm);
	snprintf(text + 12, sizeof(text) - 12, "%04d", tm.tm_year + 1900);
	strftime(text + 16, sizeof(text) - 16, " %H:%M:%S GMT", &tm);
	CHECK_STR(written(time), text);
	CHECK(http_date_parse(text, strlen(text), &back));
	CHECK_EQ(back, time);
}

TEST(each_day_is_as_in_the_c_library)
{
	for (int64_t day = -719528; day < 2932897; day++) {
		if (day % 7 && test_is_slow())
			continue;
		check_as_library(
			(time_t)(day * 86400 + (int64_t)test_random(86400)));
	}
}

TEST(a_leap_second_is_the_next_minute)
{
	time_t time = 0;

	CHECK(http_date_parse("Sat, 31 Dec 2016 23:59:60 GMT", 29, &time));
	CHECK_STR(written(time), "Sun, 01 Jan 2017 00:00:00 GMT");
}

TEST(other_texts_are_no_dates)
{
	CHECK(parses(EXAMPLE));
	CHECK(!parses(""));
	CHECK(!parses(EXAMPLE " "));
	CHECK(!parses("Sun, 06 Nov 1994 08:49:37 GM"));
	CHECK(!parses("Sun, 06 Nov 1994 08:49:37 UTC"));
	CHECK(!parses("Sun, 06 Nov 1994 08:49:37 gmt"));
	CHECK(!parses("Sun, 06 nov 1994 08:49:37 GMT"));
	CHECK(!parses("Sun, 06 ovD 1994 08:49:37 GMT"));
	CHECK(!parses("sun, 06 Nov 1994 08:49:37 GMT"));
	CHECK(!parses("Sun, +6 Nov 1994 08:49:37 GMT"));
	CHECK(!parses("Sun, 06 Nov 1994 08-49-37 GMT"));
	CHECK(!parses("Sunday, 06-Nov-94 08:49:37 GMT"));
	CHECK(!parses("Sun Nov  6 08:49:37 1994"));
}

TEST(days_that_are_not_in_the_calendar_are_no_dates)
{
	CHECK(!parses("Mon, 06 Nov 1994 08:49:37 GMT"));
	CHECK(!parses("Mon, 00 Nov 1994 08:49:37 GMT"));
	CHECK(!parses("Thu, 31 Nov 1994 08:49:37 GMT"));
	CHECK(!parses("Sun, 32 Dec 2000 08:49:37 GMT"));
	CHECK(parses("Sun, 31 Dec 2000 08:49:37 GMT"));
	CHECK(!parses("Thu, 29 Feb 1900 08:49:37 GMT"));
	CHECK(parses("Tue, 29 Feb 2000 08:49:37 GMT"));
}

TEST(times_that_are_not_on_the_clock_are_no_dates)
{
	CHECK(!parses("Sun, 06 Nov 1994 24:00:00 GMT"));
	CHECK(!parses("Sun, 06 Nov 1994 08:60:37 GMT"));
	CHECK(!parses("Sun, 06 Nov 1994 08:49:61 GMT"));
}
