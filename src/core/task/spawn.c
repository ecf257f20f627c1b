/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - see spawn.h.
 */
#include "core/sched/place.h"
#include "core/task/spawn.h"

#include "core/task/then.h"
#include "core/life/after_fork.h"
#include "core/sched/loop.h"
#include "core/task/slot.h"
#include "core/wait/loan.h"

#include <errno.h>
#include <sley/error.h>

/* @task->fn and ->arg are set. */
static int build(struct sley *rt, struct sley_task *task,
		 const struct sley_options *options, uint32_t flags)
{
	unsigned int level = (unsigned int)(options->priority + LEVEL_DEFAULT);
	struct slot *slot = NULL;

	flags |= runtime_task_flags(rt);
	task->fiber = NULL;
	if (options->name)
		task->name = options->name;
	if (options->waker) {
		if (slot_give(task, &slot))
			return -ENOMEM;
		flags |= TASK_SLOT;
	}
	if (options->stack_kib) {
		task->fiber = strand_create(rt,
					    (size_t)options->stack_kib << 10,
					    strand_main, task);
		if (!task->fiber) {
			if (slot)
				slot_take_back(task);
			return -ENOMEM;
		}
	}
	if (options->pinned)
		flags |= TASK_PINNED;
	/* Only a bound thread runs the tasks that it spawned. */
	if (options->migratable && rt->nr_workers)
		flags |= TASK_MIGRATABLE;
	if (runtime_is_cancelled(rt))
		flags |= TASK_CANCEL;
	task_build(task, level, flags);
	if (slot)
		slot_describe(slot, rt, options->waker);
	return 0;
}

/* The caller, if it is a worker of @rt. */
static struct worker *worker_in(const struct sley *rt)
{
	struct worker *worker = worker_current();

	return worker && worker->rt == rt ? worker : NULL;
}

/* From here on the group and the runtime wait for @task. */
static int accept(struct sley *rt, struct worker *here,
		  struct sley_group *group, struct sley_task *task,
		  const struct sley_options *options, uint32_t flags)
{
	int err = build(rt, task, options, flags);

	if (err)
		return err;
	task->group = group;
	if (group && !(flags & TASK_TURNS)) {
		group_add(then_bare(group));
		if (unlikely(options->inherits))
			loan_promise(task, then_bare(group));
	}
	if (unlikely(options->future))
		loan_promise(task, options->future);
	if (here)
		drain_count_spawned(here);
	else
		drain_count_foreign(rt, 1);
	return 0;
}

/* @task was accepted; @here is the caller, if it is a worker of @rt. */
static void queue(struct sley *rt, struct worker *here, struct sley_task *task,
		  uint32_t toward)
{
	struct worker *there = toward && rt->nr_workers ? rt->worker[toward - 1]
							: NULL;

	if (there && there != here && task_flags(task) & TASK_PINNED)
		(void)place_at(there, task);
	else if (there && there != here)
		place_toward(there, task);
	else if (here)
		place_spawned(here, task);
	else
		place_foreign(rt, task);
}

int spawn_into_as(struct sley *rt, struct sley_group *group,
		  struct sley_task *task, const struct sley_options *options,
		  uint32_t flags)
{
	struct worker *here = worker_in(rt);
	/* A bound thread keeps the runtime alive; others pass the gate. */
	bool inside = here || sley__self.bound == rt;
	int err;

	if (unlikely(runtime_is_lost(rt)))
		return SLEY_EFORKED;
	if (!here && (!rt->nr_workers || options->pinned))
		return SLEY_ENOWORKER;
	if (unlikely(options->toward) &&
	    options->toward > runtime_nr_runners(rt))
		return SLEY_EAFFINITY;
	if (!inside && !gate_enter(rt))
		return -ESHUTDOWN;
	err = accept(rt, here, group, task, options, flags);
	if (!err)
		queue(rt, here, task, options->toward);
	if (!inside)
		gate_leave(rt);
	return err;
}

int spawn_into(struct sley *rt, struct sley_group *group,
	       struct sley_task *task, const struct sley_options *options)
{
	return spawn_into_as(rt, group, task, options, 0);
}

int spawn_accept(struct sley *rt, struct sley_group *group,
		 struct sley_task *task)
{
	static const struct sley_options defaults;
	struct worker *here = worker_in(rt);
	int err;

	if (unlikely(runtime_is_lost(rt)))
		return SLEY_EFORKED;
	err = accept(rt, here, group, task, &defaults, 0);
	task_set_accepted_by(task, here ? here : rt->worker[0]);
	return err;
}

int spawn_count_foreign(struct sley *rt)
{
	bool inside = sley__self.bound == rt;

	if (!rt->nr_workers)
		return SLEY_ENOWORKER;
	if (!inside && !gate_enter(rt))
		return -ESHUTDOWN;
	drain_count_foreign(rt, 1);
	if (!inside)
		gate_leave(rt);
	return 0;
}
