/* SPDX-License-Identifier: MIT */
/*
 * countdown.h - a counter, and waiters that sleep until it is zero.  Groups, wait
 * groups and the scopes of graphs are built on it.
 *
 *   word:  count << 2 | WAITERS | lock
 *
 * Counting needs no lock.  If there are waiters, the notifier that brings the
 * count to zero takes the lock in the same compare-and-swap.  So a waiter that
 * sees zero without the lock knows that no notifier will touch the object again,
 * and may free the object.  That is why {count, waiters, lock} are one word.
 *
 * Edges:
 *
 *   C1  done counts down -> the wait sees zero : the work that was counted
 *   W1  see core/wait/waitq.h
 */
#ifndef SLEY_CORE_TASK_COUNTDOWN_H
#define SLEY_CORE_TASK_COUNTDOWN_H

#include "core/wait/waitq.h"

#define COUNTDOWN_WAITERS 2ull
#define COUNTDOWN_ONE 4ull
#define countdown_of(word) ((word) / COUNTDOWN_ONE)

static inline void countdown_add(struct sley_waitq *q, uint64_t n)
{
	/* relaxed: the counted work is published where the work is handed over. */
	(void)add_relaxed(&q->word, n * COUNTDOWN_ONE);
}

enum countdown_result {
	COUNTDOWN_MORE, /* not zero                               */
	COUNTDOWN_LAST, /* zero, and all waiters are woken        */
	COUNTDOWN_BAD,  /* the count was less; nothing was done   */
};

enum countdown_result countdown_sub_slow(struct sley_waitq *q, uint64_t n);

/* @n of the counted things are done. */
static inline enum countdown_result countdown_sub(struct sley_waitq *q,
						  uint64_t n)
{
	/* relaxed: the CAS checks it. */
	uint64_t word = load_relaxed(&q->word);

	/* Some are left: there is no waiter to wake. */
	if (likely(word >= (n + 1) * COUNTDOWN_ONE &&
		   cas_acq_rel(&q->word, &word, /* C1 */
			       word - n * COUNTDOWN_ONE)))
		return COUNTDOWN_MORE;
	return countdown_sub_slow(q, n);
}

static inline enum countdown_result countdown_done(struct sley_waitq *q)
{
	return countdown_sub(q, 1);
}

/* 0, -ETIMEDOUT or -ECANCELED. */
must_check int countdown_wait_slow(struct sley_waitq *q, uint64_t deadline_ns,
				   enum wait_flags flags);

/* Is the count zero, and is no notifier inside any more? */
static inline bool countdown_is_zero(struct sley_waitq *q)
{
	uint64_t word = load_acquire(&q->word); /* C1 */

	return likely(!countdown_of(word) && !(word & WAITQ_LOCK));
}

static inline must_check int countdown_wait(struct sley_waitq *q,
					    uint64_t deadline_ns,
					    enum wait_flags flags)
{
	if (countdown_is_zero(q))
		return 0;
	return countdown_wait_slow(q, deadline_ns, flags);
}

#endif
