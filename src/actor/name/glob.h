/* SPDX-License-Identifier: MIT */
/*
 * glob.h - does a name match a pattern?
 *
 *   *   any run of characters, also an empty run
 *   ?   any single character
 *
 * All other characters stand for themselves.  After a mismatch the last star
 * takes one more character.  Earlier stars need not, since the text behind them
 * has matched as early as possible.  So the time is at most the product of both
 * lengths.
 */
#ifndef SLEY_ACTOR_NAME_GLOB_H
#define SLEY_ACTOR_NAME_GLOB_H

#include <stdbool.h>
#include <stddef.h>

static inline bool glob_matches(const char *glob, const char *text)
{
	const char *star = NULL;  /* the last star                   */
	const char *after = NULL; /* in @text: the end of its run   */

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			after = text;
		} else if (*glob == '?' || *glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star + 1;
			text = ++after;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

#endif
