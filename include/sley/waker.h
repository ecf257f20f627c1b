/* SPDX-License-Identifier: MIT */
/*
 * sley/waker.h - wake by number: the waker of a task, and keys.
 *
 * Both are plain numbers that may be copied, stored and sent anywhere, and used
 * at any time.  A waker of an ended task, or a destroyed key, is refused, and
 * never means another task or key.
 */
#ifndef SLEY_WAKER_H
#define SLEY_WAKER_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/* ---- wakers ------------------------------------------------------------- */

/*
 * The waker of one task.  The id alone finds the task.  The priority and the
 * queue (the number of the runtime) are values of the time when the struct was
 * filled in.  A wake uses the priority that the task has at the time of the
 * wake.
 */
struct sley_waker {
	uint64_t id; /* never 0 */
	int32_t priority;
	uint32_t queue; /* 0: no number; only 255 have one */
};

/*
 * sley_waker_self - the waker of the calling task.
 *
 * The first call makes the waker; its id stays the same until the task ends.  To
 * get the waker before the task starts, spawn with sley_options.waker.
 *
 * Context:  a task, or a thread bound to a single-threaded runtime; elsewhere it
 *           is misuse
 * Blocks:   never
 * Errors:   -ENOMEM
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_waker_self(struct sley_waker *out);

/*
 * sley_wake - wake a task that is in sley_suspend().
 *
 * If the task is not suspended, its next sley_suspend() returns at once.  One
 * wake is remembered; further wakes have no effect.  A wake ends no other kind
 * of wait.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the return of the
 *           sley_suspend() that it ends.
 * Errors:   -ESRCH  the task has ended
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_wake(const struct sley_waker *waker);

/*
 * sley_wake_id - sley_wake() by the id of a waker alone.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_wake()
 * Errors:   -ESRCH  the task has ended, or never existed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int sley_wake_id(uint64_t id);

/*
 * sley_suspend - wait to be woken by sley_wake().
 *
 * Context:  as sley_waker_self()
 * Blocks:   the fiber
 * Errors:   -ECANCELED; a remembered wake wins over a cancel
 *           -ENOMEM  the task had no waker, and there is no memory for one
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_suspend(void);

/*
 * sley_suspend_until - sley_suspend() with a deadline.
 *
 * Context:  as sley_waker_self()
 * Blocks:   the fiber
 * Errors:   -ENOMEM  as sley_suspend()
 *           -ETIMEDOUT, -ECANCELED; a remembered wake wins over both
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_suspend_until(uint64_t deadline_ns);

/*
 * sley_set_priority_id - sley_set_priority() by the id of a task's waker.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   SLEY_EPRIORITY
 *           -ESRCH  the task has ended, or never existed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_set_priority_id(uint64_t id, int priority);

/* ---- keys ----------------------------------------------------------------- */

/*
 * A key is a number at which waiters and wakers meet, in any order.  A key has
 * no owner: every task or thread that knows the key may wait for it, wake it or
 * destroy it.
 */

/*
 * sley_key_create - make a key; no key is ever given out twice.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the program calls sley_key_destroy() in the end.
 * Errors:   -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_key_create(uint64_t *key);

/*
 * sley_key_destroy - end a key.
 *
 * Waits for the key return -EIDRM.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ESRCH  there is no such key (any more)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_key_destroy(uint64_t key);

/*
 * sley_key_wait - wait until a key is woken.
 *
 * If a wake is remembered, the call consumes it and returns at once.  Each wake
 * releases one waiter, the first one.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 *           -ESRCH  there is no such key (any more)
 *           -EIDRM  the key was destroyed meanwhile
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_key_wait(uint64_t key);

/*
 * sley_key_wait_until - sley_key_wait() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED, -ESRCH, -EIDRM; no wake is consumed then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_key_wait_until(uint64_t key, uint64_t deadline_ns);

/*
 * sley_key_wake - wake the first waiter of a key, or else the next one to come.
 *
 * One wake is remembered; until it is consumed, further wakes have no effect.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the return of the wait
 *           that it ends.
 * Errors:   1 a waiter was woken, 0 the wake is remembered
 *           -ESRCH  there is no such key (any more)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int sley_key_wake(uint64_t key);

/*
 * sley_nr_wakers - the number of wakers and keys in the process.
 *
 * There can be 2^32 - 64 at once, of 64 bytes each.  Their memory is reused, but
 * never freed.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t sley_nr_wakers(void);

SLEY_END_DECLS
#endif
