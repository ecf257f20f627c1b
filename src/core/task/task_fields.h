/* SPDX-License-Identifier: MIT */
/*
 * task_fields.h - what the pointers of a task mean, and when.
 *
 * A task has 64 bytes, so three of its fields have more than one meaning.  Each
 * meaning has a function here, which asserts the condition that goes with it:
 *
 *   fiber  the strand of a task that has one: task_strand()
 *          the worker that counted a task which was accepted, and is in no queue:
 *          task_accepted_by()
 *   arg    the argument of the task's function
 *          the fork of a stolen child, TASK_FORKED: task_forked()
 *   group  the group, or the continuation with the group in it: core/task/then.h
 *          the functions of a task that runs in turns, TASK_TURNS: turns_of() of
 *          core/task/turn.h
 */
#ifndef SLEY_CORE_TASK_TASK_FIELDS_H
#define SLEY_CORE_TASK_TASK_FIELDS_H

#include "core/task/task_state.h"

#include <sley/fork_stack.h>

struct strand;
struct worker;

/* NULL: the task has not started, or has no stack of its own between two turns. */
static inline struct strand *task_strand(const struct sley_task *task)
{
	return task->fiber;
}

static inline void task_set_strand(struct sley_task *task,
				   struct strand *strand)
{
	/* relaxed: the queue publishes it; see task_seen_strand(). */
	store_relaxed(&task->fiber, strand);
}

/* The same as task_strand(), by another thread while the task may run. */
static inline struct strand *task_seen_strand(const struct sley_task *task)
{
	/* relaxed: a task that has left its stack has had it before. */
	return load_relaxed(&task->fiber);
}

/* Between spawn_accept() and place_accepted(). */
static inline struct worker *task_accepted_by(const struct sley_task *task)
{
	sley_assert(task_state_of(task_load(task)) == TASK_READY);
	return task->fiber;
}

static inline void task_set_accepted_by(struct sley_task *task,
					struct worker *worker)
{
	task->fiber = worker;
}

static inline struct sley_forked *task_forked(const struct sley_task *task)
{
	sley_assert(task_flags(task) & TASK_FORKED);
	return task->arg;
}

#endif
