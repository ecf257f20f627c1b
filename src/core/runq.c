/* SPDX-License-Identifier: MIT */
/*
 * runq.c - see runq.h.
 */
#include "core/runq.h"

static void publish_hint(struct runq *runq)
{
	/* relaxed: Q1 is a hint. */
	store_relaxed(&runq->hint, runq->levels.bitmap);
}

static void push_locked(struct runq *runq, struct sley_task *task)
{
	unsigned int level = task_level(task);

	levels_push(&runq->levels, task, level);
	if (level != LEVEL_DEFAULT)
		task_mark_levelled(task);
}

static struct sley_task *take_locked(struct runq *runq, unsigned int level)
{
	struct sley_task *task = levels_take(&runq->levels, level);

	if (level != LEVEL_DEFAULT)
		task_clear_levelled(task);
	return task;
}

void runq_push(struct runq *runq, struct sley_task *task)
{
	spin_lock(&runq->lock);
	push_locked(runq, task);
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

void runq_push_chain(struct runq *runq, struct sley_task *chain)
{
	spin_lock(&runq->lock);
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		levels_push(&runq->levels, task, LEVEL_DEFAULT);
	}
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

struct sley_task *runq_take(struct runq *runq, unsigned int level)
{
	struct sley_task *task = NULL;

	(void)runq_take_batch(runq, level, &task, 1);
	return task;
}

unsigned int runq_take_batch(struct runq *runq, unsigned int level,
			     struct sley_task **out, unsigned int max)
{
	unsigned int nr = 0;

	spin_lock(&runq->lock);
	while (nr < max && (runq->levels.bitmap & 1ull << level))
		out[nr++] = take_locked(runq, level);
	publish_hint(runq);
	spin_unlock(&runq->lock);
	return nr;
}

void runq_set_level(struct runq *runq, struct sley_task *task,
		    unsigned int level)
{
	uint64_t old;

	spin_lock(&runq->lock);
	old = task_set_level(task, level);
	if (old & TASK_LEVELLED) {
		levels_remove(&runq->levels, task, task_level_of(old));
		levels_push(&runq->levels, task, level);
		if (level == LEVEL_DEFAULT)
			task_clear_levelled(task);
		publish_hint(runq);
	}
	spin_unlock(&runq->lock);
}
