/* SPDX-License-Identifier: MIT */
/*
 * reader.c - see reader.h.
 */
#include "config/reader.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define MISTAKES_MAX 20 /* that are said */
#define SHOWN_MAX 60
#define NAME_MAX_SHOWN 4095 /* of a file */

static void say(const struct reader *reader, const char *line)
{
	if (reader->report)
		reader->report(reader->report_self, line);
	else
		fprintf(stderr, "sley: %s\n", line);
}

static void say_about(const struct reader *reader, struct place at,
		      const char *format, va_list args)
{
	char text[1024], line[NAME_MAX_SHOWN + sizeof(text) + 32];

	(void)vsnprintf(text, sizeof(text), format, args);
	if (at.variable)
		snprintf(line, sizeof(line), "$%s: %s", at.variable, text);
	else if (at.line)
		snprintf(line, sizeof(line), "%.*s:%u:%u: %s", NAME_MAX_SHOWN,
			 reader->name, at.line, at.column, text);
	else
		snprintf(line, sizeof(line), "%.*s: %s", NAME_MAX_SHOWN,
			 reader->name, text);
	say(reader, line);
}

int reader_mistake(struct reader *reader, struct place at, const char *format,
		   ...)
{
	va_list args;

	if (reader->nr_mistakes++ < MISTAKES_MAX) {
		va_start(args, format);
		say_about(reader, at, format, args);
		va_end(args);
	} else if (reader->nr_mistakes == MISTAKES_MAX + 1) {
		say(reader, "more mistakes are not listed");
	}
	return -EINVAL;
}

void reader_note(const struct reader *reader, struct place at,
		 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_about(reader, at, format, args);
	va_end(args);
}

int reader_shown(const char *text, size_t size)
{
	size_t shown = 0;

	while (shown < size) {
		size_t letter = utf8_length((const unsigned char *)text + shown,
					    size - shown);

		if (!letter || shown + letter > SHOWN_MAX)
			break;
		shown += letter;
	}
	return (int)shown;
}
