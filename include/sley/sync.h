/* SPDX-License-Identifier: MIT */
/*
 * sley/sync.h - event, wait group, mutex, condition variable.
 *
 * These objects live in memory of the caller, need no clean-up, and work between
 * tasks and plain threads alike.  Waiters are served first come, first served.
 * The memory of an object may be reused as soon as there are no waiters and the
 * last waiter has *observed* its release: the object may be in a stack frame
 * that returns.
 */
#ifndef SLEY_SYNC_H
#define SLEY_SYNC_H

#include <sley/compiler.h>
#include <sley/fork_stack.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

/* ---- event ------------------------------------------------------------- */

/*
 * A manual event stays set until it is cleared, and lets all waiters pass.  An
 * automatic event lets one waiter pass per set, a present or a future waiter; a
 * second set while the event is set has no effect.
 */
struct sley_event {
	struct sley_waitq q;
};

/* Manual, not set. */
#define SLEY_EVENT_INIT { SLEY_WAITQ_INIT }
/* Automatic, not set. */
#define SLEY_EVENT_AUTO_INIT { { SLEY_EVENT_AUTO, NULL } }
#define SLEY_EVENT_SET 2u  /* in the word: private */
#define SLEY_EVENT_AUTO 4u /* in the word: private */

/*
 * sley_event_init - set up an event, manual or automatic, @set or not.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_event_init(struct sley_event *event, bool automatic, bool set);

/*
 * sley_event_set - set an event, and let its waiters pass.
 *
 * All waiters pass a manual event, the first waiter passes an automatic event.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the wait that it releases
 *           returns.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_event_set(struct sley_event *event);

/*
 * sley_event_clear - make an event unset.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_event_clear(struct sley_event *event);

/*
 * sley_event_is_set - is an event set?
 *
 * The call does not consume an automatic event.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    if true, everything before the sley_event_set() that set the event
 *           happens before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_event_is_set(const struct sley_event *event);

/*
 * sley_event_try - pass an event if it is set; consumes an automatic event.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns true if the event was set
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_event_try(struct sley_event *event);

/*
 * sley_event_wait - wait until an event is set; consumes an automatic event.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_event_wait(struct sley_event *event);

/*
 * sley_event_wait_until - sley_event_wait() with a deadline.
 *
 * An event that is set wins over a deadline that has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED; neither consumes an event
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_event_wait_until(struct sley_event *event, uint64_t deadline_ns);

/* How many events sley_event_wait_any() takes at most. */
#define SLEY_EVENT_ANY_MAX 64

/*
 * sley_event_wait_any - wait until one of @nr events is set.
 *
 * Returns the index of the event that ended the wait, and consumes only this
 * event.  The same event may be listed more than once.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 *           -EINVAL  @nr is 0 or above SLEY_EVENT_ANY_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_event_wait_any(struct sley_event *const *events, size_t nr);

/*
 * sley_event_wait_any_until - sley_event_wait_any() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED, -EINVAL; no event is consumed then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_event_wait_any_until(struct sley_event *const *events, size_t nr,
			  uint64_t deadline_ns);

/* ---- wait group -------------------------------------------------------- */

/* A counter; callers can wait until it is zero.  It starts at zero. */
struct sley_waitgroup {
	struct sley_waitq q;
};

#define SLEY_WAITGROUP_INIT { SLEY_WAITQ_INIT }

/*
 * sley_waitgroup_add - count @n more things to wait for.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_waitgroup_add(struct sley_waitgroup *wg, uint32_t n);

/*
 * sley_waitgroup_done - count one thing less; true if it was the last.
 *
 * One call too many is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the wait that it releases
 *           returns.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_waitgroup_done(struct sley_waitgroup *wg);

/*
 * sley_waitgroup_wait - wait until the counter of a wait group is zero.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_waitgroup_wait(struct sley_waitgroup *wg);

/*
 * sley_waitgroup_wait_until - sley_waitgroup_wait() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_waitgroup_wait_until(struct sley_waitgroup *wg, uint64_t deadline_ns);

/* ---- mutex ------------------------------------------------------------- */

/*
 * One task or thread at a time holds a mutex, and the holder releases it.  A
 * release hands the mutex to the waiter that came first.  A mutex may be held
 * across a wait, also across a blocking call or region.
 *
 * A mutex is not recursive: a second lock by the holder is misuse.  The release
 * of a mutex that another task or thread holds, or that is free, is misuse, too.
 * Each misuse is reported at the call, in every build, with the name of the
 * holder.  If one task locks and another task releases, use a semaphore of one
 * unit (<sley/semaphore.h>).
 *
 * A blocking call locks and releases for the task that called it.  A forked
 * child is a task of its own: it does not release a mutex that its parent holds,
 * nor the other way round.  A child that its parent runs at the join, without a
 * thief, counts as its parent here, and such a release is not noticed.  After
 * fork() the thread in the child process holds the mutexes that its task or
 * thread held before.
 *
 * A task that ends without releasing a mutex leaves it locked for ever.
 *
 * While a more urgent task waits for a mutex, the holder has the priority of that
 * task, and so has each task that the holder waits for in this way: see
 * sley_set_priority() in <sley/task.h>.
 */
