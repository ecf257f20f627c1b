/* SPDX-License-Identifier: MIT */
/*
 * next_slot.h - the task that a worker runs next: the task that was woken last.
 *
 * One slot.  The worker that puts a task in gets the task that was there.  Thieves
 * may take the task, unless it is the worker's own (NEXT_OWN, in the word): then
 * the task is worth more here, where its data is, than elsewhere.  If the worker
 * does not come to take its own task, next_open() lets thieves take it.
 *
 * Edges:
 *
 *   N1  the worker exchanges the slot -> a thief takes out of it : the task
 */
#ifndef SLEY_CORE_SCHED_NEXT_SLOT_H
#define SLEY_CORE_SCHED_NEXT_SLOT_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <sley/task.h>
#include <stdbool.h>
#include <stdint.h>

#define NEXT_OWN ((uintptr_t)1)

struct next {
	uintptr_t word; /* a task, NEXT_OWN; 0: empty */
};

static inline struct sley_task *next_task_of(uintptr_t word)
{
	return (struct sley_task *)(word & ~NEXT_OWN);
}

static inline bool next_empty(const struct next *next)
{
	/* relaxed: a glance; the exchange decides. */
	return !load_relaxed(&next->word);
}

/* The worker puts @task in; returns the task that was there. */
static inline struct sley_task *next_put(struct next *next,
					 struct sley_task *task, uintptr_t own)
{
	uintptr_t word = (uintptr_t)task | own;

	/* No other thread puts anything into an empty slot. */
	if (likely(next_empty(next))) {
		store_release(&next->word, word); /* N1 */
		return NULL;
	}
	return next_task_of(xchg_release(&next->word, word)); /* N1 */
}

/* By the worker. */
static inline struct sley_task *next_take(struct next *next)
{
	if (next_empty(next))
		return NULL;
	/* relaxed: the worker itself has put the task in. */
	return next_task_of(xchg_relaxed(&next->word, 0));
}

/* For thieves, and for a worker that is about to sleep. */
static inline bool next_stealable(const struct next *next)
{
	/* relaxed: a glance; for the parker, os_membarrier() orders the load. */
	uintptr_t word = load_relaxed(&next->word);

	return word && !(word & NEXT_OWN);
}

static inline struct sley_task *next_steal(struct next *next)
{
	/* relaxed: a guess, checked by the swap. */
	uintptr_t word = load_relaxed(&next->word);

	if (!word || (word & NEXT_OWN) ||
	    !cas_acquire(&next->word, &word, 0)) /* N1 */
		return NULL;
	return next_task_of(word);
}

/* The task in the slot may be stolen from now on.  True: there is a task. */
static inline bool next_open(struct next *next)
{
	/* relaxed: a guess, checked by the swap. */
	uintptr_t word = load_relaxed(&next->word);

	if (!(word & NEXT_OWN))
		return word;
	/* relaxed: the release of the put goes on through this swap. */
	return cas_relaxed(&next->word, &word, word & ~NEXT_OWN);
}

#endif
