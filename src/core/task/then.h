/* SPDX-License-Identifier: MIT */
/*
 * then.h - continuations: a task that is queued when another task has ended.
 *
 * Both tasks are accepted (core/task/spawn.h) and are in no queue.  The first task
 * ends as usual, or is dropped because it was cancelled.  Then its continuation is
 * queued, whatever became of the first task.  A continuation may have one, too.
 *
 * A task of a group that lives in memory of the library (sley_group_go()) is freed
 * at its end; the second bit of its group pointer says so.  Such a task has no
 * continuation: its address is known to the library alone.
 *
 * A task has no field to spare for a pointer to its continuation, nor for a flag that
 * says "free me".  So both share the group pointer.  A continuation is idle until
 * the first task has ended, and its own fields are free: the group pointer of the
 * first task leads to the continuation, marked by the lowest bit, and the
 * continuation keeps the group.
 */
#ifndef SLEY_CORE_TASK_THEN_H
#define SLEY_CORE_TASK_THEN_H

#include "base/compiler.h"

#include <sley/task.h>
#include <stdbool.h>

#define THEN_TASK ((uintptr_t)1)
#define THEN_FREED ((uintptr_t)2)

/* @next is the continuation of @task, which has none yet. */
static inline void then_add(struct sley_task *task, struct sley_task *next)
{
	next->prev = (struct sley_task *)(void *)task->group;
	task->group = (struct sley_group *)((uintptr_t)next | THEN_TASK);
}

/* For a task of @group that is freed at its end. */
static inline struct sley_group *then_freed(struct sley_group *group)
{
	return (struct sley_group *)((uintptr_t)group | THEN_FREED);
}

/* Is there more to do at the end of a task with this group pointer? */
static inline bool then_is_marked(const struct sley_group *group)
{
	return (uintptr_t)group & (THEN_TASK | THEN_FREED);
}

/* The group, of a task without a continuation. */
static inline struct sley_group *then_bare(const struct sley_group *group)
{
	return (struct sley_group *)((uintptr_t)group & ~THEN_FREED);
}

/* The continuation of the task with this group pointer; or NULL. */
static inline struct sley_task *continuation_of(const struct sley_group *group)
{
	if (likely(!((uintptr_t)group & THEN_TASK)))
		return NULL;
	return (struct sley_task *)((uintptr_t)group - THEN_TASK);
}

/* The group that the continuation @next keeps for the task before it. */
static inline struct sley_group *
continuation_group(const struct sley_task *next)
{
	return (struct sley_group *)(void *)next->prev;
}

/* The group of @task, whether it has a continuation or not. */
static inline struct sley_group *then_group(const struct sley_task *task)
{
	const struct sley_task *next = continuation_of(task->group);

	return next ? continuation_group(next) : then_bare(task->group);
}

#endif
