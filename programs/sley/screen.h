/* SPDX-License-Identifier: MIT */
/*
 * screen.h - colours, marks and columns of the output.
 *
 * Colours are for terminals only, and not if NO_COLOR is set.  Characters outside
 * ASCII are for UTF-8 locales only.
 */
#ifndef SLEY_PROGRAM_SCREEN_H
#define SLEY_PROGRAM_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_HEADING,
	SCREEN_GOOD,
	SCREEN_WARNING,
	SCREEN_BAD,
	SCREEN_QUIET,
};

void screen_init(void);

/* A check mark or a cross; "ok" or "no" outside UTF-8. */
const char *screen_mark(bool good);

/* How many columns the marks take. */
int screen_mark_width(void);

/* @text in a field of @width columns; a negative @width aligns to the left. */
void screen_field(enum screen_style style, const char *text, int width);

/*
 * Replaces all that is no printable ASCII by '?': names that others have chosen must not
 * move the cursor of a terminal.  Returns @text.
 */
char *screen_clean(char *text);

/* A line across @width columns. */
void screen_rule(int width);

/* ---- numbers, into a buffer of this size -------------------------------- */

#define SCREEN_NUMBER_SIZE 32

/* 1234567 as 1,234,567. */
const char *screen_count(char *out, uint64_t number);

/* Nanoseconds with three digits and a unit. */
const char *screen_time(char *out, double ns);

#endif
