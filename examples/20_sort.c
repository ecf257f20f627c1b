/* SPDX-License-Identifier: MIT */
/*
 * 20_sort.c - words by length; words of the same length stay in order.
 *
 *   cc 20_sort.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

enum { NR = 1000000 };

static int by_length(const void *a, const void *b, void *arg)
{
	size_t x = strlen(*(const char *const *)a);
	size_t y = strlen(*(const char *const *)b);

	(void)arg;
	return (x > y) - (x < y);
}

static void root(void *arg)
{
	const char *words[] = { "weft", "a",    "sley", "beats",
				"the",  "into", "its",  "place" };
	static double number[NR];
	bool *ok = arg;

	/* A million numbers in place, on all workers. */
	for (int i = 0; i < NR; i++)
		number[i] = (double)((int64_t)i * 7919 % NR);
	sley_sort_double(number, NR);
	for (int i = 0; i < NR; i++)
		*ok = *ok && number[i] == i;

	/* Any other type by a comparison.  The stable sort needs a buffer. */
	if (sley_sort_stable(words, 8, sizeof(*words), by_length, NULL))
		*ok = false;
	for (int i = 0; i < 8; i++)
		printf("%s ", words[i]);
	puts("");
	*ok = *ok && !strcmp(words[2], "its") && !strcmp(words[4], "sley");
}

int main(void)
{
	bool ok = true;

	return sley_run(NULL, root, &ok) != 0 || !ok;
}
