/* SPDX-License-Identifier: MIT */
/*
 * sley/find.h - search a range on several workers.
 */
#ifndef SLEY_FIND_H
#define SLEY_FIND_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

/* Is this element looked for? */
typedef bool sley_match_fn(size_t index, void *arg);

/*
 * sley_find_any - find some element that matches.
 *
 * Which one, if there are several, may differ from run to run.  Once one is
 * found each worker ends with the element it looks at; those that are left are
 * not looked at.  Cancelling the caller does not cut it short.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @index, which may be NULL, gets the element; it is not touched if
 *           there is none.
 * Order:    everything before the call happens before each match, everything in
 *           them happens before the return.
 * Errors:   none; true if one was found
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER bool
sley_find_any(size_t begin, size_t end, sley_match_fn *match, void *arg,
	      size_t *index);

/*
 * sley_find_any_with - sley_find_any() with a grain, or cancellable.
 *
 * With how->ordered it is the first one: all below it were looked at, and few
 * above it.  @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_find_any(); @how is borrowed for the call.
 * Order:    as sley_find_any()
 * Errors:   1           one was found (without .ordered also if it was cancelled)
 *           0           there is none
 *           -ECANCELED  some were not looked at
 *           SLEY_EPRIORITY, -E2BIG (a newer field is set)
 *           -EINVAL     how->size is zero; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_find_any_with(size_t begin, size_t end, sley_match_fn *match, void *arg,
		   size_t *index, const struct sley_how *how);

SLEY_END_DECLS
#endif