struct sley_mutex {
	struct sley_waitq q;
};

#define SLEY_MUTEX_INIT { SLEY_WAITQ_INIT }
#define SLEY_MUTEX_WAITERS 2u            /* in the word: private */
#define SLEY_MUTEX_LOANS 4u              /* in the word: private */
#define SLEY_MUTEX_HOLDER (~(uint64_t)7) /* in the word: private */

SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_mutex_lock_slow(struct sley_mutex *mutex);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_mutex_try_lock_slow(struct sley_mutex *mutex);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_mutex_unlock_slow(struct sley_mutex *mutex);

/*
 * Take the mutex unless it is held or its list of waiters is locked: then *@word
 * is the word of the mutex.  A caller that is no ordinary task expects a word
 * that no mutex has, and so fails.
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_mutex_try_lock_fast(struct sley_mutex *mutex, uint64_t *word)
{
	const struct sley_forks *self = sley_forks_fast();

	*word = self->unlocked;
	return __atomic_compare_exchange_n(&mutex->q.word, word,
					   (uint64_t)(uintptr_t)self, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * sley_mutex_try_lock - take the mutex if it is free.
 *
 * The holder itself gets false, too.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns true if the mutex was taken
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK static inline bool
sley_mutex_try_lock(struct sley_mutex *mutex)
{
	uint64_t word;

	if (sley_mutex_try_lock_fast(mutex, &word))
		return true;
	/* Free: the caller is no ordinary task, or a waiter just gave up. */
	return !(word & SLEY_MUTEX_HOLDER) && sley_mutex_try_lock_slow(mutex);
}

/*
 * sley_mutex_lock - take the mutex.
 *
 * A cancel of the caller does not cut the wait short; the next wait that can be
 * cancelled fails.  sley_mutex_lock_until() can be cancelled.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none; locking a mutex that the caller holds is misuse
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_mutex_lock(struct sley_mutex *mutex)
{
	uint64_t word;

	if (!sley_mutex_try_lock_fast(mutex, &word))
		sley_mutex_lock_slow(mutex);
}

/*
 * sley_mutex_lock_until - take the mutex by a deadline.
 *
 * A free mutex is taken even if the deadline has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED; the mutex is not held then.  Locking a mutex
 *           that the caller holds is misuse, whatever the deadline.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_mutex_lock_until(struct sley_mutex *mutex, uint64_t deadline_ns);

/*
 * sley_mutex_unlock - release the mutex.
 *
 * The release of a free mutex, or of a mutex that another task or thread holds,
 * is misuse.
 *
 * Context:  the holder
 * Blocks:   never
 * Order:    everything before the call happens before the next lock returns.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_mutex_unlock(struct sley_mutex *mutex)
{
	uint64_t word = (uint64_t)(uintptr_t)sley_forks_fast();

	if (!__atomic_compare_exchange_n(&mutex->q.word, &word, 0, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		sley_mutex_unlock_slow(mutex);
}

/* ---- condition variable ------------------------------------------------ */

struct sley_cond {
	struct sley_waitq q;
};

#define SLEY_COND_INIT { SLEY_WAITQ_INIT }

/*
 * sley_cond_wait - release @mutex, wait for a notification, take @mutex again.
 *
 * The caller holds @mutex, and holds it again on return in every case.  There
 * are no spurious wake-ups, but another task may have changed the condition
 * first: check the condition again.
 *
 * A cancel of the caller does not cut the wait short, as with sley_mutex_lock():
 * in a cancelled task or scope the wait lasts until the notification.  (A loop
 * around a wait that fails at once would never end.)  For a wait that a cancel
 * ends, use sley_cond_wait_until(), with SLEY_FOREVER if there is no deadline:
 *
 *	while (!err && !ready)
 *		err = sley_cond_wait_until(&cond, &mutex, SLEY_FOREVER);
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_cond_wait(struct sley_cond *cond, struct sley_mutex *mutex);

/*
 * sley_cond_wait_until - sley_cond_wait() with a deadline, and cancellable.
 *
 * The caller holds @mutex again in every case, also on failure.  After a failure
 * with -ECANCELED every later call fails, too: leave the loop.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED; no notification is consumed then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_cond_wait_until(struct sley_cond *cond, struct sley_mutex *mutex,
		     uint64_t deadline_ns);

/*
 * sley_cond_notify_one - wake the first waiter of a condition, if any.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_cond_notify_one(struct sley_cond *cond);

/*
 * sley_cond_notify_all - wake all present waiters of a condition.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_cond_notify_all(struct sley_cond *cond);

SLEY_END_DECLS
#endif
