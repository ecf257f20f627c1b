/* SPDX-License-Identifier: MIT */
/*
 * fault_lock.h - where locks are taken, for tests that stop a thread there.
 *
 * In a build with SLEY_FAULTS (see os/fault.h) each call that takes a lock of the
 * library is a *site*.  The calling thread tells the plan twice: before taking the
 * lock, and after.  tests/fault/fork_at_lock.c has a plan that keeps the thread at
 * a site until another thread has called fork().
 *
 * The functions that take locks stay as they are: macros of the same names wrap
 * the functions.
 *
 * Other builds have none of this.  Models have their own way to stop a thread.
 */
#ifndef SLEY_BASE_FAULT_LOCK_H
#define SLEY_BASE_FAULT_LOCK_H

#if defined(SLEY_FAULTS) && !defined(SLEY_MODEL)

#include <stdbool.h>

struct fault_lock_site {
	const char *file;
	const char *function;
	int line;
};

/* Any thread, any context.  @taken: the caller has the lock now. */
typedef void fault_lock_plan_fn(const struct fault_lock_site *site, bool taken);

/* NULL: there is no plan. */
void fault_set_lock_plan(fault_lock_plan_fn *plan);

void fault_lock_reached(const struct fault_lock_site *site, bool taken);

/* Before, and after, the expression @take, which takes a lock. */
#define FAULT_LOCK_BEFORE_                                                     \
	static const struct fault_lock_site fault_site_ = { __FILE__,          \
							    __func__,          \
							    __LINE__ };        \
	fault_lock_reached(&fault_site_, false)

/* For an expression without a value. */
#define fault_lock(take)                                                       \
	__extension__({                                                        \
		FAULT_LOCK_BEFORE_;                                            \
		(take);                                                        \
		fault_lock_reached(&fault_site_, true);                        \
	})

/* For an expression with a value. */
#define fault_lock_value(take)                                                 \
	__extension__({                                                        \
		FAULT_LOCK_BEFORE_;                                            \
		__auto_type fault_value_ = (take);                             \
		fault_lock_reached(&fault_site_, true);                        \
		fault_value_;                                                  \
	})

#define SLEY_FAULT_LOCKS 1

#else

#define fault_lock(take) (take)

#endif

#endif
