/* SPDX-License-Identifier: MIT */
/*
 * wait.c - the waiter's side of core/wait/waitq.h: the functions that are not inline
 * in wait.h.
 */
#include "core/sched/steal.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"

#include "os/clock.h"
#include "os/futex.h"

#include <errno.h>
#include <sley/fork.h>

struct sley_task *wait_thread(struct sley_task *thread)
{
	task_build_running(thread, TASK_THREAD, TASK_NO_BARRIER);
	thread->fiber = NULL;
	return thread;
}

bool wait_is_cancelled(const struct strand *strand)
{
	/* The home may change; the runtime is the same. */
	struct worker *home = strand_home(strand);

	if (task_is_cancelled(strand->task))
		return true;
	/* Not bound code. */
	return strand != &home->base && runtime_is_cancelled(home->rt);
}

/* Is an ancestor of a stolen child cancelled? */
static bool is_cancelled_above(const struct strand *strand)
{
	/* The caller's own task, or a parent, which outlives its child. */
	struct sley_task *task = strand_task(strand);

	while (task_flags(task) & TASK_FORKED) {
		strand = task_forked(task)->parent;
		task = strand_task(strand);
		if (task_flags_acquire(task) & TASK_FOR_GOOD)
			return true;
	}
	return false;
}

bool wait_ends_for_good(const struct strand *strand)
{
	/* The caller knows that the task stays on @strand. */
	struct sley_task *task = strand_task(strand);

	return (task_flags_acquire(task) & TASK_FOR_GOOD) ||
	       is_cancelled_above(strand);
}

/* Without a monitor no other thread looks at the deadlines of scopes. */
static bool is_late(struct worker *worker)
{
	uint64_t now_ns;

	if (worker->rt->nr_workers ||
	    timers_next(&worker->timers) == UINT64_MAX)
		return false;
	now_ns = os_now();
	if (timers_next(&worker->timers) > now_ns)
		return false;
	timers_fire(&worker->timers, now_ns);
	return wait_is_cancelled(worker->strand);
}

bool wait_told_to_end(void)
{
	struct worker *worker = worker_current();
	struct strand *strand = strand_current();

	return strand &&
	       (wait_is_cancelled(strand) || is_cancelled_above(strand) ||
		(worker && is_late(worker)));
}

/* A deadline that is far away by the coarse clock needs no look at the exact one. */
#define FAR_NS 100000000u

/*
 * Has @deadline_ns passed?  Were the coarse clock late by FAR_NS, a wait would begin
 * that the next look at the timers ends.
 */
static bool has_passed(uint64_t deadline_ns)
{
	return deadline_ns != UINT64_MAX &&
	       deadline_ns <= os_now_coarse() + FAR_NS &&
	       deadline_ns <= os_now();
}

int wait_refused_slow(uint64_t deadline_ns, enum wait_flags flags)
{
	struct worker *worker = worker_current();

	if (!(flags & WAIT_SHIELDED) && worker &&
	    wait_is_cancelled(worker->strand))
		return -ECANCELED;
	return has_passed(deadline_ns) ? -ETIMEDOUT : 0;
}

/* ---- tasks ------------------------------------------------------------------ */

static noinline uint32_t leave_until(struct worker *worker,
				     struct sley_waitq *q,
				     enum wait_flags flags,
				     uint64_t deadline_ns)
{
	struct sley_task *task = worker->strand->task;
	struct timer timer;
	uint32_t state;

	task_announce_wait(task);
	(void)timer_start(&worker->timers, &timer, task, deadline_ns);
	state = wait_leave_as(worker, q, flags, AFTER_WAIT_UNTIL);
	(void)timer_stop(&timer);
	return state;
}

/* ---- plain threads ------------------------------------------------------------ */

/* The deadline has passed.  If another thread has decided, wait for the release. */
static void thread_time_out(struct sley_task *task)
{
	if (task_decide(task, VERDICT_TIMED_OUT, 0) == DECIDED_QUEUE)
		task_release_thread(task);
}

static noinline uint32_t sleep_until(struct sley_task *task,
				     struct sley_waitq *q,
				     enum wait_flags flags,
				     uint64_t deadline_ns)
{
	bool blocked = task_park(task, TASK_SHIELDED);

	waitq_unlock_for(q, flags);
	while (blocked && !task_thread_released(task)) {
		uint32_t state = task_load(task);

		if (task_state_of(state) != TASK_BLOCKED)
			continue;
		if (os_futex_wait(&task->state, state, deadline_ns)) {
			thread_time_out(task);
			deadline_ns = UINT64_MAX;
		}
	}
	return task_load(task);
}

/* ---- both ----------------------------------------------------------------------- */

static inline uint32_t wait_for_verdict(struct sley_task *task,
					struct sley_waitq *q,
					enum wait_flags flags,
					uint64_t deadline_ns)
{
	struct worker *worker = worker_current();

	if (unlikely(!worker))
		return sleep_until(task, q, flags, deadline_ns);
	if (deadline_ns == UINT64_MAX)
		return wait_leave(worker, q, flags);
	return leave_until(worker, q, flags, deadline_ns);
}

int waitq_wait_slow(struct sley_waitq *lock, struct sley_waitq *list,
		    struct sley_waiter *node, uint64_t deadline_ns,
		    enum wait_flags flags)
{
	struct sley_task thread;
	int result = wait_refused_slow(deadline_ns, flags);

	if (result)
		return result;
	node->task = wait_task(&thread);
	node->index = 0;
	waitq_link(list, node);
	result = wait_result(
		wait_for_verdict(node->task, lock, flags, deadline_ns));
	return result >= 0 ? result : waitq_give_up(lock, node, result);
}

int waitq_give_up(struct sley_waitq *lock, struct sley_waiter *node, int result)
{
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

uint32_t wait_announced_slow(struct sley_task *task, uint64_t deadline_ns)
{
	return wait_for_verdict(task, NULL, 0, deadline_ns);
}

int waitq_wait_any(struct sley_waiter *node, unsigned int nr,
		   uint64_t deadline_ns)
{
	int result = wait_result(wait_announced(node[0].task, deadline_ns));

	/* Also waits for a notifier that still holds the lock of a queue. */
	waitq_unlink_any(node, nr);
	return result;
}

int wait_until(uint64_t deadline_ns)
{
	struct sley_task thread, *task = wait_task(&thread);
	int result = wait_refused_slow(deadline_ns, 0);

	if (!result)
		result = wait_result(
			wait_for_verdict(task, NULL, 0, deadline_ns));
	return result == -ETIMEDOUT ? 0 : result;
}
