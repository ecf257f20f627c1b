/* SPDX-License-Identifier: MIT */
/*
 * wait.c - the waiter's side of core/waitq.h, for tasks and plain threads.
 *
 * A task parks after the switch and takes its verdict from the word it was
 * claimed with.  A thread parks by itself, sleeps on the word, and decides its
 * own timeout; if it comes too late for that, somebody has decided for it and
 * will release it in a moment.
 */
#include "core/fork.h"
#include "core/waitq.h"
#include "core/worker.h"

#include "os/clock.h"
#include "os/futex.h"

#include <errno.h>

struct sley_task *wait_task(struct sley_task *thread)
{
	struct worker *worker = worker_current();

	if (likely(worker))
		return worker->strand->task;
	task_build_running(thread, TASK_THREAD);
	return thread;
}

bool wait_cancelled(void)
{
	struct worker *worker = worker_current();

	if (!worker)
		return false;
	/* relaxed: cancelling everything orders nothing. */
	return (task_observe(worker->strand->task) & TASK_CANCELLED) ||
	       load_relaxed(&worker->rt->cancelled);
}

static int verdict_result(uint64_t word)
{
	switch (task_verdict_of(word)) {
	case VERDICT_WOKEN:
		return (int)task_index_of(word);
	case VERDICT_TIMED_OUT:
		return -ETIMEDOUT;
	case VERDICT_CANCELLED:
		return -ECANCELED;
	case VERDICT_NONE:
		break;
	}
	sley_fatal("a wait ended without a verdict");
}

/* ---- tasks ------------------------------------------------------------------ */

/* Leave the stack; @q, if there is one, is unlocked on the other side. */
static uint64_t task_wait(struct sley_task *task, struct sley_waitq *q,
			  uint64_t deadline_ns, enum wait_flags flags)
{
	struct worker *worker = worker_current();
	struct strand *strand = worker->strand;
	struct timer timer;

	task->fiber = strand;
	fork_leave_behind(worker);
	if (deadline_ns != UINT64_MAX) {
		task_announce_wait(task);
		timer_start(&worker->timers, &timer, task, deadline_ns);
	}
	worker->after.kind = AFTER_WAIT;
	worker->after.q = q;
	worker->after.flags = flags;
	(void)worker_leave(worker);
	if (unlikely(strand->parents_home))
		fork_come_back(strand);
	if (deadline_ns != UINT64_MAX)
		timer_stop(&timer);
	return strand->claimed;
}

/* ---- plain threads ------------------------------------------------------------ */

/* The deadline has passed.  Somebody else may have decided; then wait for it. */
static void thread_time_out(struct sley_task *task)
{
	if (task_decide(task, VERDICT_TIMED_OUT, 0) == DECIDED_QUEUE)
		task_release_thread(task);
}

static uint64_t thread_wait(struct sley_task *task, struct sley_waitq *q,
			    uint64_t deadline_ns, enum wait_flags flags)
{
	bool blocked = task_park(task, TASK_SHIELDED);

	waitq_unlock_for(q, flags);
	while (blocked && !task_thread_released(task)) {
		uint32_t word = (uint32_t)task_load(task);

		if (task_state_of(word) != TASK_BLOCKED)
			continue;
		if (os_futex_wait(task_futex(task), word, deadline_ns)) {
			thread_time_out(task);
			deadline_ns = UINT64_MAX;
		}
	}
	return task_observe(task);
}

/* ---- both ----------------------------------------------------------------------- */

static uint64_t wait_for_verdict(struct sley_task *task, struct sley_waitq *q,
				 uint64_t deadline_ns, enum wait_flags flags)
{
	if (unlikely(task_load(task) & TASK_THREAD))
		return thread_wait(task, q, deadline_ns, flags);
	return task_wait(task, q, deadline_ns, flags);
}

bool wait_has_passed(uint64_t deadline_ns)
{
	return deadline_ns != UINT64_MAX && deadline_ns <= os_now();
}

int waitq_wait_in(struct sley_waitq *lock, struct sley_waitq *list,
		  struct sley_waiter *node, uint64_t deadline_ns,
		  enum wait_flags flags)
{
	struct sley_task thread;
	int result;

	if (!(flags & WAIT_SHIELDED) && wait_cancelled())
		return -ECANCELED;
	if (wait_has_passed(deadline_ns))
		return -ETIMEDOUT;
	node->task = wait_task(&thread);
	node->index = 0;
	waitq_link(list, node);
	result = verdict_result(
		wait_for_verdict(node->task, lock, deadline_ns, flags));
	if (likely(result >= 0))
		return result;
	(void)waitq_lock(lock);
	if (node->linked)
		waitq_unlink(node);
	return result;
}

void waitq_unlink_any(struct sley_waiter *node, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		(void)waitq_lock(node[i].q);
		if (node[i].linked)
			waitq_unlink(&node[i]);
		waitq_unlock(node[i].q);
	}
}

int waitq_wait_any(struct sley_waiter *node, unsigned int nr,
		   uint64_t deadline_ns)
{
	int result = verdict_result(
		wait_for_verdict(node[0].task, NULL, deadline_ns, 0));

	/* Also waits for a notifier that still holds the lock of one. */
	waitq_unlink_any(node, nr);
	return result;
}

int wait_until(uint64_t deadline_ns)
{
	struct sley_task thread, *task = wait_task(&thread);
	int result;

	if (wait_cancelled())
		return -ECANCELED;
	if (wait_has_passed(deadline_ns))
		return 0;
	result = verdict_result(wait_for_verdict(task, NULL, deadline_ns, 0));
	return result == -ETIMEDOUT ? 0 : result;
}
