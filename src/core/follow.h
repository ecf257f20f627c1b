/* SPDX-License-Identifier: MIT */
/*
 * follow.h - a task that is queued when another one has ended.
 *
 * Both are accepted (core/spawn.h) and in nobody's queue.  The first one ends
 * as usual, or is dropped because it was cancelled; then its follower is
 * queued, whatever became of it.  A follower may have a follower.
 *
 * A task of a group that lives in memory of the library (sley_group_go()) is freed
 * at its end; the second bit of its group pointer says so.  Such a task has no
 * follower: nobody has its address.
 *
 * A task has no field to spare for either.  But a follower is idle until its time
 * comes, so there is room in it: the first one's group pointer leads to the
 * follower, marked by its lowest bit, and the follower keeps the group.
 */
#ifndef SLEY_CORE_FOLLOW_H
#define SLEY_CORE_FOLLOW_H

#include "base/compiler.h"

#include <sley/task.h>
#include <stdbool.h>

#define FOLLOWED ((uintptr_t)1)
#define FOLLOW_FREED ((uintptr_t)2)

/* @next follows @task, which nobody follows yet. */
static inline void follow(struct sley_task *task, struct sley_task *next)
{
	next->prev = (struct sley_task *)(void *)task->group;
	task->group = (struct sley_group *)((uintptr_t)next | FOLLOWED);
}

/* For a task of @group that is freed at its end. */
static inline struct sley_group *follow_freed(struct sley_group *group)
{
	return (struct sley_group *)((uintptr_t)group | FOLLOW_FREED);
}

/* Is there more to do at the end of a task with this group pointer? */
static inline bool follow_is_marked(const struct sley_group *group)
{
	return (uintptr_t)group & (FOLLOWED | FOLLOW_FREED);
}

/* The group, where there is no follower. */
static inline struct sley_group *follow_bare(const struct sley_group *group)
{
	return (struct sley_group *)((uintptr_t)group & ~FOLLOW_FREED);
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

	return next ? follower_group(next) : follow_bare(task->group);
}

#endif
