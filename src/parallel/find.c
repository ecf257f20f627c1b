/* SPDX-License-Identifier: MIT */
/*
 * find.c - search a range with early exit.
 *
 * A match lowers the limit of the split (parallel/split.h).  Where any match will do,
 * the new limit is the first element of the range; where the first match is wanted,
 * it is the match.  A search through a piece looks at the limit before each
 * element.
 */
#include "parallel/split.h"

#include <sley/find.h>

struct find {
	struct split split;
	sley_match_fn *match;
	void *arg;
	size_t begin;
	size_t found; /* the smallest; SIZE_MAX: no match */
};

/* The first match in the piece; SIZE_MAX: no match, or beyond the limit. */
static size_t find_in(struct find *find, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		if (split_beyond(&find->split, i))
			return SIZE_MAX;
		if (find->match(i, find->arg))
			return i;
	}
	return SIZE_MAX;
}

static void find_piece(struct split *split, size_t begin, size_t end,
		       void *value)
{
	struct find *find = container_of(split, struct find, split);
	size_t i = find_in(find, begin, end);

	(void)value;
	if (i == SIZE_MAX)
		return;
	if (split->how.ordered)
		(void)split_lower_limit(split, i);
	else if (split_lower_limit(split, find->begin))
		/* relaxed: one writer; the join publishes it. */
		store_relaxed(&find->found, i);
}

/* The index of the match, once all is joined; SIZE_MAX: there is no match. */
static size_t found_at(const struct find *find, size_t end)
{
	/* relaxed: the joins have published it. */
	size_t limit = load_relaxed(&find->split.limit);

	if (!find->split.how.ordered)
		/* relaxed: as above. */
		return load_relaxed(&find->found);
	return limit < end ? limit : SIZE_MAX;
}

static int find_run(struct find *find, size_t end, size_t *index)
{
	int err = split_run(&find->split, find->begin, end, NULL);
	size_t found;

	if (find->begin >= end)
		return 0;
	found = found_at(find, end);
	/* A match that is not known to be the first does not count as the first. */
	if (found == SIZE_MAX || (err && find->split.how.ordered))
		return err;
	if (index)
		*index = found;
	return 1;
}

bool sley_find_any(size_t begin, size_t end, sley_match_fn *match, void *arg,
		   size_t *index)
{
	struct find find = {
		.split.piece = find_piece,
		.match = match,
		.arg = arg,
		.begin = begin,
		.found = SIZE_MAX,
	};

	sley_check_fn(match);
	how_default(&find.split.how);
	return find_run(&find, end, index) == 1;
}

int sley_find_any_with(size_t begin, size_t end, sley_match_fn *match,
		       void *arg, size_t *index, const struct sley_how *how)
{
	struct find find = {
		.split.piece = find_piece,
		.match = match,
		.arg = arg,
		.begin = begin,
		.found = SIZE_MAX,
	};
	int err = how_read(&find.split.how, how);

	sley_check_fn(match);
	return err ? err : find_run(&find, end, index);
}
