/* SPDX-License-Identifier: MIT */
/*
 * pen.c - see pen.h.
 */
#include "graph/log/pen.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void flush(struct pen *pen)
{
	int err = 0;

	if (pen->nr && !pen->err)
		err = pen->put(pen->arg, pen->text, pen->nr);
	if (err < 0)
		pen->err = err;
	pen->nr = 0;
}

static void add(struct pen *pen, const char *text, size_t length)
{
	if (pen->nr + length > PEN_SIZE)
		flush(pen);
	memcpy(pen->text + pen->nr, text, length);
	pen->nr += length;
}

void pen_put(struct pen *pen, const char *format, ...)
{
	va_list args;
	int n;

	if (pen->nr + PEN_PIECE > PEN_SIZE)
		flush(pen);
	va_start(args, format);
	n = vsnprintf(pen->text + pen->nr, PEN_PIECE, format, args);
	va_end(args);
	if (n > 0)
		pen->nr += (size_t)n < PEN_PIECE ? (size_t)n : PEN_PIECE - 1;
}

/* ---- names --------------------------------------------------------------------------- */

/* What stands for @letter, or NULL: itself. */
static const char *escape(char letter)
{
	switch (letter) {
	case '&':
		return "&amp;"; /* dot reads entities, too */
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	default:
		return NULL;
	}
}

/* Bytes of the letter at @text; *@bad: it is none that may be put anywhere. */
static size_t letter_length(const char *text, size_t size, bool *bad)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length = utf8_length(bytes, size);

	*bad = !length || bytes[0] < 0x20 || bytes[0] == 0x7f ||
	       /* U+FFFE and U+FFFF: no letters, says XML. */
	       (length == 3 && bytes[0] == 0xef && bytes[1] == 0xbf &&
		bytes[2] >= 0xbe);
	return length ? length : 1;
}

void pen_put_name(struct pen *pen, const char *name, uint32_t letters)
{
	size_t size = strnlen(name, (size_t)letters * 4);
	bool bad;

	for (; size && letters; letters--) {
		size_t length = letter_length(name, size, &bad);
		const char *other = bad ? "?" : escape(*name);

		if (other)
			add(pen, other, strlen(other));
		else
			add(pen, name, length);
		name += length;
		size -= length;
	}
}

void pen_put_json(struct pen *pen, const char *text)
{
	size_t size = strlen(text), used, length;
	char letter[JSON_LETTER];

	add(pen, "\"", 1);
	for (; size; text += used, size -= used) {
		used = json_letter(text, size, letter, &length);
		add(pen, letter, length);
	}
	add(pen, "\"", 1);
}

/* ---- times --------------------------------------------------------------------------- */

void pen_put_time(struct pen *pen, uint64_t ns)
{
	static const char *const unit[] = { "\302\265s", "ms", "s" };
	uint64_t tenths = ns / 100;
	unsigned int i = 0;

	if (ns < 1000) {
		pen_put(pen, "%u ns", (unsigned int)ns);
		return;
	}
	for (; tenths >= 10000 && i < array_size(unit) - 1; i++)
		tenths /= 1000;
	if (tenths < 1000)
		pen_put(pen, "%u.%u %s", (unsigned int)(tenths / 10),
			(unsigned int)(tenths % 10), unit[i]);
	else
		pen_put(pen, "%" PRIu64 " %s", tenths / 10, unit[i]);
}

int pen_end(struct pen *pen)
{
	flush(pen);
	return pen->err;
}
