/* SPDX-License-Identifier: MIT */
/*
 * sort_stable.c - a parallel merge sort.
 *
 * Halves are sorted beside each other, into the buffer or out of it in turns,
 * and merged.  A merge is cut in two as well: at the middle of the longer side,
 * and where that element belongs in the other side.  Among equals the left side
 * goes first, in both cuts and merges.
 *
 * Every step writes all its elements to where its caller expects them.  A step
 * that finds the sort stopped copies the elements instead of comparing; so the
 * array is whole in the end, also with a comparison that contradicts itself.
 *
 * Rejected: merging in place, which needs no buffer and is several times
 * slower.
 */
#include "parallel/sort.h"

#include <errno.h>
#include <string.h>

/* Sort ->nr elements at ->at; the result is there, or else at ->other. */
struct half {
	struct sort *sort;
	char *at, *other;
	size_t nr;
	bool to_other;
};

/* Merge the elements at ->left and at ->right, both sorted, to ->to. */
struct merge {
	struct sort *sort;
	const char *left, *right;
	size_t nr_left, nr_right;
	char *to;
};

static bool before(const struct sort *sort, const void *a, const void *b)
{
	return sort->compare(a, b, sort->arg) < 0;
}

/* ---- merge ----------------------------------------------------------------- */

static void take(const struct merge *m, char *to, const char *from, size_t nr)
{
	if (nr)
		memcpy(to, from, nr * m->sort->size);
}

static void concatenate(const struct merge *m)
{
	take(m, m->to, m->left, m->nr_left);
	take(m, m->to + m->nr_left * m->sort->size, m->right, m->nr_right);
}

static void merge_alone(struct merge m)
{
	size_t size = m.sort->size;

	while (m.nr_left && m.nr_right) {
		if (before(m.sort, m.right, m.left)) {
			sort_copy(m.to, m.right, size);
			m.right += size;
			m.nr_right--;
		} else {
			sort_copy(m.to, m.left, size);
			m.left += size;
			m.nr_left--;
		}
		m.to += size;
	}
	concatenate(&m);
}

/* How many of @nr come before @key, or are equal to @key if @equal. */
static size_t nr_before(const struct sort *sort, const char *base, size_t nr,
			const char *key, bool equal)
{
	size_t low = 0;

	while (nr) {
		const char *at = base + (low + nr / 2) * sort->size;

		if (equal ? !before(sort, key, at) : before(sort, at, key)) {
			low += nr / 2 + 1;
			nr -= nr / 2 + 1;
		} else {
			nr /= 2;
		}
	}
	return low;
}

/* @m becomes the first part of the merge, *@rest the second part. */
static void cut_merge(struct merge *m, struct merge *rest)
{
	size_t size = m->sort->size;
	size_t left = m->nr_left / 2, right = m->nr_right / 2;

	if (m->nr_left >= m->nr_right)
		right = nr_before(m->sort, m->right, m->nr_right,
				  m->left + left * size, false);
	else
		left = nr_before(m->sort, m->left, m->nr_left,
				 m->right + right * size, true);
	*rest = (struct merge){ .sort = m->sort,
				.left = m->left + left * size,
				.right = m->right + right * size,
				.nr_left = m->nr_left - left,
				.nr_right = m->nr_right - right,
				.to = m->to + (left + right) * size };
	m->nr_left = left;
	m->nr_right = right;
}

static void merge(void *arg)
{
	struct merge *m = arg, rest;
	struct sley_forked child;

	if (sort_stopped(m->sort)) {
		concatenate(m);
	} else if (m->nr_left + m->nr_right <= m->sort->grain) {
		merge_alone(*m);
	} else {
		cut_merge(m, &rest);
		how_fork(&m->sort->how, &child, merge, &rest);
		merge(m);
		how_join(&m->sort->how, &child);
	}
}

/* Both halves are sorted, and where the merge reads them. */
static void merge_halves(const struct half *all, size_t left)
{
	size_t size = all->sort->size;
	char *from = all->to_other ? all->at : all->other;
	struct merge m = { .sort = all->sort,
			   .left = from,
			   .right = from + left * size,
			   .nr_left = left,
			   .nr_right = all->nr - left,
			   .to = all->to_other ? all->other : all->at };

	/* In order already, as everywhere in a sorted input? */
	if (!before(m.sort, m.right, m.right - size))
		concatenate(&m);
	else
		merge(&m);
}

/* ---- halves ---------------------------------------------------------------- */

static void cut_half(const struct half *all, struct half *left,
		     struct half *right)
{
	size_t skip = all->nr / 2 * all->sort->size;

	*left = *all;
	left->nr = all->nr / 2;
	left->to_other = !all->to_other;
	*right = *left;
	right->at += skip;
	right->other += skip;
	right->nr = all->nr - left->nr;
}

static void leave_as_it_is(const struct half *half)
{
	if (half->to_other)
		memcpy(half->other, half->at, half->nr * half->sort->size);
}

static void sort_half(void *arg)
{
	const struct half *all = arg;
	struct sort *sort = all->sort;
	struct half left, right;
	struct sley_forked child;

	if (all->nr <= SORT_SHORT) {
		sort_any.insertion(sort, all->at, all->nr);
		leave_as_it_is(all);
		return;
	}
	if (all->nr > sort->grain && sort_stopped(sort)) {
		leave_as_it_is(all);
		return;
	}
	cut_half(all, &left, &right);
	if (all->nr > sort->grain) {
		how_fork(&sort->how, &child, sort_half, &right);
		sort_half(&left);
		how_join(&sort->how, &child);
	} else {
		sort_half(&left);
		sort_half(&right);
	}
	merge_halves(all, left.nr);
}

/* ---- the calls ------------------------------------------------------------- */

struct stable {
	struct sort sort;
	char *buffer;
};

static void sort_all(void *arg)
{
	struct stable *s = arg;
	struct half all = { .sort = &s->sort,
			    .at = s->sort.base,
			    .other = s->buffer,
			    .nr = s->sort.nr };

	sort_half(&all);
}

/* ->sort.how is set.  The buffer comes from the runtime, or the C library. */
static int sort_stable(struct stable *s)
{
	struct sley *rt = s->sort.how.rt;
	size_t bytes = s->sort.nr * s->sort.size;
	struct mem libc, *mem = rt ? &rt->mem : &libc;
	int err;

	if (!s->sort.size)
		return -EINVAL;
	if (s->sort.nr < 2)
		return 0;
	mem_init(&libc, NULL);
	s->buffer = mem_alloc(mem, bytes);
	if (!s->buffer)
		return -ENOMEM;
	err = sort_run(&s->sort, sort_all, s);
	mem_free(mem, s->buffer, bytes);
	return err;
}

int sley_sort_stable(void *base, size_t nr, size_t size,
		     sley_compare_fn *compare, void *arg)
{
	struct stable s = { .sort = { .size = size,
				      .compare = compare,
				      .arg = arg,
				      .base = base,
				      .nr = nr } };

	sley_check_fn(compare);
	how_default(&s.sort.how);
	return sort_stable(&s);
}

int sley_sort_stable_with(void *base, size_t nr, size_t size,
			  sley_compare_fn *compare, void *arg,
			  const struct sley_how *how)
{
	struct stable s = { .sort = { .size = size,
				      .compare = compare,
				      .arg = arg,
				      .base = base,
				      .nr = nr } };
	int err = how_read(&s.sort.how, how);

	sley_check_fn(compare);
	return err ? err : sort_stable(&s);
}
