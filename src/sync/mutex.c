/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the slow paths; the fast paths are inline in <sley/sync.h>.
 *
 *   word:  holder (core/wait/holder.h) | LOANS | WAITERS | lock of the list
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
 * In a program with tasks of several levels a waiter lends its level to the holder
 * (core/wait/loan.h), and says so in the word: the next release takes the loans to the
 * new holder, before the new holder runs.  A waiter that began before the program had
 * such tasks lends nothing.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; the inline paths acquire and release the same word
 */
#include "core/sched/place.h"
#include "core/wait/holder.h"
#include "core/wait/loan.h"
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

/* The caller gives up, and has the list's lock. */
static void leave(struct sley_mutex *mutex)
{
	/* relaxed: under the list's lock. */
	uint64_t word = load_relaxed(&mutex->q.word) & ~WAITQ_LOCK;

	if (!mutex->q.first)
		word = holder_of(word);
	waitq_unlock_as(&mutex->q, word); /* W1 */
}

/* The mutex is held: @word is its word, by its list's lock. */
static inline void announce(struct sley_mutex *mutex, uint64_t word,
			    struct sley_waiter *node, uint64_t self)
{
	/* relaxed: under the list's lock; unlocking publishes it. */
	store_relaxed(&mutex->q.word, word | SLEY_MUTEX_WAITERS | WAITQ_LOCK);
	node->slot = (void *)(uintptr_t)self;
}

/* As lock_until(), where tasks have several levels. */
static noinline int lock_lending(struct sley_mutex *mutex, uint64_t deadline_ns,
				 enum wait_flags flags, const char *function)
{
	struct loan_thing *memory = loan_prepare();
	uint64_t self = holder_current(), word = waitq_lock(&mutex->q);
	struct sley_waiter node;
	struct loan loan;
	int err;

	if (!holder_of(word)) {
		waitq_unlock_as(&mutex->q, word | self);
		loan_free(memory);
		return 0;
	}
	check_wait(function, word, self);
	memory = loan_begin(&loan, mutex, holder_task(holder_of(word)), memory);
	announce(mutex, word | SLEY_MUTEX_LOANS, &node, self);
	/* Not inline: lock_until() has the code of the usual wait for itself. */
	err = waitq_wait_slow(&mutex->q, &mutex->q, &node, deadline_ns, flags);
	loan_free(memory);
	memory = loan_end(&loan);
	if (err)
		leave(mutex);
	loan_free(memory);
	return err;
}

static int lock_until(struct sley_mutex *mutex, uint64_t deadline_ns,
		      enum wait_flags flags, const char *function)
{
	struct sley_waiter node;
	uint64_t self, word;
	int err;

	if (unlikely(place_levels_differ()))
		return lock_lending(mutex, deadline_ns, flags, function);
	self = holder_current();
	word = waitq_lock(&mutex->q);
	if (!holder_of(word)) {
		waitq_unlock_as(&mutex->q, word | self);
		return 0;
	}
	check_wait(function, word, self);
	announce(mutex, word, &node, self);
	err = waitq_wait(&mutex->q, &node, deadline_ns, flags);
	if (err)
		leave(mutex);
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
	uint64_t self = holder_current(), word = waitq_lock(&mutex->q), next;
	struct loan_thing *thing = NULL;
	struct waitq_woken woken;

	check_release(__func__, word, self);
	woken = waitq_wake_first(&mutex->q);
	next = woken.any ? (uint64_t)(uintptr_t)woken.slot : 0;
	if (unlikely(word & SLEY_MUTEX_LOANS))
		thing = loan_pass(mutex, holder_task(self), holder_task(next));
	if (mutex->q.first)
		next |= SLEY_MUTEX_WAITERS | (word & SLEY_MUTEX_LOANS);
	waitq_unlock_as(&mutex->q, next); /* W1 */
	if (woken.task)
		task_enqueue(woken.task);
	if (unlikely(thing))
		loan_free(thing);
}
