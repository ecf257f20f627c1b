/* SPDX-License-Identifier: MIT */
/*
 * split.c - see split.h.
 */
#include "parallel/split.h"

#include <errno.h>
#include <sley/time.h>

/* A part of the range; it lives in the frame of the task that cut it off. */
struct part {
	struct split *split;
	size_t begin, end;
	void *value;
};

bool split_lower_limit(struct split *split, size_t at)
{
	/* relaxed: a hint to others; the join publishes it. */
	size_t limit = load_relaxed(&split->limit);

	do {
		if (limit <= at)
			return false;
	} while (chaos_says(CHAOS_LOSE) ||
		 /* relaxed: as above. */
		 !cas_relaxed(&split->limit, &limit, at));
	return true;
}

bool split_leave_out(struct split *split, size_t at)
{
	if (split_beyond(split, at))
		return true;
	if (likely(!how_stopped(&split->how)))
		return false;
	/* relaxed: read after all joins. */
	store_relaxed(&split->skipped, 1);
	return true;
}

/* ---- halves -------------------------------------------------------------- */

static void run_part(void *arg);

static void run_child(void *arg)
{
	struct part *part = arg;
	struct how_before before = how_enter(&part->split->how);

	run_part(part);
	how_leave(before);
}

static void run_child_with_value(void *arg)
{
	struct part *part = arg;
	struct split *split = part->split;
	struct how_before before = how_enter(&split->how);

	split->sum->init(part->value, split->arg);
	run_part(part);
	how_leave(before);
}

static noinline void halve(struct part *part, size_t middle)
{
	struct split *split = part->split;
	struct part right = { split, middle, part->end, NULL };
	struct sley_forked child;

	how_fork(&split->how, &child, run_child, &right);
	part->end = middle;
	run_part(part);
	how_join(&split->how, &child);
}

/* A function of its own, since not every split needs such a frame. */
static noinline void halve_with_value(struct part *part, size_t middle)
{
	_Alignas(16) unsigned char value[SLEY_REDUCTION_MAX];
	struct split *split = part->split;
	struct part right = { split, middle, part->end, value };
	struct sley_forked child;

	how_fork(&split->how, &child, run_child_with_value, &right);
	part->end = middle;
	run_part(part);
	how_join(&split->how, &child);
	split->sum->combine(part->value, value, split->arg);
}

static void run_part(void *arg)
{
	struct part *part = arg;
	struct split *split = part->split;
	size_t half = (part->end - part->begin) / 2;

	if (split_leave_out(split, part->begin))
		return;
	if (half < split->grain)
		split->piece(split, part->begin, part->end, part->value);
	else if (!split->sum)
		halve(part, part->begin + half);
	else
		halve_with_value(part, part->begin + half);
}

/* ---- how small -------------------------------------------------------------- */

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

/* The automatic grain of a part whose length alone is known. */
static size_t grain_for(const struct how *how, size_t nr)
{
	if (how->ordered)
		return at_least_one(nr / SPLIT_PIECES_ORDERED);
	return at_least_one(nr / ((size_t)SPLIT_PIECES * how_workers(how)));
}

/* The same once @done elements have taken @ns: a microsecond at least. */
static size_t grain_for_rate(const struct how *how, size_t nr, size_t done,
			     uint64_t ns)
{
	size_t grain = grain_for(how, nr);
	/* More than SPLIT_WORTH_NS, so this is less than @done. */
	size_t paying = done / (size_t)(ns / 1000);

	return grain > paying ? grain : at_least_one(paying);
}

/* ---- first pieces -------------------------------------------------------------- */

/* How many elements come first; 0: the range is shared at once. */
static size_t first_length(const struct split *split, size_t nr)
{
	const struct how *how = &split->how;
	size_t unit = at_least_one(how->grain);
	size_t shares = (size_t)32 * how_workers(how);
	size_t units = nr / unit / shares;

	if (how->ordered || split->at_once)
		return 0;
	return (units < SPLIT_FIRST ? units : SPLIT_FIRST) * unit;
}

/* The length of the next piece: at most @length, but no tiny rest stays behind. */
static size_t next_length(const struct split *split, size_t nr, size_t length)
{
	return length < nr && nr - length >= split->how.grain ? length : nr;
}

/* The length after @length: ever more, but never most of the range. */
static size_t grown_length(size_t length, size_t most)
{
	return length < most / 4 ? 4 * length : most;
}

/* Run the first pieces of @all, and cut these off.  True: nothing is left. */
static bool run_first(struct part *all)
{
	struct split *split = all->split;
	const struct how *how = &split->how;
	size_t begin = all->begin, nr = all->end - begin;
	size_t length = first_length(split, nr);
	uint64_t start_ns, ns = 0;

	split->grain = how->grain ? how->grain : grain_for(how, nr);
	if (!length)
		return false;
	start_ns = sley_now();
	while (ns < SPLIT_WORTH_NS) {
		size_t left = all->end - all->begin;
		size_t now = next_length(split, left, length);

		if (split_leave_out(split, all->begin))
			return true;
		split->piece(split, all->begin, all->begin + now, all->value);
		if (now == left)
			return true;
		all->begin += now;
		length = grown_length(length, nr / 4);
		ns = sley_now() - start_ns;
	}
	if (!how->grain)
		split->grain = grain_for_rate(how, all->end - all->begin,
					      all->begin - begin, ns);
	return false;
}

static void run_rest(void *arg)
{
	struct part *all = arg;
	struct split *split = all->split;

	if (split->rest)
		split->rest(split, all->begin, all->end, all->value);
	else
		run_part(all);
}

static void run_all(void *arg)
{
	if (!run_first(arg))
		run_rest(arg);
}

int split_run(struct split *split, size_t begin, size_t end, void *value)
{
	struct part all = { split, begin, end, value };

	if (begin >= end)
		return 0;
	split->limit = end;
	split->skipped = 0;
	if (!split->how.own_level || split->how.migratable ||
	    how_in_place(&split->how))
		how_run(&split->how, run_all, &all);
	else if (!run_first(&all)) /* a thread may do little by itself */
		how_run(&split->how, run_rest, &all);
	/* relaxed: all writers are joined. */
	return load_relaxed(&split->skipped) ? -ECANCELED : 0;
}
