/* SPDX-License-Identifier: MIT */
/*
 * sley/future.h - a result that will be there later.
 *
 * A future is completed once, with a value or with an error, and then stays
 * unchanged.  A future lives in memory of the caller, needs no clean-up, and
 * works between tasks and plain threads alike.  It may stand on a stack that
 * returns: a future may be forgotten as soon as a wait for it has returned, if
 * no other task or thread waits for it or may still try to complete it.
 *
 * A task that was spawned with .future (<sley/task.h>) has the priority of a more
 * urgent task that waits for the future, until that task goes on.  A wait for any of
 * several futures does not count, and a wait for all counts for one after the other.
 */
#ifndef SLEY_FUTURE_H
#define SLEY_FUTURE_H

#include <sley/compiler.h>
#include <sley/sync.h>

SLEY_BEGIN_DECLS

/* Zeroed memory is a future that is not done. */
struct sley_future {
	struct sley_event done; /* manual                              */
	void *value;            /* private: use sley_future_get()      */
	int status;             /* private                             */
};

#define SLEY_FUTURE_INIT { SLEY_EVENT_INIT, NULL, 0 }

/*
 * sley_future_set - complete a future with a value; wake all waiters.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    *@value, if it points at anything, is handed to the caller that
 *           gets it.
 * Order:    everything before the call happens before the return of each wait
 *           that it ends, and before sley_future_get() gives the value.
 * Errors:   -EALREADY   the future was complete; nothing has changed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_future_set(struct sley_future *future, void *value);

/*
 * sley_future_fail - complete a future with an error; wake all waiters.
 *
 * An @err that is not below 0 is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_future_set()
 * Errors:   -EALREADY   the future was complete; nothing has changed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_future_fail(struct sley_future *future, int err);

/*
 * sley_future_is_done - is a future complete, with a value or an error?
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_future_is_done(const struct sley_future *future)
{
	return (__atomic_load_n(&future->done.q.word, __ATOMIC_ACQUIRE) &
		SLEY_EVENT_SET) != 0;
}

/*
 * sley_future_get - the value of a future, or its error.
 *
 * *@value is written only if there is a value; @value may be NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EINPROGRESS   the future is not complete
 *           the error that sley_future_fail() was given
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_future_get(const struct sley_future *future, void **value);

/*
 * sley_future_wait - wait until a future is complete, with a value or an error.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_future_wait(struct sley_future *future)
{
	/* Done, and its lock is free: only then may the future be forgotten. */
	if (__atomic_load_n(&future->done.q.word, __ATOMIC_ACQUIRE) ==
	    SLEY_EVENT_SET)
		return 0;
	return sley_event_wait(&future->done);
}

/*
 * sley_future_wait_until - sley_future_wait() with a deadline.
 *
 * A future that is complete wins over a deadline that has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_future_wait_until(struct sley_future *future, uint64_t deadline_ns);

/* How many futures sley_future_wait_any() takes at most. */
#define SLEY_FUTURE_ANY_MAX SLEY_EVENT_ANY_MAX

/*
 * sley_future_wait_any - wait until one of @nr futures is complete.
 *
 * Returns the index of a future that is complete.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 *           -EINVAL   @nr is 0 or above SLEY_FUTURE_ANY_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_future_wait_any(struct sley_future *const *futures, size_t nr);

/*
 * sley_future_wait_any_until - sley_future_wait_any() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED, -EINVAL
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_future_wait_any_until(struct sley_future *const *futures, size_t nr,
			   uint64_t deadline_ns);

/*
 * sley_future_wait_all - wait until all of @nr futures are complete.
 *
 * The call also waits for futures that fail: it does not return at the first
 * error.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 *           -EINVAL   @nr is 0
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_future_wait_all(struct sley_future *const *futures, size_t nr);

/*
 * sley_future_wait_all_until - sley_future_wait_all() with one deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED, -EINVAL
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_future_wait_all_until(struct sley_future *const *futures, size_t nr,
			   uint64_t deadline_ns);

SLEY_END_DECLS
#endif
