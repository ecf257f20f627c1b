/* SPDX-License-Identifier: MIT */
/*
 * assert.c - the last words.
 */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sley__assert_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "sley: %s:%d: assertion failed: %s\n", file, line,
		expr);
	abort();
}

void sley__misuse(const char *function, const char *rule)
{
	fprintf(stderr, "sley: misuse in %s: %s\n", function, rule);
	abort();
}

void sley__fatal(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("sley: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}
