/* SPDX-License-Identifier: MIT */
/*
 * switch.c - the end of a task on its strand, where it is more than a store: see switch.h.
 */
#include "core/sched/switch.h"

#include "core/wait/loan.h"

void switch_end_rare(struct strand *strand, struct sley_task *task)
{
	uint32_t flags = task_flags(task);
	bool elsewhere = flags & TASK_MIGRATABLE;

	/* Between two turns a task holds what it holds. */
	if ((flags & (TASK_OWES | TASK_TURNS)) == TASK_OWES)
		loan_forgive(task);
	/* Another worker may be about to cancel a task that it saw suspended. */
	if (elsewhere)
		spin_lock(&strand->end_lock);
	strand_set_task(strand, NULL);
	if (elsewhere)
		spin_unlock(&strand->end_lock);
}
