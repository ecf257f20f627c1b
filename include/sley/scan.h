/* SPDX-License-Identifier: MIT */
/*
 * sley/scan.h - for each element, the sum of all elements up to it, in parallel.
 *
 *     in         3  1  4  1  5
 *     inclusive  3  4  8  9 14      each element and all before it
 *     exclusive  0  3  4  8  9      all before it
 *
 * A scan goes through memory once: blocks are small enough to stay in a core's
 * own cache between their sum and their scan.  A scan allocates no memory.
 *
 * Doubles are added in blocks, so in another order than by a loop.  how->ordered
 * keeps the blocks the same in every run, whatever the number of workers.
 */
#ifndef SLEY_SCAN_H
#define SLEY_SCAN_H

#include <sley/compiler.h>
#include <sley/how.h>
#include <sley/reduce.h>

SLEY_BEGIN_DECLS

/*
 * sley_scan_int64 - inclusive sums of integers, which wrap around.
 *
 * @out and @in are the same array, or do not overlap.  A cancel of the caller
 * does not cut the call short.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @out and @in are borrowed for the call.
 * Order:    everything before the call happens before each piece; everything in
 *           the pieces happens before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_scan_int64(int64_t *out, const int64_t *in, size_t nr);

/*
 * sley_scan_int64_with - sley_scan_int64() with a grain, or cancellable.
 *
 * @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64(); @how is borrowed for the call.
 * Order:    as sley_scan_int64()
 * Errors:   -ECANCELED  some elements of @out are right, the others are
 *                       unchanged
 *           SLEY_EPRIORITY, -E2BIG (a newer field is set)
 *           -EINVAL     how->size is zero; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scan_int64_with(int64_t *out, const int64_t *in, size_t nr,
		     const struct sley_how *how);

/*
 * sley_scan_before_int64 - exclusive sums: as sley_scan_int64().
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64()
 * Order:    as sley_scan_int64()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_scan_before_int64(int64_t *out, const int64_t *in, size_t nr);

/*
 * sley_scan_before_int64_with - sley_scan_before_int64() with a grain, ...
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64_with()
 * Order:    as sley_scan_int64()
 * Errors:   as sley_scan_int64_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scan_before_int64_with(int64_t *out, const int64_t *in, size_t nr,
			    const struct sley_how *how);

/*
 * sley_scan_double - inclusive sums of doubles: as sley_scan_int64().
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64()
 * Order:    as sley_scan_int64()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_scan_double(double *out, const double *in, size_t nr);

/*
 * sley_scan_double_with - sley_scan_double() with a grain, or ordered.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64_with()
 * Order:    as sley_scan_int64()
 * Errors:   as sley_scan_int64_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scan_double_with(double *out, const double *in, size_t nr,
		      const struct sley_how *how);

/*
 * sley_scan_before_double - exclusive sums of doubles.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64()
 * Order:    as sley_scan_int64()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_scan_before_double(double *out, const double *in, size_t nr);

/*
 * sley_scan_before_double_with - sley_scan_before_double() with a grain, ...
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_scan_int64_with()
 * Order:    as sley_scan_int64()
 * Errors:   as sley_scan_int64_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scan_before_double_with(double *out, const double *in, size_t nr,
			     const struct sley_how *how);

/* ---- any kind of value --------------------------------------------------- */

/*
 * Writes the output for the elements from @begin to @end - 1.  At the call
 * *@before is the sum of all elements before @begin; at the return it must be
 * the sum of all elements before @end.
 */
typedef void sley_scan_fn(void *before, size_t begin, size_t end, void *arg);

/*
 * sley_scan - go through a range with the sum of all elements before.
 *
 * Each element is written once, and added up (@sum->add) at most once, before
 * the write.  @write decides whether the scan is inclusive or exclusive.  Values
 * are copied as bytes.  Does nothing if @begin is not below @end.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @sum is borrowed for the call.
 * Order:    as sley_scan_int64(), for all functions
 * Errors:   none; a size that is not allowed is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_scan(size_t begin, size_t end, const struct sley_reduction *sum,
	  sley_scan_fn *write, void *arg);

/*
 * sley_scan_with - sley_scan() with a grain, a priority, or ordered.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @sum and @how are borrowed for the call.
 * Order:    as sley_scan()
 * Errors:   as sley_scan_int64_with(), and
 *           -EINVAL     a size that is not allowed; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scan_with(size_t begin, size_t end, const struct sley_reduction *sum,
	       sley_scan_fn *write, void *arg, const struct sley_how *how);

SLEY_END_DECLS
#endif
