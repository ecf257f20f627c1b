/* SPDX-License-Identifier: MIT */
/*
 * sley/find.h - search a range on several workers.
 */
#ifndef SLEY_FIND_H
#define SLEY_FIND_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

/* Does the element match? */
typedef bool sley_match_fn(size_t index, void *arg);

/*
 * sley_find_any - find an element that matches.
 *
 * If several elements match, the result may differ from run to run.  Once an
 * element is found, each worker ends with the element that it looks at, and the
 * elements that are left are not looked at.  Cancelling the caller does not cut
 * the search short.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@index gets the index of the element; if there is none, *@index is
 *           not written.  @index may be NULL.
 * Order:    everything before the call happens before each match, everything in
 *           the matches happens before the return.
 * Errors:   none; true if an element was found
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER bool
sley_find_any(size_t begin, size_t end, sley_match_fn *match, void *arg,
	      size_t *index);

/*
 * sley_find_any_with - sley_find_any() with a grain, or cancellable.
 *
 * With how->ordered the result is the first element that matches: all elements
 * below were looked at, and few above.  @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_find_any(); @how is borrowed for the call.
 * Order:    as sley_find_any()
 * Errors:   1           an element was found (without .ordered also if the search
 *                       was cancelled)
 *           0           no element matches
 *           -ECANCELED  some elements were not looked at
 *           SLEY_EPRIORITY, -E2BIG (a newer field is set)
 *           -EINVAL     how->size is zero; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_find_any_with(size_t begin, size_t end, sley_match_fn *match, void *arg,
		   size_t *index, const struct sley_how *how);

SLEY_END_DECLS
#endif
