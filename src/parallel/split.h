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
 * wait for a stolen child costs more than the whole loop.  How long a loop
 * takes is not known beforehand.  So the loop begins in place, with a small part and
 * ever larger parts, and is only shared once it has lasted for SPLIT_WORTH_NS.  The
 * cost of that, if each element takes long, is bounded: the first piece is at most
 * a thirty-second of what each worker would get anyway.  Where the range is too
 * short for that, everything is shared at once.
 *
 * The rest is halved recursively; the right half is forked.  If no thief takes the
 * right half, the join calls it.  So pieces run from left to right where no worker
 * helps, and each worker has a part that lies together.  Thieves take the largest
 * parts.
 *
 * A given grain is the grain of the rest; otherwise pieces are as long as pays, a
 * microsecond, and no more than SPLIT_PIECES for each worker.
 *
 * .ordered: no first pieces, and a grain that follows from the length alone.
 *
 * With a sum each part has a value.  The left half goes on with the value of the
 * whole.  The right half has its own value, in the frame of the forking task.  So a
 * value is combined only with its right neighbour, on whichever worker.
 *
 * A limit: parts that begin at the limit, or right of it, need not be visited any
 * more.  The limit only ever sinks.
 *
 * Rejected: a counter from which workers take the next piece.  Each piece then
 * costs a read-modify-write of a word that all workers share, and the neighbour of
 * a piece runs on another core.  Splitting only when a thief asks: the asking is
 * the cost.
 */
#ifndef SLEY_PARALLEL_SPLIT_H
#define SLEY_PARALLEL_SPLIT_H

#include "parallel/how.h"

#include <sley/reduce.h>

/* A range is shared once it has taken so long. */
#define SPLIT_WORTH_NS 4000

/* The first piece has at most so many elements, or grains. */
#define SPLIT_FIRST 32

/* So many pieces for each worker are enough. */
#define SPLIT_PIECES 32

/* About so many, at least half of that, if the workers must not matter. */
#define SPLIT_PIECES_ORDERED 128

struct split;

/* Add the result of [@begin, @end) to @value, if there is a sum. */
typedef void split_piece(struct split *split, size_t begin, size_t end,
			 void *value);

/* All of [@begin, @end), where a fork is possible, in pieces of @split->grain. */
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
	uint32_t skipped;                 /* a part was left out              */
};

/*
 * All of [@begin, @end), into @value, which is initialised.  0, or -ECANCELED if
 * a part was left out.  The caller has set @split->how and the constant members.
 */
must_check int split_run(struct split *split, size_t begin, size_t end,
			 void *value);

/* Shall the part that begins at @at be left out?  Asked before each piece. */
bool split_leave_out(struct split *split, size_t at);

/* Is the part that begins at @at not needed any more? */
static inline bool split_beyond(const struct split *split, size_t at)
{
	/* relaxed: a hint that saves work. */
	return load_relaxed(&split->limit) <= at;
}

/* Parts that begin at @at, or later, are not needed.  False: that was known. */
bool split_lower_limit(struct split *split, size_t at);

#endif
