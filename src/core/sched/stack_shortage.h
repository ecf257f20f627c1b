/* SPDX-License-Identifier: MIT */
/*
 * stack_shortage.h - tasks wait because there is no memory for another stack.
 *
 * Nothing can be done about a shortage: the running tasks have the stacks, and the
 * waiting tasks were accepted.  A waiting task goes on when others end, or when
 * there is memory.  But the user of a program that stands still should not have to
 * guess, so a shortage that lasts is reported: one line for a runtime.
 */
#ifndef SLEY_CORE_SCHED_STACK_SHORTAGE_H
#define SLEY_CORE_SCHED_STACK_SHORTAGE_H

#include "core/sched/worker.h"

/* A task could not be started on @worker, the caller. */
void stack_shortage_note(struct worker *worker);

/* Outside of tasks, whose stacks may be too small for the user's function. */
void stack_shortage_report(struct worker *worker);

#endif
