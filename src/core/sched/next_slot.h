/* SPDX-License-Identifier: MIT */
/*
 * next_slot.h - the task that a worker runs next: the one that was woken last.
 *
 * One slot.  Who puts a task in gets the one that was there.  Thieves may take
 * what is in it, unless it is the worker's own (NEXT_OWN, in the word): then it is
 * worth more here, where its data is, than elsewhere.  If the worker does not come
 * to take it, next_open() gives it free.
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

/* The worker puts @task in; returns what was there. */
static inline struct sley_task *next_put(struct next *next,
					 struct sley_task *task, uintptr_t own)
{
	uintptr_t word = (uintptr_t)task | own;

	/* Into an empty slot nobody else puts anything. */
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
	/* relaxed: what it takes out, the worker itself has put in. */
	return next_task_of(xchg_relaxed(&next->word, 0));
}

/* For thieves, and who is about to sleep. */
static inline bool next_stealable(const struct next *next)
{
	/* relaxed: a glance; for the parker, os_membarrier() orders it. */
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

/* Whatever is in it may be stolen.  True: there is something. */
static inline bool next_open(struct next *next)
{
	/* relaxed: a guess, checked by the swap. */
	uintptr_t word = load_relaxed(&next->word);

	if (!(word & NEXT_OWN))
		return word;
	/* relaxed: the release of who put it in goes on through it. */
	return cas_relaxed(&next->word, &word, word & ~NEXT_OWN);
}

#endif
