/* SPDX-License-Identifier: MIT */
/*
 * spawn.h - from a function and its argument to a queued task.
 */
#ifndef SLEY_CORE_TASK_SPAWN_H
#define SLEY_CORE_TASK_SPAWN_H

#include "core/sched/place.h"
#include "core/life/drain.h"
#include "core/task/group.h"
#include "core/sched/worker.h"

/*
 * By a task or bound code of a single-threaded runtime, with default options but
 * for @flags, such as TASK_MEMBER.  @task->fn, ->arg and ->name (the place of the
 * spawn) are set.
 */
static inline void spawn_here_as(struct worker *worker,
				 struct sley_group *group,
				 struct sley_task *task, uint32_t flags)
{
	task->group = group;
	task->fiber = NULL;
	task_build(task, LEVEL_DEFAULT, worker->task_flags | flags);
	group_add(group);
	drain_count_spawned(worker);
	place_spawned(worker, task);
}

/* The same without flags; @task->name is set. */
static inline void spawn_here(struct worker *worker, struct sley_group *group,
			      struct sley_task *task, sley_fn *fn, void *arg)
{
	task->fn = fn;
	task->arg = arg;
	spawn_here_as(worker, group, task, 0);
}

/*
 * Into @rt from any thread, with checked options; @task->fn, ->arg and ->name
 * (the place of the spawn) are set.  0, -ENOMEM, -ESHUTDOWN, SLEY_ENOWORKER,
 * SLEY_EAFFINITY or SLEY_EFORKED.  @group NULL: detached, @task is from the slab; the same holds if
 * @group is from then_freed() (core/task/then.h).  @flags are added to the flags of
 * the runtime; with TASK_TURNS, @group is a struct turns.  With TASK_PINNED among
 * them, a task that is sent toward a worker runs on that worker and on no other.
 */
must_check int spawn_into_as(struct sley *rt, struct sley_group *group,
			     struct sley_task *task,
			     const struct sley_options *options,
			     uint32_t flags);

/* The same without flags. */
must_check int spawn_into(struct sley *rt, struct sley_group *group,
			  struct sley_task *task,
			  const struct sley_options *options);

/*
 * The first half alone, by a task of @rt or a thread bound to @rt, with default
 * options: the group and the runtime count @task and wait for its end, but @task
 * is in no queue yet.  place_accepted() queues @task, from any thread.  Meanwhile
 * @task can be cancelled, and its priority be changed, as if it were queued.  0
 * or SLEY_EFORKED.
 */
must_check int spawn_accept(struct sley *rt, struct sley_group *group,
			    struct sley_task *task);

/*
 * Count a task in @rt, only so that @rt waits for its end; the caller is no
 * worker of @rt.  The counted task ends on a worker of @rt.  0, -ESHUTDOWN or
 * SLEY_ENOWORKER.
 */
must_check int spawn_count_foreign(struct sley *rt);

#endif
