/* SPDX-License-Identifier: MIT */
/*
 * sley/semaphore.h - a number of units that can be taken and given back.
 *
 * A semaphore lives in memory of the caller, needs no clean-up, and works
 * between tasks and plain threads alike.  A request for several units gets all
 * of them or waits.  Requests are served first come, first served: small
 * requests do not overtake a large request before them, even if there are enough
 * units for the small ones.  <sley/sync.h> says when the memory of a semaphore
 * may be reused.
 */
#ifndef SLEY_SEMAPHORE_H
#define SLEY_SEMAPHORE_H

#include <sley/compiler.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

/* Zeroed memory is a semaphore without units. */
struct sley_sem {
	struct sley_waitq q;
};

#define SLEY_SEM_MAX UINT32_MAX /* units at once */

#define SLEY_SEM_INIT(n) { { (uint64_t)(uint32_t)(n)*SLEY_SEM_ONE, NULL } }
#define SLEY_SEM_BUSY 3u /* in the word: waiters, or a lock; private */
#define SLEY_SEM_ONE 4u  /* in the word: private */

SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_sem_try_acquire_slow(struct sley_sem *sem, uint32_t n);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_sem_acquire_slow(struct sley_sem *sem, uint32_t n, uint64_t deadline_ns);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_sem_release_slow(struct sley_sem *sem, uint32_t n);

/*
 * sley_sem_take - private: take @n units by the word alone, if possible.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; 1 taken, 0 not enough, -1 there are waiters or the lock is
 *           held
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline int
sley_sem_take(struct sley_sem *sem, uint32_t n)
{
	uint64_t units = (uint64_t)n * SLEY_SEM_ONE;
	uint64_t word = __atomic_load_n(&sem->q.word, __ATOMIC_RELAXED);

	do {
		if (word & SLEY_SEM_BUSY)
			return -1;
		if (word < units)
			return 0;
	} while (!__atomic_compare_exchange_n(&sem->q.word, &word, word - units,
					      false, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return 1;
}

/*
 * sley_sem_init - set up a semaphore with @n units.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_sem_init(struct sley_sem *sem, uint32_t n);

/*
 * sley_sem_try_acquire - take @n units if there are so many and no waiters.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; true if they were taken
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK static inline bool
sley_sem_try_acquire(struct sley_sem *sem, uint32_t n)
{
	int taken = sley_sem_take(sem, n);

	return taken >= 0 ? taken : sley_sem_try_acquire_slow(sem, n);
}

/*
 * sley_sem_acquire_until - sley_sem_acquire() with a deadline.
 *
 * Available units are taken even if the deadline has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED; neither takes any unit
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_sem_acquire_until(struct sley_sem *sem, uint32_t n, uint64_t deadline_ns)
{
	if (sley_sem_take(sem, n) == 1)
		return 0;
	return sley_sem_acquire_slow(sem, n, deadline_ns);
}

/*
 * sley_sem_acquire - take @n units of a semaphore, all at once, in turn.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED; no unit is taken then
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_sem_acquire(struct sley_sem *sem, uint32_t n)
{
	return sley_sem_acquire_until(sem, n, UINT64_MAX);
}

/*
 * sley_sem_release - give @n units to a semaphore, and so to its waiters.
 *
 * Any task or thread may give units, even if it has not taken any.  More than
 * SLEY_SEM_MAX units at once are misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the return of the acquire
 *           that takes one of these units.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_sem_release(struct sley_sem *sem, uint32_t n)
{
	uint64_t units = (uint64_t)n * SLEY_SEM_ONE;
	uint64_t max = (uint64_t)SLEY_SEM_MAX * SLEY_SEM_ONE;
	uint64_t word = __atomic_load_n(&sem->q.word, __ATOMIC_RELAXED);

	do {
		if ((word & SLEY_SEM_BUSY) || word > max - units) {
			sley_sem_release_slow(sem, n);
			return;
		}
	} while (!__atomic_compare_exchange_n(&sem->q.word, &word, word + units,
					      false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

/*
 * sley_sem_value - the number of units at some moment during the call.
 *
 * Even if the number is not zero, the units may not be available: a waiter may
 * wait for more.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before each sley_sem_release() that is counted happens
 *           before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_sem_value(const struct sley_sem *sem);

SLEY_END_DECLS
#endif
