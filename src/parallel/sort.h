/* SPDX-License-Identifier: MIT */
/*
 * sort.h - a quicksort that knows nothing about its elements.
 *
 * A kind of elements says how to do four things with a range: find how much of its
 * beginning is in order, cut the range in two, sort a short range, and sort any
 * range with a heap.  Sort.c decides which ranges are cut, which run beside each
 * other, and when a range was cut badly too often.
 */
#ifndef SLEY_PARALLEL_SORT_H
#define SLEY_PARALLEL_SORT_H

#include "base/compiler.h"
#include "base/rand.h"
#include "parallel/how.h"

#include <sley/sort.h>

struct sort {
	const struct sort_kind *kind;
	size_t size;              /* of an element, in bytes            */
	sley_compare_fn *compare; /* of elements that are no numbers    */
	void *arg;
	char *base;
	size_t nr;
	size_t grain; /* ranges up to here are sorted alone  */
	struct how how;
	uint32_t left_out; /* a range was left out: the sort was stopped */
};

/*
 * No element of [0, left) comes after an element of [right, nr).  The elements in
 * between are where they belong; both sides are smaller than the whole.
 */
struct sort_cut {
	size_t left, right;
};

struct sort_kind {
	/* How many elements at the beginning are in order already; at least 1. */
	size_t (*run)(const struct sort *sort, const char *base, size_t nr);
	/* @nr is above SORT_SHORT.  @rand says which elements to look at. */
	struct sort_cut (*cut)(const struct sort *sort, char *base, size_t nr,
			       struct rand *rand);
	/* Stable, and quick for up to SORT_SHORT. */
	void (*insertion)(const struct sort *sort, char *base, size_t nr);
	/* n log n, whatever the input. */
	void (*heap)(const struct sort *sort, char *base, size_t nr);
};

#define SORT_SHORT 20
/* A sample of nine instead of three for the cut. */
#define SORT_NINE 128
/* Cut and forked, unless the user says otherwise: some 20 us of work. */
#define SORT_GRAIN 2048

/* The index of some element of @nr. */
static inline size_t sort_sample(struct rand *rand, size_t nr)
{
	return (size_t)(rand_next(rand) % nr);
}

/* Shall the caller leave out the range that comes next?  Then the caller must. */
static inline bool sort_stopped(struct sort *sort)
{
	if (likely(!how_stopped(&sort->how)))
		return false;
	/* relaxed: all write the same, and the reader has joined all writers. */
	store_relaxed(&sort->left_out, 1);
	return true;
}

/* Fill in ->grain; call @fn(@arg), which sorts; 0 or -ECANCELED. */
must_check int sort_run(struct sort *sort, sley_fn *fn, void *arg);

/* Sort ->base as ->kind says, where a fork is possible.  @sort: struct sort. */
void sort_quickly(void *sort);

/* Elements of any size, by ->compare: sort_any.c. */
extern const struct sort_kind sort_any;

/* Copy one element. */
static inline void sort_copy(void *to, const void *from, size_t size)
{
	if (size == 8)
		__builtin_memcpy(to, from, 8);
	else if (size == 4)
		__builtin_memcpy(to, from, 4);
	else if (size == 16)
		__builtin_memcpy(to, from, 16);
	else
		__builtin_memcpy(to, from, size);
}

#endif
