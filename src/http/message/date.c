/* SPDX-License-Identifier: MIT */
/*
 * date.c - days are counted in years that begin in March.
 *
 * So the leap day is the last day of its year, and the months have a regular length:
 * month m, counted from March, begins (153 m + 2) / 5 days after the first of March.
 * 400 years are 146,097 days.
 */
#include "http/message/date.h"

#include <stdint.h>
#include <string.h>

#define DAY 86400
#define ERA_DAYS 146097 /* 400 years */
#define EPOCH                                                                  \
	719468 /* days from March 1st of the year 0 to January 1st, 1970 */
#define YEAR_0 (-719528LL * DAY)
#define YEAR_10000 (2932897LL * DAY)

static const char week_days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
/* A digit where there is a 0. */
static const char form[] = "Www, 00 Mmm 0000 00:00:00 GMT";

/* Days since 1970; @month is 0 to 11. */
static int64_t days_of(int year, int month, int day)
{
	int from_march = (month + 10) % 12;
	int march_year = month < 2 ? year - 1 : year;
	/* The year 0 begins in the era before. */
	int64_t era = march_year < 0 ? -1 : march_year / 400;
	int64_t year_of_era = march_year - era * 400;
	int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;

	return era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 -
	       year_of_era / 100 + day_of_year - EPOCH;
}

/* 0 is Sunday; the first of January 1970 was a Thursday. */
static int week_day_of(int64_t days)
{
	return (int)(((days + 4) % 7 + 7) % 7);
}

static void put(char *text, int number, int nr_digits)
{
	while (nr_digits--) {
		text[nr_digits] = (char)('0' + number % 10);
		number /= 10;
	}
}

static void put_day(char *text, int64_t days)
{
	int64_t since = days + EPOCH;
	int64_t era = since < 0 ? -1 : since / ERA_DAYS;
	int64_t day = since - era * ERA_DAYS;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
	int64_t from_march = (5 * day_of_year + 2) / 153;
	int month = (int)((from_march + 2) % 12);

	memcpy(text, week_days + 3 * week_day_of(days), 3);
	put(text + 5, (int)(day_of_year - (153 * from_march + 2) / 5 + 1), 2);
	memcpy(text + 8, months + 3 * month, 3);
	put(text + 12, (int)(year + era * 400) + (month < 2), 4);
}

bool http_date_write(char *text, time_t time)
{
	int64_t days = time / DAY;
	int second = (int)(time % DAY);

	if (time < YEAR_0 || time >= YEAR_10000)
		return false;
	if (second < 0) {
		second += DAY;
		days--;
	}
	memcpy(text, form, HTTP_DATE_SIZE);
	put_day(text, days);
	put(text + 17, second / 3600, 2);
	put(text + 20, second / 60 % 60, 2);
	put(text + 23, second % 60, 2);
	return true;
}

static int get(const char *text, int nr_digits)
{
	int number = 0;

	for (int i = 0; i < nr_digits; i++)
		number = number * 10 + text[i] - '0';
	return number;
}

/* The index of the three letters at @text in @names; -1: not there. */
static int find(const char *text, const char *names)
{
	for (int i = 0; names[3 * i]; i++) {
		if (memcmp(text, names + 3 * i, 3) == 0)
			return i;
	}
	return -1;
}

static bool has_form(const char *text)
{
	for (int i = 3; i < HTTP_DATE_SIZE; i++) {
		bool is_digit = text[i] >= '0' && text[i] <= '9';

		if (i >= 8 && i < 11)
			continue; /* the month */
		if (form[i] == '0' ? !is_digit : text[i] != form[i])
			return false;
	}
	return true;
}

static int month_size(int year, int month)
{
	if (month == 11)
		return 31;
	return (int)(days_of(year, month + 1, 1) - days_of(year, month, 1));
}

bool http_date_parse(const char *text, size_t size, time_t *time)
{
	int month, year, day, hour, minute, second;
	int64_t days;

	if (size != HTTP_DATE_SIZE || !has_form(text))
		return false;
	month = find(text + 8, months);
	day = get(text + 5, 2);
	year = get(text + 12, 4);
	hour = get(text + 17, 2);
	minute = get(text + 20, 2);
	second = get(text + 23, 2);
	if (month < 0 || day < 1 || day > month_size(year, month))
		return false;
	/* 60 is a leap second. */
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	days = days_of(year, month, day);
	if (find(text, week_days) != week_day_of(days))
		return false;
	*time = (time_t)(days * DAY + hour * 3600 + minute * 60 + second);
	return true;
}
