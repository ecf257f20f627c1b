/* SPDX-License-Identifier: MIT */
/*
 * glob.h - does a name match a pattern?
 *
 *   *   any run of characters, also none
 *   ?   any one
 *
 * Everything else is itself.  When it goes wrong the last star takes one character
 * more: an earlier one need not, since what came after it has matched as early as it
 * could.  So the time is at most the product of both lengths.
 */
#ifndef SLEY_ACTOR_NAME_GLOB_H
#define SLEY_ACTOR_NAME_GLOB_H

#include <stdbool.h>
#include <stddef.h>

static inline bool glob_matches(const char *glob, const char *text)
{
	const char *star = NULL;  /* the last one                    */
	const char *after = NULL; /* in @text: what follows its run */

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
