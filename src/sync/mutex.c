/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the slow paths; the fast ones are inline in <sley/sync.h>.
 *
 *   word:  WAITERS | HELD | lock of the list
 *
 * HELD alone may be set and cleared without the list's lock, and only while
 * the rest of the word is zero: so with a waiter there, or somebody about to
 * become one, every release comes through unlock_slow.  A release with waiters
 * hands the mutex over: HELD stays set, and the first waiter is woken as its
 * holder.  Nobody can come in between, so nobody starves.
 *
 * So whoever has the list's lock is alone with the word.  Others who want that
 * lock set a bit that is set, which changes nothing: a store will do.
 *
 * Edges:
 *
 *   W1  see core/waitq.h; the inline paths acquire and release the same word
 */
#include "core/wait.h"

#include <sley/sync.h>

static int lock_until(struct sley_mutex *mutex, uint64_t deadline_ns,
		      enum wait_flags flags)
{
	struct sley_waiter node;
	uint64_t word = waitq_lock(&mutex->q);
	int err;

	if (!(word & SLEY_MUTEX_HELD)) {
		waitq_unlock_as(&mutex->q, word | SLEY_MUTEX_HELD);
		return 0;
	}
	/* relaxed: under the list's lock; unlocking publishes it. */
	store_relaxed(&mutex->q.word, word | SLEY_MUTEX_WAITERS | WAITQ_LOCK);
	err = waitq_wait(&mutex->q, &node, deadline_ns, flags);
	if (err) {
		/* relaxed: under the list's lock. */
		word = load_relaxed(&mutex->q.word) & ~WAITQ_LOCK;
		if (!mutex->q.first)
			word &= ~(uint64_t)SLEY_MUTEX_WAITERS;
		waitq_unlock_as(&mutex->q, word); /* W1 */
	}
	return err;
}

void sley_mutex_lock_slow(struct sley_mutex *mutex)
{
	(void)!lock_until(mutex, UINT64_MAX, WAIT_SHIELDED);
}

bool sley_mutex_try_lock_slow(struct sley_mutex *mutex)
{
	uint64_t word = waitq_lock(&mutex->q);

	waitq_unlock_as(&mutex->q, word | SLEY_MUTEX_HELD);
	return !(word & SLEY_MUTEX_HELD);
}

int sley_mutex_lock_until(struct sley_mutex *mutex, uint64_t deadline_ns)
{
	uint64_t word = 0;

	if (cas_acquire(&mutex->q.word, &word, SLEY_MUTEX_HELD)) /* W1 */
		return 0;
	return lock_until(mutex, deadline_ns, 0);
}

void sley_mutex_unlock_slow(struct sley_mutex *mutex)
{
	uint64_t word = waitq_lock(&mutex->q);
	struct waitq_woken woken;

	sley_check(word & SLEY_MUTEX_HELD,
		   "unlock a mutex only while it is held");
	woken = waitq_wake_first(&mutex->q);
	if (!woken.any)
		word = 0;
	else
		word = SLEY_MUTEX_HELD |
		       (mutex->q.first ? SLEY_MUTEX_WAITERS : 0);
	waitq_unlock_as(&mutex->q, word); /* W1 */
	if (woken.task)
		task_enqueue(woken.task);
}
