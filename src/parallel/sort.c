/* SPDX-License-Identifier: MIT */
/*
 * sort.c - a parallel quicksort that is never quadratic.
 *
 * A range is cut in two by an element near its middle; one side is forked,
 * and the caller goes on with the other.  A side that no thief steals costs a
 * call.  Cutting is serial, so the work is at most log2(n) / 2 times as fast on
 * many workers as on one: some 10 times for 10^7 elements.
 *
 * The cut looks at elements picked at random, so that patterns (sorted,
 * organ pipe, saw teeth) do no harm; at random from a seed that is always the
 * same, so that the same input takes the same way.  An attacker that knows the
 * seed can build an input that is cut badly each time.  So a range may be cut
 * badly log2(n) times (a side below an eighth); then the range is sorted by a
 * heap.
 *
 * Whatever the comparison says, a cut makes both sides smaller, and all loops
 * are bounded by the range.  A sort that is cut short stops between two cuts:
 * elements have only ever changed places.
 *
 * Rejected: a radix sort for numbers, which needs a buffer that may not be
 * there; and sampling into many buckets, which needs a buffer, too.
 */
#include "parallel/sort.h"

#include <errno.h>

struct span {
	struct sort *sort;
	char *base;
	size_t nr;
	struct rand rand;
	unsigned int bad_left; /* cuts that may still be bad */
};

static unsigned int log2_of(size_t nr)
{
	return 63 - (unsigned int)__builtin_clzll((uint64_t)nr | 1);
}

/* Cut @span: it becomes the left side, *@right the right side. */
static void cut_span(struct span *span, struct span *right)
{
	const struct sort *sort = span->sort;
	struct sort_cut cut =
		sort->kind->cut(sort, span->base, span->nr, &span->rand);
	size_t beyond = span->nr - cut.right;
	/* Elements that are in their place now are as good as sorted. */
	size_t longer = cut.left > beyond ? cut.left : beyond;

	if (longer > span->nr - span->nr / 8)
		span->bad_left--;
	*right = *span;
	right->base += cut.right * sort->size;
	right->nr = beyond;
	right->rand.s ^= 1;
	span->nr = cut.left;
}

/* The shorter side recurs, so the depth is log2(nr) at most. */
static void sort_alone(struct span span)
{
	const struct sort *sort = span.sort;
	struct span right;

	while (span.nr > SORT_SHORT) {
		if (unlikely(!span.bad_left)) {
			sort->kind->heap(sort, span.base, span.nr);
			return;
		}
		cut_span(&span, &right);
		if (span.nr < right.nr) {
			sort_alone(span);
			span = right;
		} else {
			sort_alone(right);
		}
	}
	if (span.nr > 1)
		sort->kind->insertion(sort, span.base, span.nr);
}

/* Which of the sides is forked does not matter for the depth: a join nests. */
static void sort_span(void *arg)
{
	struct span *span = arg;
	struct sort *sort = span->sort;
	struct sley_forked child;
	struct span right;

	while (span->nr > sort->grain && span->bad_left) {
		if (sort_stopped(sort))
			return;
		cut_span(span, &right);
		if (span->nr == 0) {
			*span = right;
			continue;
		}
		how_fork(&sort->how, &child, sort_span, &right);
		sort_span(span);
		how_join(&sort->how, &child);
		return;
	}
	if (span->nr > 1 && !sort_stopped(sort))
		sort_alone(*span);
}

void sort_quickly(void *arg)
{
	struct sort *sort = arg;
	struct span all = { .sort = sort,
			    .base = sort->base,
			    .nr = sort->nr,
			    .bad_left = log2_of(sort->nr) };

	if (sort->kind->run(sort, sort->base, sort->nr) < sort->nr)
		sort_span(&all);
}

int sort_run(struct sort *sort, sley_fn *fn, void *arg)
{
	size_t grain = sort->how.grain;

	if (sort->nr < 2)
		return 0;
	sort->grain = !grain               ? SORT_GRAIN
		      : grain < SORT_SHORT ? SORT_SHORT
					   : grain;
	how_run(&sort->how, fn, arg);
	/* relaxed: all writers have been joined. */
	return load_relaxed(&sort->left_out) ? -ECANCELED : 0;
}

void sley_sort(void *base, size_t nr, size_t size, sley_compare_fn *compare,
	       void *arg)
{
	struct sort sort = { .kind = &sort_any,
			     .size = size,
			     .compare = compare,
			     .arg = arg,
			     .base = base,
			     .nr = nr };

	sley_check_fn(compare);
	how_default(&sort.how);
	if (size)
		(void)!sort_run(&sort, sort_quickly, &sort);
}

int sley_sort_with(void *base, size_t nr, size_t size, sley_compare_fn *compare,
		   void *arg, const struct sley_how *how)
{
	struct sort sort = { .kind = &sort_any,
			     .size = size,
			     .compare = compare,
			     .arg = arg,
			     .base = base,
			     .nr = nr };
	int err = how_read(&sort.how, how);

	sley_check_fn(compare);
	if (err)
		return err;
	return size ? sort_run(&sort, sort_quickly, &sort) : -EINVAL;
}
