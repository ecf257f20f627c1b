/* SPDX-License-Identifier: MIT */
/*
 * near.h - the names that a mistyped word may stand for.
 *
 * A name is near if it begins with the word, if the two differ by few letters, or
 * if the word is one of its summary.  Only the nearest names are kept.
 */
#ifndef SLEY_PROGRAM_NEAR_H
#define SLEY_PROGRAM_NEAR_H

#include <stdbool.h>
#include <stdio.h>

#define NEAR_NAMES 5
#define NEAR_LENGTH                                                            \
	64 /* of a name or a word; longer ones are near to nothing */

struct near {
	const char *word;
	unsigned int distance; /* of the names below */
	unsigned int nr;       /* of names; more than NEAR_NAMES are not kept */
	char names[NEAR_NAMES][NEAR_LENGTH];
};

void near_init(struct near *near, const char *word);

/* @full is kept if @name is near; @summary may be NULL. */
void near_offer(struct near *near, const char *name, const char *full,
		const char *summary);

/* Whether the word itself was offered. */
bool near_is_exact(const struct near *near);

/* "'a', 'b' or 'c'" */
void near_print(const struct near *near, FILE *file);

#endif
