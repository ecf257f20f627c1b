/* SPDX-License-Identifier: MIT */
/*
 * screen.c - see screen.h.
 */
#include "screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_colour;
static bool has_utf8;

static const char *const escapes[] = {
	[SCREEN_PLAIN] = "",         [SCREEN_HEADING] = "\033[1m",
	[SCREEN_GOOD] = "\033[32m",  [SCREEN_WARNING] = "\033[33m",
	[SCREEN_BAD] = "\033[1;31m", [SCREEN_QUIET] = "\033[2m",
};

void screen_init(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	(void)setlocale(LC_CTYPE, "");
	has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	has_colour = isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
		     term && strcmp(term, "dumb") != 0;
}

const char *screen_mark(bool good)
{
	if (has_utf8)
		return good ? "\u2713" : "\u2717";
	return good ? "ok" : "no";
}

int screen_mark_width(void)
{
	return has_utf8 ? 1 : 2;
}

static int columns_of(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

static void spaces(int nr)
{
	if (nr > 0)
		printf("%*s", nr, "");
}

void screen_field(enum screen_style style, const char *text, int width)
{
	bool coloured = has_colour && style != SCREEN_PLAIN;
	int columns = columns_of(text);

	spaces(width - columns);
	printf("%s%s%s", coloured ? escapes[style] : "", text,
	       coloured ? "\033[0m" : "");
	spaces(-width - columns);
}

char *screen_clean(char *text)
{
	for (char *at = text; *at; at++) {
		if (*at < ' ' || *at > '~')
			*at = '?';
	}
	return text;
}

void screen_rule(int width)
{
	for (int i = 0; i < width; i++)
		fputs(has_utf8 ? "\u2500" : "-", stdout);
	putchar('\n');
}

const char *screen_count(char *out, uint64_t number)
{
	char digits[SCREEN_NUMBER_SIZE];
	int nr = snprintf(digits, sizeof(digits), "%llu",
			  (unsigned long long)number);
	char *end = out;

	for (int i = 0; i < nr; i++) {
		if (i > 0 && (nr - i) % 3 == 0)
			*end++ = ',';
		*end++ = digits[i];
	}
	*end = '\0';
	return out;
}

const char *screen_time(char *out, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	int unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	(void)snprintf(out, SCREEN_NUMBER_SIZE, "%.*f %s",
		       ns < 9.95   ? 2
		       : ns < 99.5 ? 1
				   : 0,
		       ns, unit == 1 && has_utf8 ? "\u00b5s" : units[unit]);
	return out;
}
