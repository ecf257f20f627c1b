/* SPDX-License-Identifier: MIT */
/*
 * group.h - tasks that are waited for together.
 */
#ifndef SLEY_CORE_TASK_GROUP_H
#define SLEY_CORE_TASK_GROUP_H

#include "core/task/countdown.h"

#include <sley/task.h>

static inline void group_add(struct sley_group *group)
{
	countdown_add(&group->q, 1);
}

/* Tasks of the group read the tree as long as they run, so there must be none. */
static inline void group_set_tree(struct sley_group *group, uint64_t tree)
{
	/* relaxed: spawning publishes the tree. */
	sley_check(!countdown_of(load_relaxed(&group->q.word)),
		   "the group has tasks: put it into a tree before they are "
		   "spawned");
	group->tree = tree;
}

static inline void group_done(struct sley_group *group)
{
	sley_check(
		countdown_done(&group->q) != COUNTDOWN_BAD,
		"the group has tasks that have not ended: join it before it is "
		"used again");
}

#endif
