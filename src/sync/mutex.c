/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the slow paths; the fast paths are inline in <sley/sync.h>.
 *
 *   word:  holder (core/wait/holder.h) | WAITERS | lock of the list
 *
 * Only the holder may be put in and taken out without the list's lock, and only
 * while the rest of the word is zero.  So with a waiter in the list, or a caller
 * about to become a waiter, every release comes through unlock_slow.  A release
 * with waiters hands the mutex over: it writes the first waiter, which it wakes,
 * into the word as the new holder.  No other caller can come in between, so no
 * waiter starves.  For this each waiter leaves its number in its node.
 *
 * So the task or thread that has the list's lock is alone with the word.  Others
 * that want that lock set a bit that is set already, which changes nothing: so
 * the owner of the lock can change the word by a store.
 *
 * Callers that the inline paths cannot name (core/wait/holder.h) come here with a
 * mutex that is free, or that they hold alone.  They take the list's lock.  This
 * costs a read-modify-write and a store, no more than a second try without the
 * lock.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; the inline paths acquire and release the same word
 */
#include "core/sched/place.h"
#include "core/wait/holder.h"
#include "core/wait/wait.h"

#include <sley/sync.h>

static uint64_t holder_of(uint64_t word)
{
	return word & SLEY_MUTEX_HOLDER;
}

/* ---- misuse ---------------------------------------------------------------------- */

/* The mutex is held, and the caller @self is going to wait for it. */
static inline void check_wait(const char *function, uint64_t word,
			      uint64_t self)
{
	uint64_t holder = holder_of(word);

	if (unlikely(holder == self))
		holder_misuse(function,
			      "%s already holds this mutex and locks it again: "
			      "it would wait for itself",
			      holder);
#ifndef NDEBUG
	if (unlikely(holder_has_ended(holder)))
		holder_misuse(function,
			      "%s still holds this mutex: a task must unlock "
			      "it before the task ends",
			      holder);
#endif
}

static inline void check_release(const char *function, uint64_t word,
				 uint64_t self)
{
	uint64_t holder = holder_of(word);

	if (unlikely(!holder))
		sley__misuse(function, "the mutex is not held");
	if (unlikely(holder != self))
		holder_misuse(function,
			      "only the holder may unlock a mutex: this one is "
			      "held by %s; if another task must unlock, use a "
			      "semaphore",
			      holder);
}

/* ---- lock ------------------------------------------------------------------------ */

static int lock_until(struct sley_mutex *mutex, uint64_t deadline_ns,
		      enum wait_flags flags, const char *function)
{
	uint64_t self = holder_current(), word = waitq_lock(&mutex->q);
	struct sley_waiter node;
	int err;

	if (!holder_of(word)) {
		waitq_unlock_as(&mutex->q, word | self);
		return 0;
	}
	check_wait(function, word, self);
	/* relaxed: under the list's lock; unlocking publishes it. */
	store_relaxed(&mutex->q.word, word | SLEY_MUTEX_WAITERS | WAITQ_LOCK);
	node.slot = (void *)(uintptr_t)self;
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
	(void)!lock_until(mutex, UINT64_MAX, WAIT_SHIELDED, __func__);
}

int sley_mutex_lock_until(struct sley_mutex *mutex, uint64_t deadline_ns)
{
	return lock_until(mutex, deadline_ns, 0, __func__);
}

bool sley_mutex_try_lock_slow(struct sley_mutex *mutex)
{
	uint64_t self = holder_current(), word = waitq_lock(&mutex->q);

	waitq_unlock_as(&mutex->q, holder_of(word) ? word : word | self);
	return !holder_of(word);
}

/* ---- unlock ---------------------------------------------------------------------- */

void sley_mutex_unlock_slow(struct sley_mutex *mutex)
{
	uint64_t self = holder_current(), word = waitq_lock(&mutex->q);
	struct waitq_woken woken;

	check_release(__func__, word, self);
	woken = waitq_wake_first(&mutex->q);
	word = woken.any ? (uint64_t)(uintptr_t)woken.slot : 0;
	if (mutex->q.first)
		word |= SLEY_MUTEX_WAITERS;
	waitq_unlock_as(&mutex->q, word); /* W1 */
	if (woken.task)
		task_enqueue(woken.task);
}
