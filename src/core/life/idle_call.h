/* SPDX-License-Identifier: MIT */
/*
 * idle_call.h - functions of folders above core that a worker calls before it parks.
 *
 * As the idle hook of the user (core/life/hooks.h), and at the same moment, but there
 * may be several of them, and they come and go while the workers run.  A call is
 * memory of its owner.  A runtime without calls costs a worker that is about to park
 * one load.
 *
 *   worker                               remover
 *   1. lock; counts itself inside the    1. lock; says LEAVING; unlock
 *      call, unless LEAVING; unlock      2. waits until nobody is inside
 *   2. the function                      3. lock; takes the call out of the list;
 *   3. lock; leaves the call; goes on       unlock
 *      with the next in the list
 *
 * A call stays in the list until nobody is inside, so step 3 of a worker finds the
 * next one.  A worker that comes after the remover's step 1 passes the call by: the
 * remover waits for one function of each worker at most.  The lock orders everything
 * but the glance at the number of calls, which may be outdated: a call that was added
 * a moment ago is made the next time.
 *
 * Rejected: a fixed table, as sources have it (a program may have many routers, most of
 * them without a function); the lock held during the function (other workers that are
 * about to sleep would wait for it).
 */
#ifndef SLEY_CORE_LIFE_IDLE_CALL_H
#define SLEY_CORE_LIFE_IDLE_CALL_H

#include "base/list.h"
#include "core/sched/self.h"
#include "lf/spin.h"

struct worker;

struct idle_call {
	struct list link; /* (lock of the calls)                             */
	/* True: the worker shall look for work once more. */
	bool (*fn)(struct idle_call *call, struct worker *worker);
	uint32_t nr_inside; /* workers (lock of the calls)                   */
	bool leaving;       /* (lock of the calls)                           */
};

/* Of a runtime. */
struct idle_calls {
	struct spinlock lock;
	uint32_t nr; /* (lock); a hint without                               */
	struct list list;
};

static inline void idle_calls_init(struct idle_calls *calls)
{
	*calls = (struct idle_calls){ .nr = 0 };
	list_init(&calls->list);
}

static inline bool idle_calls_exist(const struct idle_calls *calls)
{
	/* relaxed: a glance; the lock comes later. */
	return load_relaxed(&calls->nr);
}

/* @call->fn is set. */
static inline void idle_call_add(struct idle_calls *calls,
				 struct idle_call *call)
{
	list_init(&call->link);
	spin_lock(&calls->lock);
	list_append(&calls->list, &call->link);
	/* relaxed: the lock; without it a hint. */
	store_relaxed(&calls->nr, calls->nr + 1);
	spin_unlock(&calls->lock);
}

static inline bool idle_call_is_used(const void *nr_inside)
{
	/* relaxed: the lock orders what was done inside. */
	return load_relaxed((const uint32_t *)nr_inside);
}

/* When it returns, no worker is in the function, and none will be. */
static inline void idle_call_remove(struct idle_calls *calls,
				    struct idle_call *call)
{
	uint32_t nr_looks = 0;

	spin_lock(&calls->lock);
	call->leaving = true;
	spin_unlock(&calls->lock);
	/* The number only falls; the lock below orders what the workers did. */
	while (idle_call_is_used(&call->nr_inside)) {
		spin_hint(&call->nr_inside);
		spin_wait(&call->nr_inside, idle_call_is_used, nr_looks++);
	}
	spin_lock(&calls->lock);
	list_remove(&call->link);
	/* relaxed: the lock; without it a hint. */
	store_relaxed(&calls->nr, calls->nr - 1);
	spin_unlock(&calls->lock);
}

/* With the lock, which is not held during the function. */
static inline bool idle_call_make(struct idle_calls *calls,
				  struct idle_call *call, struct worker *worker)
{
	bool again;

	/* relaxed: the lock. */
	store_relaxed(&call->nr_inside, call->nr_inside + 1);
	spin_unlock(&calls->lock);
	/* As for an alarm: there is no task that could wait. */
	sley__self.ringing = true;
	again = call->fn(call, worker);
	sley__self.ringing = false;
	spin_lock(&calls->lock);
	/* relaxed: the lock. */
	store_relaxed(&call->nr_inside, call->nr_inside - 1);
	spin_done(&call->nr_inside);
	return again;
}

/* On @worker, which has found no work.  True: look again before parking. */
static inline bool idle_calls_make(struct idle_calls *calls,
				   struct worker *worker)
{
	bool again = false;

	spin_lock(&calls->lock);
	for (struct list *link = calls->list.next; link != &calls->list;
	     link = link->next) {
		struct idle_call *call =
			container_of(link, struct idle_call, link);

		if (!call->leaving)
			again |= idle_call_make(calls, call, worker);
	}
	spin_unlock(&calls->lock);
	return again;
}

#endif
