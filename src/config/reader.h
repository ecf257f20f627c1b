/* SPDX-License-Identifier: MIT */
/*
 * reader.h - the memory of a file that is read, and the mistakes that were found.
 *
 * A mistake does not end the reading, so that a user sees all of them at once; only
 * a syntax error does.  Texts of the file are in messages as they are: tree.c has
 * refused control characters.
 */
#ifndef SLEY_CONFIG_READER_H
#define SLEY_CONFIG_READER_H

#include "base/compiler.h"
#include "config/pile.h"

#include <stdint.h>

/* Where a value stands: in the file, or in a variable of the environment. */
struct place {
	const char *variable; /* NULL: in the file                           */
	uint32_t line;        /* from 1; 0: nowhere in particular            */
	uint32_t column;
};

struct reader {
	struct pile pile;
	void (*report)(void *self, const char *line); /* NULL: stderr        */
	void *report_self;
	const char *name; /* of the file                                     */
	unsigned int nr_mistakes;
};

/* A sentence about @at; always returns -EINVAL. */
printf_like(3, 4) int reader_mistake(struct reader *reader, struct place at,
				     const char *format, ...);

/* The same for what is no mistake. */
printf_like(3, 4) void reader_note(const struct reader *reader, struct place at,
				   const char *format, ...);

/* How much of @text is shown in a message, for %.*s: no torn letters. */
int reader_shown(const char *text, size_t size);

#endif
