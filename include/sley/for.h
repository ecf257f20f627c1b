/* SPDX-License-Identifier: MIT */
/*
 * sley/for.h - loops whose iterations run in parallel.
 *
 *     static void add(size_t begin, size_t end, void *arg)
 *     {
 *             struct vectors *v = arg;
 *
 *             for (size_t i = begin; i < end; i++)
 *                     v->y[i] += v->a * v->x[i];
 *     }
 *
 *     sley_for(0, nr, add, &vectors);
 *
 * The function gets a piece of the range at a time, so that the compiler can
 * optimise the inner loop.  Each element is in exactly one piece, unless the
 * loop was cancelled.  Pieces may block, and may contain loops themselves.  A
 * short loop costs some hundred nanoseconds: a loop is shared with other
 * workers only if it lasts.  <sley/how.h> describes the options of the _with
 * forms.
 */
#ifndef SLEY_FOR_H
#define SLEY_FOR_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

/* Handles the elements from @begin to @end - 1; there is at least one. */
typedef void sley_range_fn(size_t begin, size_t end, void *arg);

/*
 * sley_for - call @fn for pieces of a range, until all of it is done.
 *
 * Does nothing if @begin is not below @end.  Cancelling the caller does not cut
 * the loop short.  A range of few elements, up to some thirty for each worker,
 * is shared at once, since each element may take long.  A range of many
 * elements begins in place, in case they are short.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the call happens before each piece, everything in
 *           the pieces happens before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_for(size_t begin, size_t end, sley_range_fn *fn, void *arg);

/*
 * sley_for_with - sley_for() with a grain, a priority, or cancellable.
 *
 * @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @how is borrowed for the call.
 * Order:    as sley_for(), for the pieces that were done
 * Errors:   -ECANCELED  some pieces were not done; the pieces that began have ended
 *           SLEY_EPRIORITY, -E2BIG (a newer field is set)
 *           -EINVAL     how->size is zero; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_for_with(size_t begin, size_t end, sley_range_fn *fn, void *arg,
	      const struct sley_how *how);

/* A rectangle of elements: rows @row to @row_end - 1, columns likewise. */
struct sley_tile {
	size_t row, row_end;
	size_t column, column_end;
};

/* Handles one tile, which is not empty. */
typedef void sley_tile_fn(const struct sley_tile *tile, void *arg);

/*
 * sley_for_tiles - call @fn for tiles of a rectangle, until all of it is done.
 *
 * Tiles are squares, or nearly, as far as the rectangle allows: elements that
 * are near in both directions are near in time, too.  Does nothing if there are
 * no rows, or no columns.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @whole is borrowed for the call, a tile for the call of @fn.
 * Order:    as sley_for()
 * Errors:   none; more elements than a size_t can count are misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_for_tiles(const struct sley_tile *whole, sley_tile_fn *fn, void *arg);

/*
 * sley_for_tiles_with - sley_for_tiles() with a grain, or as sley_for_with().
 *
 * A grain is the number of elements in a tile; tiles at the right and lower
 * edges may have fewer.  Without a grain, the tiles depend on the rectangle
 * alone.  @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_for_tiles(); @how is borrowed for the call.
 * Order:    as sley_for_with()
 * Errors:   as sley_for_with(), and
 *           -EINVAL     more elements than a size_t can count; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_for_tiles_with(const struct sley_tile *whole, sley_tile_fn *fn, void *arg,
		    const struct sley_how *how);

SLEY_END_DECLS
#endif
