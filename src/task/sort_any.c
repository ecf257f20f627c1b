/* SPDX-License-Identifier: MIT */
/*
 * sort_any.c - elements of any size, by a comparison that is called.
 *
 * The calls are most of the cost, so each cut compares every element once
 * and moves only those on the wrong side.
 */
#include "task/sort.h"

#include <string.h>

/* Elements up to here are kept aside in a frame; longer ones are swapped. */
#define ASIDE 256

static bool before(const struct sort *sort, const void *a, const void *b)
{
	return sort->compare(a, b, sort->arg) < 0;
}

static void swap_words(char *a, char *b, size_t size)
{
	uint64_t x, y;

	for (; size >= 8; size -= 8, a += 8, b += 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		memcpy(a, &y, 8);
		memcpy(b, &x, 8);
	}
	for (; size; size--, a++, b++) {
		char c = *a;

		*a = *b;
		*b = c;
	}
}

static void swap(char *a, char *b, size_t size)
{
	if (a != b)
		swap_words(a, b, size);
}

static size_t run(const struct sort *sort, const char *base, size_t nr)
{
	const char *at = base + sort->size;
	size_t i = 1;

	for (; i < nr && !before(sort, at, at - sort->size); i++)
		at += sort->size;
	return i;
}

/* ---- cut ------------------------------------------------------------------- */

static char *median(const struct sort *sort, char *a, char *b, char *c)
{
	if (before(sort, b, a)) {
		char *t = a;

		a = b;
		b = t;
	}
	if (!before(sort, c, b))
		return b;
	return before(sort, c, a) ? a : c;
}

static char *median_of_sample(const struct sort *sort, char *base, size_t nr,
			      struct rand *rand)
{
	char *at[3];

	for (int i = 0; i < 3; i++)
		at[i] = base + sort_sample(rand, nr) * sort->size;
	return median(sort, at[0], at[1], at[2]);
}

static char *middle(const struct sort *sort, char *base, size_t nr,
		    struct rand *rand)
{
	char *at[3];

	if (nr < SORT_NINE)
		return median_of_sample(sort, base, nr, rand);
	for (int i = 0; i < 3; i++)
		at[i] = median_of_sample(sort, base, nr, rand);
	return median(sort, at[0], at[1], at[2]);
}

/*
 * The first element is the middle one.  Those that come before it go to the
 * front, it follows, and all others come last.  Returns where it is now.
 */
static size_t split(const struct sort *sort, char *base, size_t nr)
{
	size_t size = sort->size;
	char *low = base + size, *high = base + nr * size;

	for (;;) {
		while (low < high && before(sort, low, base))
			low += size;
		while (low < high && !before(sort, high - size, base))
			high -= size;
		if (low >= high)
			break;
		high -= size;
		swap(low, high, size);
		low += size;
	}
	low -= size;
	swap(base, low, size);
	return (size_t)(low - base) / size;
}

/* Nothing comes before the first element: those equal to it go to the front. */
static size_t split_equal(const struct sort *sort, char *base, size_t nr)
{
	size_t size = sort->size;
	char *low = base + size, *high = base + nr * size;

	for (;;) {
		while (low < high && !before(sort, base, low))
			low += size;
		while (low < high && before(sort, base, high - size))
			high -= size;
		if (low >= high)
			break;
		high -= size;
		swap(low, high, size);
		low += size;
	}
	return (size_t)(low - base) / size;
}

static struct sort_cut cut(const struct sort *sort, char *base, size_t nr,
			   struct rand *rand)
{
	size_t at;

	swap(base, middle(sort, base, nr, rand), sort->size);
	at = split(sort, base, nr);
	if (at == 0)
		return (struct sort_cut){ 0, split_equal(sort, base, nr) };
	return (struct sort_cut){ at, at + 1 };
}

/* ---- short ranges, and those that were cut badly --------------------------- */

/* Put the element at @at where it belongs among those of [@base, @at). */
static void insert(const struct sort *sort, char *base, char *at)
{
	size_t size = sort->size;
	char aside[ASIDE];
	char *to = at;

	while (to > base && before(sort, at, to - size))
		to -= size;
	if (to == at)
		return;
	if (size > ASIDE) {
		for (; at > to; at -= size)
			swap_words(at, at - size, size);
		return;
	}
	sort_copy(aside, at, size);
	memmove(to + size, to, (size_t)(at - to));
	sort_copy(to, aside, size);
}

static void insertion(const struct sort *sort, char *base, size_t nr)
{
	char *end = base + nr * sort->size;

	for (char *at = base + sort->size; at < end; at += sort->size)
		insert(sort, base, at);
}

/* Of the heap of @nr elements only the one at @i may be too small. */
static void sink(const struct sort *sort, char *base, size_t i, size_t nr)
{
	size_t size = sort->size;
	size_t child;

	for (; (child = 2 * i + 1) < nr; i = child) {
		char *at = base + child * size;

		if (child + 1 < nr && before(sort, at, at + size)) {
			child++;
			at += size;
		}
		if (!before(sort, base + i * size, at))
			return;
		swap_words(base + i * size, at, size);
	}
}

static void heap(const struct sort *sort, char *base, size_t nr)
{
	for (size_t i = nr / 2; i-- > 0;)
		sink(sort, base, i, nr);
	for (size_t i = nr; i-- > 1;) {
		swap_words(base, base + i * sort->size, sort->size);
		sink(sort, base, 0, i);
	}
}

const struct sort_kind sort_any = { run, cut, insertion, heap };
