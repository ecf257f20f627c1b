/* SPDX-License-Identifier: MIT */
/*
 * sley/reduce.h - sums of ranges, on several workers.
 *
 * A reduction combines a range into one value; a scan (sley/scan.h) writes, for
 * each element, the value of all elements up to it.  "Sum" stands for any
 * associative operation.  It need not be commutative: values are combined with
 * their right neighbours only.
 *
 *     static double sum(size_t begin, size_t end, void *arg)
 *     {
 *             const double *x = arg;
 *             double s = 0;
 *
 *             for (size_t i = begin; i < end; i++)
 *                     s += x[i];
 *             return s;
 *     }
 *
 *     total = sley_reduce_double(0, nr, sum, x);
 *
 * Adding doubles is not quite associative: the last bits depend on where the
 * range was cut.  how->ordered of the _with forms cuts the range the same way in
 * every run, whatever the number of workers (<sley/how.h>).
 */
#ifndef SLEY_REDUCE_H
#define SLEY_REDUCE_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

/* The sum of the elements from @begin to @end - 1, which are at least one. */
typedef double sley_sum_double_fn(size_t begin, size_t end, void *arg);
typedef int64_t sley_sum_int64_fn(size_t begin, size_t end, void *arg);

/*
 * sley_reduce_double - add up the results of @fn for the pieces of a range.
 *
 * Returns 0 if @begin is not below @end.  A cancel of the caller does not cut
 * the call short.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the call happens before each piece; everything in
 *           the pieces happens before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER double
sley_reduce_double(size_t begin, size_t end, sley_sum_double_fn *fn, void *arg);

/*
 * sley_reduce_double_with - sley_reduce_double() with a grain, or ordered.
 *
 * @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @how is borrowed for the call.
 * Order:    as sley_reduce_double(), for the pieces that were done
 * Errors:   -ECANCELED  some pieces were not done; @result is the sum of the
 *                       others
 *           SLEY_EPRIORITY, -E2BIG (a newer field is set)
 *           -EINVAL     how->size is zero; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_reduce_double_with(double *result, size_t begin, size_t end,
			sley_sum_double_fn *fn, void *arg,
			const struct sley_how *how);

/*
 * sley_reduce_int64 - sley_reduce_double() for integers, which wrap around.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_reduce_double()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int64_t
sley_reduce_int64(size_t begin, size_t end, sley_sum_int64_fn *fn, void *arg);

/*
 * sley_reduce_int64_with - sley_reduce_int64() with a grain, a priority, ...
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @how is borrowed for the call.
 * Order:    as sley_reduce_double_with()
 * Errors:   as sley_reduce_double_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_reduce_int64_with(int64_t *result, size_t begin, size_t end,
		       sley_sum_int64_fn *fn, void *arg,
		       const struct sley_how *how);

/* ---- any kind of value --------------------------------------------------- */

/* For larger values use a pointer to the value. */
#define SLEY_REDUCTION_MAX 128

/*
 * The definition of a sum.  Values have .size bytes and are aligned to 16 bytes,
 * values of up to 8 bytes perhaps only to 8.  Values are not moved, and no
 * function is called when a value is discarded.  The functions get the @arg of
 * the call.
 */
struct sley_reduction {
	size_t size; /* 1 to SLEY_REDUCTION_MAX */
	/* The sum of nothing. */
	void (*init)(void *value, void *arg);
	/* Add the elements from @begin to @end - 1, on the right. */
	void (*add)(void *value, size_t begin, size_t end, void *arg);
	/* Add the sum of the elements that follow. */
	void (*combine)(void *value, const void *right, void *arg);
};

/*
 * sley_reduce - the sum of a range, into @result, which need not be initialised.
 *
 * Like sley_reduce_double().  @result may have any alignment.
 *
 * Context:  any thread; without a runtime all is done in place
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @sum is borrowed for the call.
 * Order:    as sley_reduce_double(), also for .init and .combine
 * Errors:   none; a size that is not allowed is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_reduce(void *result, size_t begin, size_t end,
	    const struct sley_reduction *sum, void *arg);

/*
 * sley_reduce_with - sley_reduce() with a grain, a priority, or ordered.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @sum and @how are borrowed for the call.
 * Order:    as sley_reduce_double_with()
 * Errors:   as sley_reduce_double_with(), and
 *           -EINVAL     a size that is not allowed; nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_reduce_with(void *result, size_t begin, size_t end,
		 const struct sley_reduction *sum, void *arg,
		 const struct sley_how *how);

SLEY_END_DECLS
#endif
