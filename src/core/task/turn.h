/* SPDX-License-Identifier: MIT */
/*
 * turn.h - tasks that run in turns, without a stack in between.
 *
 * A task with TASK_TURNS is queued, claimed and run as every other task.  But its
 * function, which gets the task itself, returns at the end of a turn, not of the
 * task's life.  As the last step of the turn the worker calls after(), which decides
 * what becomes of the task: after() parks the task (task_turn_park), queues the task
 * again (turn_again), or ends the task.  turn_wake() queues a parked task.  If
 * another task is due at once, and worker_may_keep() allows it, after() returns that
 * other task, which is READY and in no queue.  after() may also return a task that
 * it got from worker_pick().
 *
 * core/task/task_state.h has the transitions: task_turn_park(), task_turn_ready(),
 * task_turn_end().
 *
 * Where bound threads run the tasks, a task with turns has TASK_PINNED and stays with
 * the thread that spawned the task.
 *
 * No other thread decides the state: a cancel or a deadline reaches the task only
 * through its waker.  A task with a stack can wait in the same way, for its inbox
 * (AFTER_INBOX): the task parks after the switch, on the next stack.  Between the
 * claim and the end of the turn the task may wait as every other task; then the task
 * has a strand, until that wait is over.
 *
 * A woken task goes to the next slot of the waker's worker, as the worker's own
 * (NEXT_OWN): the data of the task is in that worker's cache, and no sleeper is woken
 * for a single task.  Thieves leave the slot alone; if another task holds the worker
 * for long, the monitor lets thieves take the task.
 *
 * There are no edges here: the waker was told, by B2 of lf/inbox.h, that the task is
 * parked.
 */
#ifndef SLEY_CORE_TASK_TURN_H
#define SLEY_CORE_TASK_TURN_H

#include "core/sched/worker.h"

/* In place of a task's group. */
struct turns {
	/* Returns the next task to run, or NULL. */
	struct sley_task *(*after)(struct worker *worker,
				   struct sley_task *task);
	/* Lets a task look up that waits for its inbox, where no cancel comes. */
	void (*poke)(struct sley_task *task);
};

static inline const struct turns *turns_of(const struct sley_task *task)
{
	sley_assert(task_flags(task) & TASK_TURNS);
	return (const struct turns *)(const void *)task->group;
}

/* Has @task the default level, and may @task run anywhere? */
static inline bool turn_is_usual(const struct sley_task *task)
{
	uint32_t rules = task_flags(task) & (TASK_LEVEL_MASK | TASK_PINNED);

	return rules == LEVEL_DEFAULT << TASK_LEVEL_SHIFT;
}

/* May after() return @task, which no other thread has?  Else it has to be queued. */
static inline bool turn_may_keep(struct worker *worker,
				 const struct sley_task *task)
{
	return turn_is_usual(task) && worker_may_keep(worker);
}

/*
 * AFTER_INBOX: a task that has left its stack for want of something in an inbox;
 * the sender of the next message wakes the task.
 */
static inline void turn_finish_wait(struct worker *worker,
				    const struct after *after)
{
	struct sley_task *task = after->strand->task;
	unsigned int level = task_level(task);

	task_turn_park(task);
	if (!inbox_rest(after->inbox, after->seen)) {
		task_turn_unpark(task);
		levels_push(&worker->ready, task, level);
	}
}

/* Its turn is over, but it has more to do: behind all that is queued here. */
void turn_again(struct worker *worker, struct sley_task *task);

/* It is parked.  Any thread, the only one that may. */
void turn_wake(struct worker *home, struct sley_task *task);

/*
 * The same in the usual case: by a worker of its runtime, which has nothing to run
 * next, with a task that may run anywhere.  False: nothing was done.
 */
static inline bool turn_wake_own(struct worker *worker,
				 const struct worker *home,
				 struct sley_task *task)
{
	uint32_t rules = task_flags(task) & (TASK_LEVEL_MASK | TASK_PINNED);

	if (unlikely(rules != LEVEL_DEFAULT << TASK_LEVEL_SHIFT ||
		     worker->rt != home->rt || task_strand(task) ||
		     !next_empty(&worker->next) || chaos_says(CHAOS_MOVE)))
		return false;
	task_turn_ready(task);
	(void)next_put(&worker->next, task, NEXT_OWN);
	return true;
}

#endif
