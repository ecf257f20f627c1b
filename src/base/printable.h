/* SPDX-License-Identifier: MIT */
/*
 * printable.h - texts of other processes, before they go into a log or to a terminal.
 */
#ifndef SLEY_BASE_PRINTABLE_H
#define SLEY_BASE_PRINTABLE_H

#include <stddef.h>
#include <string.h>

/*
 * Ends a text of @size bytes at its first 0, or at its end, and clears what is behind; no
 * character begins a line or moves a cursor.
 */
static inline void text_make_printable(char *text, size_t size)
{
	size_t length = strnlen(text, size - 1);

	memset(text + length, 0, size - length);
	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
}

#endif
