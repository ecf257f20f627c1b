/* SPDX-License-Identifier: MIT */
/*
 * task.h - what the calls that spawn have in common.
 */
#ifndef SLEY_API_TASK_H
#define SLEY_API_TASK_H

#include "base/compiler.h"

#include <sley/task.h>

/*
 * From a thread that is no worker, with default options but for @flags.
 * @task->fn, ->arg and ->name, the place of the spawn, are set.  Misuse is reported
 * for @caller.
 */
void task_spawn_bound(const char *caller, struct sley_group *group,
		      struct sley_task *task, uint32_t flags);

/* Into @rt, with options of the user; the same members are set. */
must_check int task_spawn_checked(struct sley *rt, struct sley_group *group,
				  struct sley_task *task,
				  const struct sley_options *options,
				  uint32_t flags);

#endif
