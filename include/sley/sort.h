/* SPDX-License-Identifier: MIT */
/*
 * sley/sort.h - sort an array, on all workers.
 *
 *   sley_sort()          in place and cannot fail; equal elements change places
 *   sley_sort_stable()   equal elements keep their order; needs a buffer
 *   sley_sort_int32()    and the like: numbers, several times as fast
 *
 * Each function has a `_with` form that takes a struct sley_how: with a priority
 * and a grain, and cancellable.  A cancel does not cut the short forms short.
 * All may be called anywhere.  A task forks the pieces; a bound thread waits for
 * a task that forks them; without a runtime the caller sorts alone.  The same
 * input gives the same output every time, on any number of workers.
 *
 * The array always keeps its elements: a sort that is cut short leaves them in
 * some order.
 */
#ifndef SLEY_SORT_H
#define SLEY_SORT_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

/*
 * Returns below zero if @a comes before @b, zero if they are equal, above zero
 * if @a comes after @b.  The function is called on several workers at a time,
 * and may block.  A function that contradicts itself gives some order, and does
 * no harm.
 */
typedef int sley_compare_fn(const void *a, const void *b, void *arg);

/* ---- any elements ------------------------------------------------------ */

/*
 * sley_sort - sort @nr elements of @size bytes each, in place.
 *
 * Equal elements come in any order.  The call makes about 1.2 * @nr * log2(@nr)
 * comparisons, a small multiple of that with the worst input, and @nr if all
 * elements are in order.  It needs no memory but the stack.  Does nothing if
 * @size is 0.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Owner:    the array is borrowed for the call.
 * Order:    everything before the call happens before each comparison; all
 *           comparisons happen before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_sort(void *base, size_t nr, size_t size, sley_compare_fn *compare,
	  void *arg);

/*
 * sley_sort_with - sley_sort() with options; NULL for none.
 *
 * A cancel of the caller, or of the scope of @how, ends the sort between two
 * pieces.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED      the elements are in some order
 *           -EINVAL         @size is 0, or how->size is 0
 *           -E2BIG          @how has fields that this library does not know
 *           SLEY_EPRIORITY  there is no such priority
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_with(void *base, size_t nr, size_t size, sley_compare_fn *compare,
	       void *arg, const struct sley_how *how);

/*
 * sley_sort_stable - sley_sort(), and equal elements keep their order.
 *
 * The call first allocates a buffer as large as the array, from the allocator of
 * the runtime.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Owner:    the array is borrowed for the call.
 * Order:    as sley_sort()
 * Errors:   -ENOMEM  no memory for the buffer; nothing was moved
 *           -EINVAL  @size is 0
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_stable(void *base, size_t nr, size_t size, sley_compare_fn *compare,
		 void *arg);

/*
 * sley_sort_stable_with - sley_sort_stable() with options; NULL for none.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED      the elements are in some order
 *           -ENOMEM         no memory for the buffer; nothing was moved
 *           -EINVAL         @size is 0, or how->size is 0
 *           -E2BIG          @how has fields that this library does not know
 *           SLEY_EPRIORITY  there is no such priority
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_stable_with(void *base, size_t nr, size_t size,
		      sley_compare_fn *compare, void *arg,
		      const struct sley_how *how);

/* ---- numbers ----------------------------------------------------------- */

/*
 * sley_sort_int32 - sort @nr numbers in place, the smallest first.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Owner:    the array is borrowed for the call.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_sort_int32(int32_t *base, size_t nr);

/*
 * sley_sort_uint32 - sley_sort_int32() for uint32_t.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_sort_uint32(uint32_t *base, size_t nr);

/*
 * sley_sort_int64 - sley_sort_int32() for int64_t.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_sort_int64(int64_t *base, size_t nr);

/*
 * sley_sort_uint64 - sley_sort_int32() for uint64_t.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_sort_uint64(uint64_t *base, size_t nr);

/*
 * sley_sort_double - sley_sort_int32() for double.
 *
 * The order is total: -0.0 comes before +0.0, and NaNs of either sign come last,
 * behind +infinity.  No bit of an element changes.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_sort_double(double *base, size_t nr);

/*
 * sley_sort_int32_with - sley_sort_int32() with options; NULL for none.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED, the numbers are in some order; -EINVAL, -E2BIG and
 *           SLEY_EPRIORITY as sley_sort_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_int32_with(int32_t *base, size_t nr, const struct sley_how *how);

/*
 * sley_sort_uint32_with - sley_sort_uint32() with options; NULL for none.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED, the numbers are in some order; -EINVAL, -E2BIG and
 *           SLEY_EPRIORITY as sley_sort_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_uint32_with(uint32_t *base, size_t nr, const struct sley_how *how);

/*
 * sley_sort_int64_with - sley_sort_int64() with options; NULL for none.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED, the numbers are in some order; -EINVAL, -E2BIG and
 *           SLEY_EPRIORITY as sley_sort_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_int64_with(int64_t *base, size_t nr, const struct sley_how *how);

/*
 * sley_sort_uint64_with - sley_sort_uint64() with options; NULL for none.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED, the numbers are in some order; -EINVAL, -E2BIG and
 *           SLEY_EPRIORITY as sley_sort_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_uint64_with(uint64_t *base, size_t nr, const struct sley_how *how);

/*
 * sley_sort_double_with - sley_sort_double() with options; NULL for none.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or sorts alone without a runtime
 * Errors:   -ECANCELED, the numbers are in some order; -EINVAL, -E2BIG and
 *           SLEY_EPRIORITY as sley_sort_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_sort_double_with(double *base, size_t nr, const struct sley_how *how);

SLEY_END_DECLS
#endif
