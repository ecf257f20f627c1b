/* SPDX-License-Identifier: MIT */
/*
 * cond.c - a list of waiters, and nothing else.
 *
 * A waiter is on the list before it lets the mutex go, so no notification is
 * lost.  A notification unlinks the waiter that it wakes: two notifications wake
 * two waiters.  Taking the mutex again cannot be cancelled: the caller relies on
 * holding the mutex.  The wait without a deadline cannot be cancelled, either,
 * since it stands in a loop: see ADR 6.
 */
#include "core/sched/place.h"
#include "core/wait/wait.h"

#include <sley/sync.h>

static int cond_until(struct sley_cond *cond, struct sley_mutex *mutex,
		      uint64_t deadline_ns, enum wait_flags flags)
{
	struct sley_waiter node;
	int err;

	(void)waitq_lock(&cond->q);
	/* A notifier that takes the mutex now waits for the lock of the list. */
	sley_mutex_unlock(mutex);
	err = waitq_wait(&cond->q, &node, deadline_ns, flags);
	if (err)
		waitq_unlock(&cond->q);
	sley_mutex_lock(mutex);
	return err;
}

int sley_cond_wait_until(struct sley_cond *cond, struct sley_mutex *mutex,
			 uint64_t deadline_ns)
{
	return cond_until(cond, mutex, deadline_ns, 0);
}

void sley_cond_wait(struct sley_cond *cond, struct sley_mutex *mutex)
{
	(void)!cond_until(cond, mutex, UINT64_MAX, WAIT_SHIELDED);
}

void sley_cond_notify_one(struct sley_cond *cond)
{
	struct waitq_woken woken;

	(void)waitq_lock(&cond->q);
	woken = waitq_wake_first(&cond->q);
	waitq_unlock_as(&cond->q, 0);
	if (woken.task)
		task_enqueue(woken.task);
}

void sley_cond_notify_all(struct sley_cond *cond)
{
	struct sley_task *chain;

	(void)waitq_lock(&cond->q);
	chain = waitq_wake_all(&cond->q);
	waitq_unlock_as(&cond->q, 0);
	task_enqueue_chain(chain);
}
