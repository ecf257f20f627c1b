/* SPDX-License-Identifier: MIT */
/*
 * turn.h - tasks that run in turns, without a stack in between.
 *
 * Such a task (TASK_TURNS) is queued, claimed and run as any other, but its
 * function, which gets the task itself, returns at the end of a turn, not of its
 * life.  What becomes of it then is decided by after(), which the worker calls as
 * the last thing, when it is done with the task: after() parks it (task_turn_park),
 * queues it again (turn_again), or ends it.  A parked one is queued by turn_wake().
 * If another task is due at once, and worker_may_keep() says so, after() returns
 * it: such a task is READY and in no queue.  So is what worker_pick() gave it, if it
 * had to know what comes next.
 *
 * core/task/task_state.h has the transitions: task_turn_park(), task_turn_ready(),
 * task_turn_end().
 *
 * Where bound threads run the tasks, one with turns has TASK_PINNED: it stays with
 * the thread that spawned it.
 *
 * Nobody else decides its state: there is no cancelling, and no deadline, but by
 * way of who wakes it.  A task with a stack can wait in the same way, for its inbox
 * (AFTER_INBOX): it parks after the switch, on the next stack.  Between claim and
 * the end of the turn it is a task as any other, and may wait: then it has a
 * strand, until that wait is over.
 *
 * A task that was woken goes to the next slot of its waker's worker as the
 * worker's own (NEXT_OWN): it is the one whose data is in the cache, and for one
 * task nobody else is woken.  Thieves leave it alone; if the worker is held by
 * another task for long the monitor lets them have it.
 *
 * It has no edges of its own: whoever wakes it has been told by another one (B2 of
 * lf/inbox.h) that it is parked.
 */
#ifndef SLEY_CORE_TASK_TURN_H
#define SLEY_CORE_TASK_TURN_H

#include "core/sched/worker.h"

/* In place of a task's group. */
struct turns {
	/* Returns what comes next, or NULL. */
	struct sley_task *(*after)(struct worker *worker,
				   struct sley_task *task);
	/* It looks up if it waits for its inbox, where no cancel reaches it. */
	void (*poke)(struct sley_task *task);
};

static inline const struct turns *turns_of(const struct sley_task *task)
{
	sley_assert(task_flags(task) & TASK_TURNS);
	return (const struct turns *)(const void *)task->group;
}

/* Is it of the default level, and may run anywhere? */
static inline bool turn_is_usual(const struct sley_task *task)
{
	uint32_t rules = task_flags(task) & (TASK_LEVEL_MASK | TASK_PINNED);

	return rules == LEVEL_DEFAULT << TASK_LEVEL_SHIFT;
}

/* May after() return @task, which nobody else has?  Else it has to be queued. */
static inline bool turn_may_keep(struct worker *worker,
				 const struct sley_task *task)
{
	return turn_is_usual(task) && worker_may_keep(worker);
}

/*
 * AFTER_INBOX: a task that has left its stack for want of something in an inbox;
 * whoever puts the next thing in wakes it.
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
