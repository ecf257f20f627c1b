/* SPDX-License-Identifier: MIT */
/*
 * levels.h - ready tasks by priority: a FIFO per level and a bitmap.
 *
 * A bit is set if and only if its list is not empty, so the most urgent task
 * is one bit scan away.  Not synchronised: a worker keeps a struct levels for the
 * tasks that only this worker may run, and core/sched/runq.h puts a lock around
 * another for all workers.  Lists are linked through the tasks, so nothing is ever
 * allocated and any task can be taken out of the middle.
 */
#ifndef SLEY_CORE_SCHED_LEVELS_H
#define SLEY_CORE_SCHED_LEVELS_H

#include "base/assert.h"
#include "base/bits.h"
#include "core/task/task_state.h"

struct task_fifo {
	struct sley_task *first;
	struct sley_task *last;
};

struct levels {
	uint64_t bitmap;
	uint32_t nr; /* of all tasks, readable from any thread */
	struct task_fifo fifo[NR_LEVELS];
};

static inline void fifo_push(struct task_fifo *fifo, struct sley_task *task)
{
	task->next = NULL;
	task->prev = fifo->last;
	if (fifo->last)
		fifo->last->next = task;
	else
		fifo->first = task;
	fifo->last = task;
}

static inline void fifo_push_first(struct task_fifo *fifo,
				   struct sley_task *task)
{
	task->next = fifo->first;
	task->prev = NULL;
	if (fifo->first)
		fifo->first->prev = task;
	else
		fifo->last = task;
	fifo->first = task;
}

/* @fifo must not be empty. */
static inline struct sley_task *fifo_take(struct task_fifo *fifo)
{
	struct sley_task *task = fifo->first;

	sley_assert(task);
	fifo->first = task->next;
	if (fifo->first)
		fifo->first->prev = NULL;
	else
		fifo->last = NULL;
	return task;
}

/* All of @from, which is empty afterwards, behind @fifo. */
static inline void fifo_append(struct task_fifo *fifo, struct task_fifo *from)
{
	if (!from->first)
		return;
	from->first->prev = fifo->last;
	if (fifo->last)
		fifo->last->next = from->first;
	else
		fifo->first = from->first;
	fifo->last = from->last;
	*from = (struct task_fifo){ 0 };
}

static inline void fifo_remove(struct task_fifo *fifo, struct sley_task *task)
{
	if (task->prev)
		task->prev->next = task->next;
	else
		fifo->first = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		fifo->last = task->prev;
}

/* @n more tasks; a length that other threads read (core/sched/gauge.h). */
static inline void levels_count(struct levels *levels, uint32_t n)
{
	count_own32(&levels->nr, n); /* one writer at a time */
}

static inline uint32_t levels_length(const struct levels *levels)
{
	/* relaxed: a hint. */
	return load_relaxed(&levels->nr);
}

static inline void levels_push(struct levels *levels, struct sley_task *task,
			       unsigned int level)
{
	fifo_push(&levels->fifo[level], task);
	levels->bitmap |= 1ull << level;
	levels_count(levels, 1);
}

static inline void levels_push_first(struct levels *levels,
				     struct sley_task *task, unsigned int level)
{
	fifo_push_first(&levels->fifo[level], task);
	levels->bitmap |= 1ull << level;
	levels_count(levels, 1);
}

static inline void levels_settle(struct levels *levels, unsigned int level)
{
	if (!levels->fifo[level].first)
		levels->bitmap &= ~(1ull << level);
}

/* The level must not be empty. */
static inline struct sley_task *levels_take(struct levels *levels,
					    unsigned int level)
{
	struct sley_task *task = fifo_take(&levels->fifo[level]);

	levels_settle(levels, level);
	levels_count(levels, -1u);
	return task;
}

/* @task must be on that level. */
static inline void levels_remove(struct levels *levels, struct sley_task *task,
				 unsigned int level)
{
	fifo_remove(&levels->fifo[level], task);
	levels_settle(levels, level);
	levels_count(levels, -1u);
}

#endif
