/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - finds the end of a UTF-8 sequence in text that may be invalid.
 */
#ifndef SLEY_BASE_UTF8_H
#define SLEY_BASE_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 sequence at @text; 0: there is no valid sequence. */
static inline size_t utf8_length(const unsigned char *text, size_t size)
{
	size_t length = text[0] < 0x80                      ? 1
			: text[0] >= 0xc2 && text[0] < 0xe0 ? 2
			: text[0] >= 0xe0 && text[0] < 0xf0 ? 3
			: text[0] >= 0xf0 && text[0] < 0xf5 ? 4
							    : 0;

	if (length > size)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	/* An overlong form, a surrogate, or beyond Unicode. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] >= 0xa0) ||
	    (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] >= 0x90))
		return 0;
	return length;
}

#endif
