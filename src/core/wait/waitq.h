/* SPDX-License-Identifier: MIT */
/*
 * waitq.h - the list of waiters of one object, and how a wait goes.
 *
 * A waiter is a node on the stack of the waiting task or thread, linked in the
 * queue of the object under the lock bit of the queue's word.  First come, first
 * served.
 *
 *   waiter                              notifier
 *   lock q, look at the object          lock q, change the object
 *   link the node                       unlink the first node, read what it
 *   (fiber) switch stacks               needs of it, decide its task: lost, if
 *   park the task, unlock q             the deadline or a cancel was faster:
 *   ... queued, resumed ...             try the next node
 *   lost: lock q, unlink the node       unlock q, queue the task
 *
 * The lock is held until the waiter has left its stack and is BLOCKED, so a
 * notifier never meets a half-parked waiter.  The notifier queues the task
 * only after it has released the lock.  So the waiter, which may own the memory
 * of the object, returns when no notifier touches the object any more.  A waiter
 * that lost takes the lock to unlink its node, and so waits for any notifier
 * that is still inside.
 *
 * Edges:
 *
 *   W1  unlock -> lock : the list, and the object under it
 */
#ifndef SLEY_CORE_WAIT_WAITQ_H
#define SLEY_CORE_WAIT_WAITQ_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/fault_lock.h"
#include "core/task/task_state.h"
#include "lf/spin.h"

#include <sley/waitq.h>

#define WAITQ_LOCK 1ull
#ifndef WAITQ_TRIES   /* of a model: fewer            */
#define WAITQ_TRIES 6 /* some 20 to 40 us; then sleep */
#endif

struct sley_waiter {
	struct sley_waiter *next, *prev; /* a ring; under the lock        */
	struct sley_waitq *q;
	struct sley_task *task;
	void *slot;         /* of the object: where a value goes          */
	unsigned int index; /* which of several nodes of one wait it is   */
	bool linked;        /* under the lock                             */
};

static inline bool waitq_is_locked(const void *word)
{
	/* relaxed: waiting for a chance, not for data. */
	return load_relaxed((const uint64_t *)word) & WAITQ_LOCK;
}

/*
 * The lock is held.  Stay away from its line for a while, longer each time: the
 * holder gets several operations done on the line it has, where two threads that
 * insist would pass the line to and fro for each operation.  In the end sleep:
 * see lf/spin.h.
 */
static noinline void waitq_stay_away(struct sley_waitq *q, unsigned int tries)
{
	unsigned int nr_pauses = 4u << (tries < 3 ? 2 * tries : 6);

	if (tries >= WAITQ_TRIES) {
		spin_sleep(&q->word, waitq_is_locked, tries - WAITQ_TRIES);
		nr_pauses = 0;
	}
	while (nr_pauses--)
		spin_pause();
	if (waitq_is_locked(&q->word))
		spin_hint(&q->word);
}

/* Returns the word without the lock bit. */
static inline uint64_t waitq_lock(struct sley_waitq *q)
{
	for (unsigned int tries = 0;; tries++) {
		uint64_t word = or_acquire(&q->word, WAITQ_LOCK); /* W1 */

		if (likely(!(word & WAITQ_LOCK)))
			return word;
		waitq_stay_away(q, tries);
	}
}

/* For objects that use no other bit: an exchange needs no look before it. */
static inline void waitq_lock_alone(struct sley_waitq *q)
{
	for (unsigned int tries = 0;; tries++) {
		if (likely(!xchg_acquire(&q->word, WAITQ_LOCK))) /* W1 */
			return;
		waitq_stay_away(q, tries);
	}
}

#ifdef SLEY_FAULT_LOCKS
#define waitq_lock(q) fault_lock_value((waitq_lock)(q))
#define waitq_lock_alone(q) fault_lock((waitq_lock_alone)(q))
#endif

/* For callers that unlock several, and look for sleepers afterwards. */
static inline void waitq_unlock_quietly(struct sley_waitq *q, uint64_t word)
{
	store_release(&q->word, word); /* W1 */
}

