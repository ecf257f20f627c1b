/* SPDX-License-Identifier: MIT */
/*
 * spin.h - a lock for sections of a few dozen instructions.
 *
 * Test-and-test-and-set: waiters read until the word is free, which costs the
 * holder nothing, and only then try to take it.  Taking is one exchange,
 * giving back is one store.
 *
 * The holder may be preempted in the middle, for example when there are more
 * workers than CPUs.  Waiting it out by spinning would burn the very time
 * slice it needs, so after SPIN_HINTS looks a waiter offers its CPU to others
 * every SPIN_HINTS_PER_YIELD further ones.  Nothing may block or switch fibers
 * while it holds a spinlock.
 *
 * Edges:
 *
 *   L1  unlock stores 0  ->  lock/try_lock exchanges : all that the last
 *                                                      holder did
 *
 * All zero is an unlocked lock.
 *
 * Rejected: a ticket lock (fair, but one preempted waiter holds up everybody
 * behind it); a futex mutex (unlocking is a read-modify-write, twice the price
 * of the whole uncontended section here); pthread_spinlock (never yields).
 */
#ifndef SLEY_LF_SPIN_H
#define SLEY_LF_SPIN_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

#define SPIN_HINTS 100
#define SPIN_HINTS_PER_YIELD 16

struct spinlock {
	uint32_t word; /* 0: free, 1: held */
};

/*
 * Offers the CPU to other threads.  Yielding is a system call, so it is
 * defined in os/thread.c, which this layer must not include.
 */
void spin_yield(void);

static inline void spin_wait(struct spinlock *lock, uint32_t nr_looks)
{
	spin_hint(&lock->word);
#ifndef SLEY_MODEL /* there the hint itself waits for the holder */
	if (nr_looks >= SPIN_HINTS && nr_looks % SPIN_HINTS_PER_YIELD == 0)
		spin_yield();
#else
	(void)nr_looks;
#endif
}

static inline must_check bool spin_try_lock(struct spinlock *lock)
{
	/* relaxed: a look that spares the exchange; L1 is what counts. */
	if (load_relaxed(&lock->word))
		return false;
	return xchg_acquire(&lock->word, 1) == 0; /* L1 */
}

static inline void spin_lock(struct spinlock *lock)
{
	uint32_t nr_looks = 0;

	while (unlikely(xchg_acquire(&lock->word, 1))) { /* L1 */
		/* relaxed: only decides when to try again. */
		while (load_relaxed(&lock->word))
			spin_wait(lock, nr_looks++);
	}
}

static inline void spin_unlock(struct spinlock *lock)
{
	/* relaxed: the caller wrote it when it took the lock. */
	sley_assert(load_relaxed(&lock->word) == 1);
	store_release(&lock->word, 0); /* L1 */
}

#endif
