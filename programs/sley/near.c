/* SPDX-License-Identifier: MIT */
/*
 * near.c - see near.h.
 */
#include "near.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* Distances: the same, a beginning, letters that differ, a word of the summary. */
#define SAME 0
#define BEGINNING 1
#define LETTERS 2
#define SUMMARY 100
#define FAR UINT_MAX

#define SHORTEST_WORD 4 /* that is looked for in summaries */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool equal(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* One letter more, less or other, or two that changed places, is one step. */
static unsigned int steps_between(const char *a, const char *b)
{
	unsigned int rows[3][NEAR_LENGTH + 1]; /* row i is rows[i % 3] */
	size_t nr_a = strlen(a), nr_b = strlen(b);

	for (size_t i = 0; i <= nr_a; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= nr_b; j++) {
			if (i == 0) {
				row[j] = (unsigned int)j;
				continue;
			}
			row[j] = least(above[j], row[j - 1]) + 1;
			row[j] = least(row[j], above[j - 1] + !equal(a[i - 1],
								     b[j - 1]));
			if (i > 1 && j > 1 && equal(a[i - 1], b[j - 2]) &&
			    equal(a[i - 2], b[j - 1]))
				row[j] = least(row[j],
					       rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[nr_a % 3][nr_b];
}

/* Whole words only. */
static bool has_word(const char *summary, const char *word)
{
	size_t length = strlen(word);
	const char *at = summary;

	if (length < SHORTEST_WORD)
		return false;
	while ((at = strcasestr(at, word))) {
		bool begins = at == summary || !isalnum((unsigned char)at[-1]);

		if (begins && !isalnum((unsigned char)at[length]))
			return true;
		at++;
	}
	return false;
}

static unsigned int distance_of(const char *word, const char *name,
				const char *summary)
{
	size_t length = strlen(word);
	unsigned int steps, most = length < 6 ? 1 : 2;

	if (strcmp(word, name) == 0)
		return SAME;
	if (length == 0 || length >= NEAR_LENGTH || strlen(name) >= NEAR_LENGTH)
		return FAR;
	if (strncasecmp(word, name, length) == 0)
		return BEGINNING;
	steps = steps_between(word, name);
	if (length > 1 && steps <= most)
		return LETTERS + steps;
	return summary && has_word(summary, word) ? SUMMARY : FAR;
}

void near_init(struct near *near, const char *word)
{
	near->word = word;
	near->distance = FAR;
	near->nr = 0;
}

void near_offer(struct near *near, const char *name, const char *full,
		const char *summary)
{
	unsigned int distance = distance_of(near->word, name, summary);

	if (distance == FAR || distance > near->distance ||
	    strlen(full) >= NEAR_LENGTH)
		return;
	if (distance < near->distance)
		near->nr = 0;
	near->distance = distance;
	if (near->nr < NEAR_NAMES)
		memcpy(near->names[near->nr], full, strlen(full) + 1);
	near->nr++;
}

bool near_is_exact(const struct near *near)
{
	return near->distance == SAME;
}

void near_print(const struct near *near, FILE *file)
{
	unsigned int nr = least(near->nr, NEAR_NAMES);

	for (unsigned int i = 0; i < nr; i++) {
		const char *between = i + 1 == near->nr ? " or " : ", ";

		fprintf(file, "%s'%s'", i ? between : "", near->names[i]);
	}
	if (near->nr > nr)
		fputs(" or others", file);
}
