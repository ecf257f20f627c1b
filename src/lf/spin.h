/* SPDX-License-Identifier: MIT */
/*
 * spin.h - a lock for sections of a few dozen instructions.
 *
 * Test-and-test-and-set: waiters read until the word is free, which costs the
 * holder nothing, and only then try to take the lock.  Taking is one exchange,
 * giving back is one store and a look at one word that nearly never changes.
 *
 * The holder may be preempted in the middle.  A waiter that goes on looking, or
 * that only ever yields its CPU, burns the very time that the holder needs; a
 * waiter of a higher scheduling class burns that time for ever.  So a waiter
 * looks SPIN_LOOKS times and then sleeps (os/spin.c).  The holder of a spinlock
 * must not block or switch fibers.
 *
 *   waiter                               holder
 *   count itself as a sleeper            store 0 to the lock
 *   remember how many wakes there were   no sleepers: done
 *   the lock is free: do not sleep       count a wake, wake the sleeper
 *   sleep, unless there was a wake
 *   since; 20 us at most at first,
 *   then twice as long each time
 *
 * The count of sleepers is a hint.  The holder's store may still be on its way to
 * memory when the holder reads "no sleepers", and the waiter reads "held" at the
 * same time: neither has a barrier between store and look.  A waiter relies on the
 * time-out; the wake makes the wait short.
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
 * of the whole uncontended section here); pthread_spinlock and waiting by
 * sched_yield() (neither lets a holder of a lower class run); sleeping without a
 * wake, and a membarrier() in the waiter instead of the time-out: ADR 17 has the
 * measurements.
 */
#ifndef SLEY_LF_SPIN_H
#define SLEY_LF_SPIN_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/fault_lock.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef SPIN_LOOKS              /* of a model: fewer            */
#define SPIN_LOOKS 100          /* then sleep                   */
#define SPIN_LOOKS_PER_SLEEP 16 /* before the next sleep          */
#endif

struct spinlock {
	uint32_t word; /* 0: free, 1: held */
};

/* Would another look at @address be in vain, too? */
typedef bool spin_still(const void *address);

/*
 * Sleeping is a system call, so it is defined in os/spin.c, which this layer must
 * not include.  Only models that define MODEL_SLEEPS explore the sleep: in other
 * models spin_hint() itself waits until there is something to see.
 */
#if !defined(SLEY_MODEL) || defined(MODEL_SLEEPS)

/* How many threads sleep in spin_sleep(), or are about to. */
extern uint32_t spin_nr_sleepers __attribute__((visibility("hidden")));

/*
 * Sleeps, unless @still denies it, until spin_wake(@address), or until a time-out
 * that is longer the more often the caller has slept already, @nr_sleeps.
 */
void spin_sleep(const void *address, spin_still *still, uint32_t nr_sleeps);

static inline bool spin_has_sleepers(void)
{
	/* relaxed: a hint, see above. */
	return unlikely(load_relaxed(&spin_nr_sleepers));
}

/* Wakes a sleeper of @address; does not access the memory there. */
void spin_wake(const void *address);

#else

static inline void spin_sleep(const void *address, spin_still *still,
			      uint32_t nr_sleeps)
{
	(void)address;
	(void)still;
	(void)nr_sleeps;
}

static inline bool spin_has_sleepers(void)
{
	return false;
}

static inline void spin_wake(const void *address)
{
	(void)address;
}

#endif

/*
 * After each look at @address in vain, and spin_hint(): @nr_looks counts from 0.
 * Every open-ended wait without a futex of its own calls this.
 */
static inline void spin_wait(const void *address, spin_still *still,
			     uint32_t nr_looks)
{
	if (nr_looks >= SPIN_LOOKS && nr_looks % SPIN_LOOKS_PER_SLEEP == 0)
		spin_sleep(address, still,
			   (nr_looks - SPIN_LOOKS) / SPIN_LOOKS_PER_SLEEP);
}

/* The sleepers of @address can go on; the memory there may be gone already. */
static inline void spin_done(const void *address)
{
	if (spin_has_sleepers())
		spin_wake(address);
}

static inline bool spin_is_held(const void *word)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)word);
}

static inline must_check bool spin_try_lock(struct spinlock *lock)
{
	/* relaxed: a look that spares the exchange; L1 is in the exchange. */
	if (load_relaxed(&lock->word))
		return false;
	return xchg_acquire(&lock->word, 1) == 0; /* L1 */
}

static noinline void spin_lock_slow(struct spinlock *lock)
{
	uint32_t nr_looks = 0;

	do {
		/* relaxed: only decides when to try again. */
		while (load_relaxed(&lock->word)) {
			spin_hint(&lock->word);
			spin_wait(&lock->word, spin_is_held, nr_looks++);
		}
	} while (xchg_acquire(&lock->word, 1)); /* L1 */
}

static inline void spin_lock(struct spinlock *lock)
{
	if (unlikely(xchg_acquire(&lock->word, 1))) /* L1 */
		spin_lock_slow(lock);
}

static inline void spin_unlock(struct spinlock *lock)
{
	/* relaxed: the caller wrote it when taking the lock. */
	sley_assert(load_relaxed(&lock->word) == 1);
	store_release(&lock->word, 0); /* L1 */
	spin_done(&lock->word);
}

#ifdef SLEY_FAULT_LOCKS
#define spin_lock(lock) fault_lock((spin_lock)(lock))
#endif

#endif
