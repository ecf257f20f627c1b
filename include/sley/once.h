/* SPDX-License-Identifier: MIT */
/*
 * sley/once.h - a function that is called once, by the first caller.
 *
 * A once flag lives in memory of the caller, needs no clean-up, and works
 * between tasks and plain threads alike.
 */
#ifndef SLEY_ONCE_H
#define SLEY_ONCE_H

#include <sley/compiler.h>
#include <sley/runtime.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

/* Zeroed memory is a flag whose function was not called. */
struct sley_once_flag {
	struct sley_waitq q;
	uint64_t runner; /* the caller that is in the function; 0: none */
};

#define SLEY_ONCE_INIT { SLEY_WAITQ_INIT, 0 }
#define SLEY_ONCE_DONE 2u /* in the word: private */

SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_once_slow(struct sley_once_flag *once, sley_fn *fn, void *arg);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_once_until_slow(struct sley_once_flag *once, sley_fn *fn, void *arg,
		     uint64_t deadline_ns);

/*
 * sley_once - see to it that @fn(@arg) was called, by this or another call.
 *
 * The first caller calls @fn.  Other callers wait until @fn has returned; a
 * cancel does not cut their wait short.  @fn may block.  If @fn calls
 * sley_once() for the same flag, from the same task or thread, that is misuse.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the function; a plain thread
 *           sleeps
 * Order:    everything in the function happens before the return of each call.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_once(struct sley_once_flag *once, sley_fn *fn, void *arg)
{
	if (__atomic_load_n(&once->q.word, __ATOMIC_ACQUIRE) != SLEY_ONCE_DONE)
		sley_once_slow(once, fn, arg);
}

/*
 * sley_once_until - sley_once(), but wait for another caller's @fn by a deadline
 * only, and cancellable.
 *
 * The deadline limits only the wait.  If the function was not called yet, this
 * call calls it, even with a deadline that has passed, and takes as long as the
 * function takes.  If another caller is in the function, this call waits, and
 * never calls the function.  A function that has returned wins over the
 * deadline.
 *
 * Context:  any thread
 * Blocks:   as sley_once()
 * Order:    as sley_once(), on success
 * Errors:   -ETIMEDOUT, -ECANCELED; another caller was still in the function
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_once_until(struct sley_once_flag *once, sley_fn *fn, void *arg,
		uint64_t deadline_ns)
{
	if (__atomic_load_n(&once->q.word, __ATOMIC_ACQUIRE) == SLEY_ONCE_DONE)
		return 0;
	return sley_once_until_slow(once, fn, arg, deadline_ns);
}

/*
 * sley_once_done - has the function of a once flag returned?
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_once(), if true
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_once_done(const struct sley_once_flag *once)
{
	return __atomic_load_n(&once->q.word, __ATOMIC_ACQUIRE) &
	       SLEY_ONCE_DONE;
}

SLEY_END_DECLS
#endif
