/* SPDX-License-Identifier: MIT */
/*
 * follow.h - a task that is queued when another one has ended.
 *
 * Both are accepted (core/spawn.h) and in nobody's queue.  The first one ends
 * as usual, or is dropped because it was cancelled; then its follower is
 * queued, whatever became of it.  A follower may have a follower.
 *
 * A task has no field to spare for it.  But a follower is idle until its time
 * comes, so there is room in it: the first one's group pointer leads to the
 * follower, marked by its lowest bit, and the follower keeps the group.
 */
#ifndef SLEY_CORE_FOLLOW_H
#define SLEY_CORE_FOLLOW_H

#include "base/compiler.h"

#include <sley/task.h>

#define FOLLOWED ((uintptr_t)1)

/* @next follows @task, which nobody follows yet. */
static inline void follow(struct sley_task *task, struct sley_task *next)
{
	next->prev = (struct sley_task *)(void *)task->group;
	task->group = (struct sley_group *)((uintptr_t)next | FOLLOWED);
}

/* Who follows the task with this group pointer; or NULL. */
static inline struct sley_task *follower_of(const struct sley_group *group)
{
	if (likely(!((uintptr_t)group & FOLLOWED)))
		return NULL;
	return (struct sley_task *)((uintptr_t)group - FOLLOWED);
}

/* The group that @next keeps for the task it follows. */
static inline struct sley_group *follower_group(const struct sley_task *next)
{
	return (struct sley_group *)(void *)next->prev;
}

/* The group of @task, whether it is followed or not. */
static inline struct sley_group *follow_group(const struct sley_task *task)
{
	const struct sley_task *next = follower_of(task->group);

	return next ? follower_group(next) : task->group;
}

#endif
