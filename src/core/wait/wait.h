/* SPDX-License-Identifier: MIT */
/*
 * wait.h - the waiter's side of core/wait/waitq.h.
 *
 * A task parks after the switch and takes its verdict from the state it was
 * claimed with.  A thread parks by itself, sleeps on its state, and decides its
 * own timeout; if the thread comes too late for that, another decider was faster
 * and will release the thread in a moment.
 *
 * The wait of a task without a deadline is inline; see switch.h for the reason.
 */
#ifndef SLEY_CORE_WAIT_WAIT_H
#define SLEY_CORE_WAIT_WAIT_H

#include "core/sched/suspend.h"
#include "core/wait/waitq.h"
#include "core/sched/worker.h"

#include <errno.h>

/* Not below 0: woken, the index given by the waker. */
static inline int wait_result(uint32_t state)
{
	if (likely(task_verdict_of(state) == VERDICT_WOKEN))
		return (int)task_index_of(state);
	return task_verdict_of(state) == VERDICT_TIMED_OUT ? -ETIMEDOUT
							   : -ECANCELED;
}

/* Leave the stack; @q, if there is one, is unlocked on the other side. */
static inline __attribute__((always_inline)) uint32_t
wait_leave_as(struct worker *worker, struct sley_waitq *q,
	      enum wait_flags flags, enum after_kind kind)
{
	struct strand *strand = worker->strand;

	worker->after.q = q;
	worker->after.flags = flags;
	strand_suspend(worker, kind);
	return strand->claimed;
}

static inline __attribute__((always_inline)) uint32_t
wait_leave(struct worker *worker, struct sley_waitq *q, enum wait_flags flags)
{
	return wait_leave_as(worker, q, flags, AFTER_WAIT);
}

/*
 * Wait until @inbox holds more than @seen, which may be NULL.  True: the task
 * waited, and @seen is out; false: something came, and @seen is still there.
 */
static inline __attribute__((always_inline)) bool
wait_inbox(struct worker *worker, struct inbox *inbox, struct push_node *seen)
{
	struct strand *strand = worker->strand;

	worker->after.inbox = inbox;
	worker->after.seen = seen;
	strand_suspend(worker, AFTER_INBOX);
	return !(strand->claimed & TASK_EARLY);
}

/* The same as waitq_wait_in(), for plain threads and with deadlines. */
must_check int waitq_wait_slow(struct sley_waitq *lock, struct sley_waitq *list,
			       struct sley_waiter *node, uint64_t deadline_ns,
			       enum wait_flags flags);

/* The wait was lost: lock, and take @node out.  Returns @result. */
int waitq_give_up(struct sley_waitq *lock, struct sley_waiter *node,
		  int result);

/*
 * Wait in @list, an object that @lock locks and the caller has locked, until
 * woken.  Not below 0: woken, the index given by the waker, @lock is not
 * locked.  -ETIMEDOUT, -ECANCELED: @lock is locked again, and @node is out.
 */
static inline __attribute__((always_inline)) must_check int
waitq_wait_in(struct sley_waitq *lock, struct sley_waitq *list,
	      struct sley_waiter *node, uint64_t deadline_ns,
	      enum wait_flags flags)
{
	struct worker *worker = worker_current();
	int result;

	if (unlikely(!worker || deadline_ns != UINT64_MAX))
		return waitq_wait_slow(lock, list, node, deadline_ns, flags);
	node->task = worker->strand->task;
	node->index = 0;
	waitq_link(list, node);
	result = wait_result(wait_leave(worker, lock, flags));
	if (likely(result >= 0))
		return result;
	return waitq_give_up(lock, node, result);
}

/* The usual case: the lock of @q is that of its own list. */
static inline must_check int waitq_wait(struct sley_waitq *q,
					struct sley_waiter *node,
					uint64_t deadline_ns,
					enum wait_flags flags)
{
	return waitq_wait_in(q, q, node, deadline_ns, flags);
}

/* The same as wait_announced(), for plain threads and with deadlines. */
uint32_t wait_announced_slow(struct sley_task *task, uint64_t deadline_ns);

/*
 * Wait, after task_announce_wait() and with nothing locked, until a decider
 * decides.  Returns the state for wait_result(); with TASK_EARLY in it the
 * decider may still be inside the object where it found the task.
 */
static inline __attribute__((always_inline)) uint32_t
wait_announced(struct sley_task *task, uint64_t deadline_ns)
{
	struct worker *worker = worker_current();

	if (unlikely(!worker || deadline_ns != UINT64_MAX))
		return wait_announced_slow(task, deadline_ns);
	return wait_leave(worker, NULL, 0);
}

/*
 * Wait for any of @nr nodes, of one task from wait_task(), that are linked in
 * queues that are not locked, after task_announce_wait().  Returns the index of
 * the node that was woken, -ETIMEDOUT or -ECANCELED.  In every case no node is
 * linked afterwards.
 */
must_check int waitq_wait_any(struct sley_waiter *node, unsigned int nr,
			      uint64_t deadline_ns);

/* Take @nr nodes out of their queues, where they are still linked. */
void waitq_unlink_any(struct sley_waiter *node, unsigned int nr);

/* Wait for the deadline alone: 0 or -ECANCELED. */
int wait_until(uint64_t deadline_ns);

/* A plain thread waits as @thread, which is built as a task. */
struct sley_task *wait_thread(struct sley_task *thread);

/* The task that waits on behalf of the caller: the caller's own, or @thread. */
static inline struct sley_task *wait_task(struct sley_task *thread)
{
	struct worker *worker = worker_current();

	return likely(worker) ? worker->strand->task : wait_thread(thread);
}

/* Is the task on @strand cancelled?  Bound code is cancelled by its scopes only. */
bool wait_is_cancelled(const struct strand *strand);

/*
 * Is the task on @strand, which cannot end now, cancelled by more than a scope
 * that it will close?  A stolen child is if its parent is.
 */
bool wait_ends_for_good(const struct strand *strand);

/*
 * Is the calling task cancelled, or the task that the thread serves
 * (core/wait/blocking.h)?  A stolen child is told by the cancel of its parent,
 * too.  False for other threads.  Looks at deadlines if no other thread does.
 */
bool wait_told_to_end(void);

/* Not worth waiting: -ECANCELED or -ETIMEDOUT; else 0. */
int wait_refused_slow(uint64_t deadline_ns, enum wait_flags flags);

/* Without a deadline, the parker looks whether the task is cancelled. */
static inline int wait_refused(uint64_t deadline_ns)
{
	return likely(deadline_ns == UINT64_MAX)
		       ? 0
		       : wait_refused_slow(deadline_ns, 0);
}

#endif
