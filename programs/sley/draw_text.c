/* SPDX-License-Identifier: MIT */
/*
 * draw_text.c - see draw_text.h.
 */
#include "draw_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* What stands for @letter, or NULL: itself. */
static const char *escape(char letter)
{
	switch (letter) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

/* Bytes of the letter at @text: the first one, and those that continue it. */
static size_t letter_length(const char *text)
{
	size_t length = 1;

	while (((unsigned char)text[length] & 0xc0) == 0x80)
		length++;
	return length;
}

static bool is_allowed(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (bytes[0] < 0x20 || bytes[0] == 0x7f)
		return false;
	/* U+0080 to U+009F, which are control characters, too. */
	if (bytes[0] == 0xc2 && bytes[1] < 0xa0)
		return false;
	/* U+FFFE and U+FFFF: no letters, says XML. */
	return !(bytes[0] == 0xef && bytes[1] == 0xbf && bytes[2] >= 0xbe);
}

uint32_t text_count(const char *name, uint32_t letters)
{
	uint32_t nr = 0;

	for (; *name && nr < letters; nr++)
		name += letter_length(name);
	return nr;
}

void text_put_name(FILE *file, const char *name, uint32_t letters)
{
	for (; *name && letters; letters--) {
		size_t length = letter_length(name);
		const char *other = is_allowed(name) ? escape(*name) : "?";

		if (other)
			fputs(other, file);
		else
			fwrite(name, 1, length, file);
		name += length;
	}
}

void text_put_time(FILE *file, uint64_t ns)
{
	static const char *const unit[] = { "\302\265s", "ms", "s" };
	uint64_t tenths = ns / 100;
	unsigned int i = 0;

	if (ns < 1000) {
		fprintf(file, "%u ns", (unsigned int)ns);
		return;
	}
	for (; tenths >= 10000 && i < 2; i++)
		tenths /= 1000;
	if (tenths < 1000)
		fprintf(file, "%u.%u %s", (unsigned int)(tenths / 10),
			(unsigned int)(tenths % 10), unit[i]);
	else
		fprintf(file, "%" PRIu64 " %s", tenths / 10, unit[i]);
}
