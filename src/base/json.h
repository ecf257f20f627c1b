/* SPDX-License-Identifier: MIT */
/*
 * json.h - the letters of a JSON string, from text that may be anything.
 */
#ifndef SLEY_BASE_JSON_H
#define SLEY_BASE_JSON_H

#include "base/utf8.h"

#include <stddef.h>
#include <string.h>

/* Room for a letter of a JSON string: "\u001f", or four bytes of UTF-8. */
#define JSON_LETTER 6

/*
 * Writes the first letter of @text, of @size bytes, as it stands between the quotes of
 * a JSON string: *@length bytes.  A byte that is no UTF-8 becomes U+FFFD.  Returns how
 * many bytes of @text the letter has.
 */
static inline size_t json_letter(const char *text, size_t size,
				 char letter[JSON_LETTER], size_t *length)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char first = (unsigned char)*text;
	size_t used = utf8_length((const unsigned char *)text, size);

	if (!used) {
		memcpy(letter, "\\ufffd", *length = 6);
		return 1;
	}
	if (first < 0x20 || first == 0x7f) {
		memcpy(letter, "\\u00", 4);
		letter[4] = digits[first >> 4];
		letter[5] = digits[first & 15];
		*length = 6;
	} else if (first == '"' || first == '\\') {
		letter[0] = '\\';
		letter[1] = (char)first;
		*length = 2;
	} else {
		memcpy(letter, text, *length = used);
	}
	return used;
}

#endif
