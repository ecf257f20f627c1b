/* SPDX-License-Identifier: MIT */
/*
 * overtake.h - a more urgent task goes before the next fork.
 *
 * A worker looks at the levels whenever it picks a task.  But a task that forks and
 * joins may keep its worker for seconds without a pick: forks and joins are stores
 * and calls inside the task.  So the thread that makes an urgent task ready, the
 * *asker*, sets the limit of the fork stack of each strand that a worker is on to
 * 0, as a thief does (lf/fork_stack.h).  The next fork is then slow, and its worker
 * looks for a task of a higher level.  If there is such a task, the forking task is
 * suspended, with its children open to thieves.  The worker runs the urgent tasks,
 * and then goes on with the suspended task.  That task is first in the ready list of
 * its level; only a fair pick may take a task of the same level before.
 * A fork that no thread has asked looks at nothing.
 *
 *   asker                               worker in a slow fork
 *   1. queue the urgent task            1. raise the limit
 *   2. change rt->overtakes     (OV1)   2. change rt->overtakes     (OV1)
 *   3. drop the limit of the strand     3. look for an urgent task
 *      that each worker is on
 *
 * Step 2 is a read-modify-write of one word on both sides: one of the two comes
 * first.  If the asker's comes first, the worker acquires it, and step 3 finds the
 * task.  If the worker's comes first, the asker acquires the strand that the worker
 * is on and its raised limit, and drops that limit.  A worker that goes to another
 * strand later finds a limit of 0 there: a worker drops the limit of the strand that
 * it leaves (core/sched/switch.h).  So the first fork there looks.
 *
 * A worker whose limit stays 0, for want of membarrier or since another worker
 * sleeps, leaves step 2 out: the next fork looks, too.
 *
 * A task below the default level gives way to tasks of levels for which no thread
 * asks.  So each fork of such a task is slow: the limit is 0 when the task begins
 * (worker_pick_low()), and stays 0.
 *
 * Edges:
 *
 *   OV1  asker's task, then overtakes <-> worker's strand and limit, then overtakes
 *
 * Rejected: a look at the levels in each fork (a load and a branch, a tenth of the
 * fork); a signal to the worker's thread (a handler cannot switch fibers at any
 * instruction); os_membarrier() by the asker (a system call and an interrupt of
 * all CPUs for each urgent task); to let the urgent task run on top of the forking
 * task's stack (the urgent task may block, and then the forking task waits for it).
 */
#ifndef SLEY_CORE_SCHED_OVERTAKE_H
#define SLEY_CORE_SCHED_OVERTAKE_H

#include "core/sched/worker.h"

/* Does a task of @level go before forks of tasks of the default level? */
static inline bool overtake_is_urgent(unsigned int level)
{
	return level < LEVEL_DEFAULT;
}

/* An urgent task was queued that any worker of @rt may run. */
void overtake_ask_all(struct sley *rt);

/* An urgent task was queued that only @worker may run; from any thread. */
void overtake_ask(struct worker *worker);

/* The same by @worker itself. */
static inline void overtake_ask_self(struct worker *worker)
{
	fork_stack_drop_limit(&worker->strand->forks);
}

/*
 * In a slow fork, after the limit was set: the task that the forking task gives way
 * to; or NULL.
 */
must_check struct sley_task *overtake_look(struct worker *worker);

/* Run @task, which overtake_look() has found, if there is a stack, and then go on. */
void overtake_give_way(struct worker *worker, struct sley_task *task);

#endif
