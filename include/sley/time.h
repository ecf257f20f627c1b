/* SPDX-License-Identifier: MIT */
/*
 * sley/time.h - one monotonic clock, in nanoseconds.
 *
 * Every call that waits has a variant ending in _until that takes an absolute
 * deadline on this clock.  A deadline in the past, such as 0, means "try once".
 * SLEY_FOREVER never comes.
 *
 *	err = sley_chan_recv_until(chan, &value, sley_after(5 * SLEY_MSEC));
 */
#ifndef SLEY_TIME_H
#define SLEY_TIME_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

#define SLEY_USEC 1000ULL
#define SLEY_MSEC 1000000ULL
#define SLEY_SEC 1000000000ULL
#define SLEY_FOREVER UINT64_MAX

/*
 * sley_now - the time of the monotonic clock, in nanoseconds.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t sley_now(void);

/*
 * sley_after - the deadline that is @duration_ns from now.
 *
 * For the calls that end in _until.  A duration that is too long for the clock,
 * SLEY_FOREVER for example, gives SLEY_FOREVER.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint64_t
sley_after(uint64_t duration_ns)
{
	uint64_t now_ns = sley_now();

	return duration_ns > SLEY_FOREVER - now_ns ? SLEY_FOREVER
						   : now_ns + duration_ns;
}

/*
 * sley_sleep_until - sleep until the clock reaches @deadline_ns.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED  the task was cancelled before or while it slept; then
 *                       each later sleep fails at once: leave the loop
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_sleep_until(uint64_t deadline_ns);

/*
 * sley_sleep - sleep for @duration_ns.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED  the task was cancelled before or while it slept; then
 *                       each later sleep fails at once: leave the loop
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_sleep(uint64_t duration_ns);

SLEY_END_DECLS
#endif