/* For objects whose other bits change under the lock only: a plain store. */
static inline void waitq_unlock_as(struct sley_waitq *q, uint64_t word)
{
	waitq_unlock_quietly(q, word);
	spin_done(&q->word);
}

static inline void waitq_unlock(struct sley_waitq *q)
{
	/* relaxed: under the lock. */
	waitq_unlock_as(q, load_relaxed(&q->word) & ~WAITQ_LOCK);
}

/* For objects whose other bits change without the lock, too. */
static inline void waitq_unlock_counted(struct sley_waitq *q)
{
	(void)and_release(&q->word, ~WAITQ_LOCK); /* W1 */
	spin_done(&q->word);
}

/* Under the lock. */
static inline void waitq_link(struct sley_waitq *q, struct sley_waiter *node)
{
	struct sley_waiter *first = q->first;

	node->q = q;
	node->linked = true;
	if (!first) {
		node->next = node;
		node->prev = node;
		q->first = node;
		return;
	}
	node->next = first;
	node->prev = first->prev;
	first->prev->next = node;
	first->prev = node;
}

/* Under the lock; the node must be linked. */
static inline void waitq_unlink(struct sley_waiter *node)
{
	struct sley_waitq *q = node->q;

	node->linked = false;
	if (node->next == node) {
		q->first = NULL;
		return;
	}
	node->prev->next = node->next;
	node->next->prev = node->prev;
	if (q->first == node)
		q->first = node->next;
}

/*
 * The waiter that was woken.  The task is to be queued once the lock is released;
 * there is no task to queue if the waiter waits for several objects and has not
 * left its stack yet.
 */
struct waitq_woken {
	struct sley_task *task; /* hand it to task_enqueue(); may be NULL */
	void *slot;             /* of the node                            */
	bool any;               /* a waiter was woken                     */
};

/*
 * Under the lock: unlink @node and decide its task as WOKEN, if that is not late.
 */
static inline struct waitq_woken waitq_wake_node(struct sley_waiter *node)
{
	struct sley_task *task = node->task;
	unsigned int index = node->index;
	void *slot = node->slot;
	enum task_decision decision;

	waitq_unlink(node);
	decision = task_decide(task, VERDICT_WOKEN, index);
	if (likely(decision == DECIDED_QUEUE))
		return (struct waitq_woken){ task, slot, true };
	return (struct waitq_woken){ NULL, slot, decision == DECIDED_EARLY };
}

/* Under the lock: unlink waiters until a task could be decided as WOKEN. */
static inline struct waitq_woken waitq_wake_first(struct sley_waitq *q)
{
	struct waitq_woken woken = { NULL, NULL, false };

	while (q->first && !woken.any)
		woken = waitq_wake_node(q->first);
	return woken;
}

/* Under the lock: wake all; returns a chain for task_enqueue_chain(). */
static inline struct sley_task *waitq_wake_all(struct sley_waitq *q)
{
	struct sley_task *chain = NULL, **last = &chain;
	struct waitq_woken woken;

	while ((woken = waitq_wake_first(q)).any) {
		if (!woken.task)
			continue;
		woken.task->next = NULL;
		*last = woken.task;
		last = &woken.task->next;
	}
	return chain;
}

/* Under the lock: the index for all tasks that wait now, if they are woken. */
static inline void waitq_mark_all(struct sley_waitq *q, unsigned int index)
{
	struct sley_waiter *node = q->first;

	if (!node)
		return;
	do {
		node->index = index;
		node = node->next;
	} while (node != q->first);
}

/* ---- the waiter's side: wait.h -------------------------------------------- */

enum wait_flags {
	WAIT_SHIELDED = 1, /* a cancel does not end this wait             */
	WAIT_COUNTED = 2,  /* unlock with waitq_unlock_counted()          */
};

/* How the waiter unlocks after it has left its stack. */
static inline void waitq_unlock_for(struct sley_waitq *q, enum wait_flags flags)
{
	if (!q)
		return;
	if (flags & WAIT_COUNTED)
		waitq_unlock_counted(q);
	else
		waitq_unlock(q);
}

#endif
