/* SPDX-License-Identifier: MIT */
/*
 * parallelize.c - several functions at the same time.
 *
 * All calls may wait for each other, so each call is a task of its own: a task with
 * several calls could wait for ever.  The tasks live on the stack, a batch of tasks
 * in each frame of a recursion, so that few calls take little stack.  The innermost
 * frame makes the first call and waits for all.
 */
#include "base/label.h"
#include "core/life/after_fork.h"
#include "core/task/spawn.h"
#include "core/wait/wait.h"

#include <sley/parallel.h>

#include <errno.h>

#define BATCH 15

struct parallel {
	struct sley *rt;
	struct sley_group group;
	const struct sley_invocation *first;
	const void *site;
};

static int spawn_call(struct parallel *p, const struct sley_invocation *call,
		      struct sley_task *task)
{
	static const struct sley_options defaults;
	struct worker *worker = worker_current();

	task->name = p->site;
	if (likely(worker)) {
		spawn_here(worker, &p->group, task, call->fn, call->arg);
		return 0;
	}
	task->fn = call->fn;
	task->arg = call->arg;
	return spawn_into(p->rt, &p->group, task, &defaults);
}

/* Was @task cancelled before it started?  @task has ended. */
static bool was_dropped(const struct sley_task *task)
{
	return task_observe(task) & TASK_DROPPED;
}

static void first_and_wait(struct parallel *p)
{
	p->first->fn(p->first->arg);
	(void)!countdown_wait(&p->group.q, UINT64_MAX, WAIT_SHIELDED);
}

/* Never inlined: each level has a frame of its own, and no more than needed. */
static noinline int spawn_and_wait(struct parallel *p,
				   const struct sley_invocation *calls,
				   size_t nr)
{
	struct sley_task task[BATCH];
	size_t batch = nr < BATCH ? nr : BATCH;
	int err = 0;

	for (size_t i = 0; i < batch; i++) {
		err = spawn_call(p, &calls[i], &task[i]);
		/* Only the very first can fail, and then no task was spawned. */
		if (unlikely(err))
			return err;
	}
	if (nr > batch)
		err = spawn_and_wait(p, calls + batch, nr - batch);
	else
		first_and_wait(p);
	for (size_t i = 0; i < batch && !err; i++)
		err = was_dropped(&task[i]) ? -ECANCELED : 0;
	return err;
}

int sley_parallelize(const struct sley_invocation *calls, size_t nr)
{
	struct parallel p = {
		.rt = sley__self.bound,
		.first = calls,
		.site = label_of_place(__builtin_return_address(0)),
	};

	if (nr == 0)
		return 0;
	if (!p.rt)
		return after_fork_error();
	if (nr > SLEY_PARALLELIZE_MAX)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++)
		sley_check_fn(calls[i].fn);
	return spawn_and_wait(&p, calls + 1, nr - 1);
}
