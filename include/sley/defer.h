/* SPDX-License-Identifier: MIT */
/*
 * sley/defer.h - calls at the end of a block, whichever way the block is left.
 *
 *	FILE *file = fopen(name, "r");
 *
 *	if (!file)
 *		return -1;
 *	SLEY_DEFER(close_file, file);
 *	SLEY_MUTEX_GUARD(&mutex);
 *	...
 *	return 0;  // unlocks, then closes
 *
 * A deferred call belongs to the block, not to the function.  The call that was
 * deferred last comes first.  A block is left by return, break, continue, goto
 * and C++ exceptions; longjmp() and exit() skip the deferred calls.  The
 * function and the argument are evaluated where SLEY_DEFER() stands.
 *
 * Uses the attribute "cleanup" of gcc and clang.
 */
#ifndef SLEY_DEFER_H
#define SLEY_DEFER_H

#include <sley/compiler.h>
#include <sley/runtime.h>
#include <sley/sync.h>

SLEY_BEGIN_DECLS

/* Private: the data that SLEY_DEFER() leaves in the frame. */
struct sley_defer {
	sley_fn *fn;
	void *arg;
};

/*
 * sley_defer_run - private: the end of SLEY_DEFER().
 *
 * Context:  any thread
 * Blocks:   as the function given to SLEY_DEFER()
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_defer_run(const struct sley_defer *defer)
{
	defer->fn(defer->arg);
}

/*
 * sley_guard_lock - private: the beginning of SLEY_MUTEX_GUARD().
 *
 * Context:  any thread
 * Blocks:   as sley_mutex_lock()
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline struct sley_mutex *
sley_guard_lock(struct sley_mutex *mutex)
{
	sley_mutex_lock(mutex);
	return mutex;
}

/*
 * sley_guard_unlock - private: the end of SLEY_MUTEX_GUARD().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_guard_unlock(struct sley_mutex *const *mutex)
{
	sley_mutex_unlock(*mutex);
}

/* Private: a unique name. */
#define SLEY_DEFER_PASTE_(a, b) a##b
#define SLEY_DEFER_PASTE(a, b) SLEY_DEFER_PASTE_(a, b)
#define SLEY_DEFER_NAME SLEY_DEFER_PASTE(sley_defer_, __COUNTER__)

/* SLEY_DEFER(fn, arg) - call fn(arg) at the end of the block. */
#define SLEY_DEFER(fn, arg)                                                    \
	__attribute__((cleanup(sley_defer_run), unused))                       \
	const struct sley_defer SLEY_DEFER_NAME = { (fn), (arg) }

/* SLEY_MUTEX_GUARD(mutex) - hold *mutex until the end of the block. */
#define SLEY_MUTEX_GUARD(mutex)                                                \
	__attribute__((cleanup(sley_guard_unlock),                             \
		       unused)) struct sley_mutex *const SLEY_DEFER_NAME =     \
		sley_guard_lock(mutex)

SLEY_END_DECLS
#endif
