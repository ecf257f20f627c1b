/* SPDX-License-Identifier: MIT */
/*
 * assert.c - prints on stderr why the program cannot go on, and aborts it.
 */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sley__assert_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "sley: " INTERNAL_ERROR "%s:%d: assertion failed: %s\n",
		file, line, expr);
	abort();
}

/*
 * Names the call as the user knows it: without the _slow of an outlined half.
 * The name of an internal function would mislead, and is left out.
 */
void sley__misuse(const char *function, const char *rule)
{
	size_t length = strlen(function);

	if (length > 5 && strcmp(function + length - 5, "_slow") == 0)
		length -= 5;
	if (strncmp(function, "sley_", 5) == 0)
		fprintf(stderr, "sley: misuse in %.*s: %s\n", (int)length,
			function, rule);
	else
		fprintf(stderr, "sley: misuse: %s\n", rule);
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
