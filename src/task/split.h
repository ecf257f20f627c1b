/* SPDX-License-Identifier: MIT */
/*
 * split.h - a range that is cut into pieces, which run beside each other.
 *
 *     range  ├──┬───┬──────┬─────────────────────────────────────────┤
 *             first pieces │ halves of halves, down to the grain     │
 *             in place     ├────────────────────┬────────────────────┤
 *                          ├─────────┬──────────┤  a forked child    │
 *                          ├────┬────┤  a child │
 *
 * The first pieces.  A loop of a few hundred nanoseconds must not be shared: to
 * wait for a child that was stolen costs more than the whole.  Nobody knows
 * beforehand how long it takes, so it begins in place, with a small part and
 * ever larger ones, and is only shared once it has lasted for SPLIT_WORTH_NS.
 * What that may cost, if each element takes long, is bounded: the first piece
 * is at most a thirty-second of what each worker would get anyway.  Where the range is
 * too short for that, everything is shared at once.
 *
 * The rest is halved recursively; the right half is forked.  If nobody takes it
 * the join calls it, so pieces run from left to right where nobody helps, and
 * each worker has a part that lies together.  Thieves take the largest parts.
 *
 * The grain of the rest is the one given; else pieces are as long as pays, a
 * microsecond, and no more than SPLIT_PIECES for each worker.
 *
 * .ordered: no first pieces, and a grain that follows from the length alone.
 *
 * With a sum each part has a value.  The left half goes on with the value of the
 * whole, the right one has its own, in the frame of who forked it; so a value is
 * combined only with its right neighbour, whoever computed it.
 *
 * A limit: what begins there, or right of it, need not be visited any more.  It
 * only ever sinks.
 *
 * Rejected: a counter from which workers take the next piece.  Each piece then
 * costs a read-modify-write of a word they all share, and its neighbour runs on
 * another core.  Splitting only when a thief asks: the asking is what costs.
 */
#ifndef SLEY_TASK_SPLIT_H
#define SLEY_TASK_SPLIT_H

#include "task/how.h"

#include <sley/reduce.h>

/* For so long nobody else is asked. */
#define SPLIT_WORTH_NS 4000

/* The first piece has at most so many elements, or grains. */
#define SPLIT_FIRST 32

/* So many pieces for each worker are enough. */
#define SPLIT_PIECES 32

/* So many, at least half of them, if the workers must not matter. */
#define SPLIT_PIECES_ORDERED 128

struct split;

/* Add what [@begin, @end) gives to @value, if there is a sum. */
typedef void split_piece(struct split *split, size_t begin, size_t end,
			 void *value);

/* All of [@begin, @end), where it may fork, in pieces of @split->grain. */
typedef split_piece split_rest;

struct split {
	struct how how;
	split_piece *piece;
	split_rest *rest;                 /* NULL: halves of halves          */
	const struct sley_reduction *sum; /* NULL: there are no values       */
	void *arg;                        /* of the sum                      */
	bool at_once;                     /* no first pieces in place        */
	size_t grain;                     /* chosen: set by split_run()      */
	size_t limit;                     /* set by split_run() to the end   */
	uint32_t skipped;                 /* something was left out          */
};

/*
 * All of [@begin, @end), into @value, which is initialised.  0, or -ECANCELED
 * if something was left out.  @split->how and what is constant are set.
 */
must_check int split_run(struct split *split, size_t begin, size_t end,
			 void *value);

/* Shall what begins at @at be left out?  Asked before each piece. */
bool split_leave_out(struct split *split, size_t at);

/* Is what begins at @at not needed any more? */
static inline bool split_beyond(const struct split *split, size_t at)
{
	/* relaxed: a hint that saves work. */
	return load_relaxed(&split->limit) <= at;
}

/* What begins at @at, or later, is not needed.  False: that was known. */
bool split_lower_limit(struct split *split, size_t at);

#endif
