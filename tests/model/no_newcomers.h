/* SPDX-License-Identifier: MIT */
/*
 * no_newcomers.h - for models in which no process begins, and no process is freed.
 */
#ifndef SLEY_MODEL_NO_NEWCOMERS_H
#define SLEY_MODEL_NO_NEWCOMERS_H

#include "processes_only.h"

#include "actor/process/stop.h"
#include "core/life/drain.h"

int spawn_into_as(struct sley *into, struct sley_group *group,
		  struct sley_task *task, const struct sley_options *options,
		  uint32_t flags)
{
	(void)into;
	(void)group;
	(void)task;
	(void)options;
	(void)flags;
	never();
	return -ENOSYS;
}

void process_free_self(struct process *process, void *self,
		       const struct sley_behaviour *behaviour)
{
	(void)process;
	(void)self;
	(void)behaviour;
	never();
}

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	never();
}

void stop_newcomer(struct process *process)
{
	(void)process;
	never();
}

#endif
