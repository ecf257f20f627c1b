/* SPDX-License-Identifier: MIT */
/*
 * sort_any.c - elements of any size, by a comparison that is called.
 *
 * The calls are most of the cost, so a cut compares every element once, and
 * moves only the elements on the wrong side.  Mispredicted branches are most of
 * the rest.  So a cut first looks at a block of elements at each end and writes
 * down which elements belong to the other end, then swaps these in pairs.
 */
#include "parallel/sort.h"

#include <string.h>

/* Elements up to here are kept aside in a frame; longer elements are swapped. */
#define ASIDE 256
/* Long ranges are looked at in blocks. */
#define BLOCK 32
#define BLOCKWISE (16 * BLOCK)

static bool before(const struct sort *sort, const void *a, const void *b)
{
	return sort->compare(a, b, sort->arg) < 0;
}

static void swap_words(char *a, char *b, size_t size)
{
	uint64_t x, y;
	uint32_t u, v;

	for (; size >= 8; size -= 8, a += 8, b += 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		memcpy(a, &y, 8);
		memcpy(b, &x, 8);
	}
	if (size >= 4) {
		memcpy(&u, a, 4);
		memcpy(&v, b, 4);
		memcpy(a, &v, 4);
		memcpy(b, &u, 4);
		size -= 4;
		a += 4;
		b += 4;
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

/* Elements of one side that belong to the other, by their place in a block. */
struct strays {
	unsigned char at[BLOCK];
	unsigned int from, end;
};

/* Of the block that begins at @block.  No branch depends on the answers. */
static void find_low(const struct sort *sort, struct strays *strays,
		     const char *base, const char *block)
{
	unsigned int end = 0;

	for (unsigned int i = 0; i < BLOCK; i++) {
		strays->at[end] = (unsigned char)i;
		end += !before(sort, block + i * sort->size, base);
	}
	strays->from = 0;
	strays->end = end;
}

/* Of the block that ends at @end_of_block; the last element is number 0. */
static void find_high(const struct sort *sort, struct strays *strays,
		      const char *base, const char *end_of_block)
{
	unsigned int end = 0;

	for (unsigned int i = 0; i < BLOCK; i++) {
		strays->at[end] = (unsigned char)i;
		end += before(sort, end_of_block - (i + 1) * sort->size, base);
	}
	strays->from = 0;
	strays->end = end;
}

/*
 * Narrow [*@low, *@high) from both ends, block by block, until two blocks do not
 * fit.  A block that is not done in the end stays inside, and is looked at again.
 */
static void split_blocks(const struct sort *sort, const char *base, char **low,
			 char **high)
{
	size_t size = sort->size;
	struct strays left = { .from = 0 }, right = { .from = 0 };

	while ((size_t)(*high - *low) >= 2 * BLOCK * size) {
		if (left.from == left.end)
			find_low(sort, &left, base, *low);
		if (right.from == right.end)
			find_high(sort, &right, base, *high);
		while (left.from < left.end && right.from < right.end)
			swap_words(*low + left.at[left.from++] * size,
				   *high - (right.at[right.from++] + 1) * size,
				   size);
		if (left.from == left.end)
			*low += BLOCK * size;
		if (right.from == right.end)
			*high -= BLOCK * size;
	}
}

/*
 * The first element is the middle element.  Elements that come before it go to the
 * front, the middle element follows, and all others come last.  Returns the index
 * of the middle element.
 */
static size_t split(const struct sort *sort, char *base, size_t nr)
{
	size_t size = sort->size;
	char *low = base + size, *high = base + nr * size;

	if (nr >= BLOCKWISE)
		split_blocks(sort, base, &low, &high);
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

/* No element comes before the first: elements equal to the first go to the front. */
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

/* ---- short ranges, and ranges that were cut badly -------------------------- */

/* Put the element at @at where it belongs among the elements of [@base, @at). */
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

/* Of the heap of @nr elements only the element at @i may be too small. */
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
