/* SPDX-License-Identifier: MIT */
/*
 * group.h - tasks that are waited for together.
 */
#ifndef SLEY_CORE_GROUP_H
#define SLEY_CORE_GROUP_H

#include "core/countdown.h"

#include <sley/task.h>

static inline void group_add(struct sley_group *group)
{
	countdown_add(&group->q, 1);
}

static inline void group_done(struct sley_group *group)
{
	sley_check(countdown_done(&group->q) != COUNTDOWN_BAD,
		   "a group must stay alive until it is joined");
}

#endif
