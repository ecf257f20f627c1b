/* SPDX-License-Identifier: MIT */
/*
 * runq.c - see runq.h.
 *
 * A task does not know its runtime, and whoever changes its level may belong to
 * another one: so a queued task carries the tag of its queue.  There are 1023
 * tags.  The tasks of a runtime that got none are never marked, and change
 * their level when they are queued the next time.
 */
#include "core/runq.h"

static uint64_t tags_used[(RUNQ_NO_TAG + 1) / 64] = {
	[RUNQ_NO_TAG / 64] = 1ull << RUNQ_NO_TAG % 64,
};

void runq_init(struct runq *runq)
{
	*runq = (struct runq){ .tag = RUNQ_NO_TAG };
	for (unsigned int i = 0; i < array_size(tags_used); i++) {
		/* relaxed: the CAS checks it. */
		uint64_t used = load_relaxed(&tags_used[i]);

		while (~used) {
			unsigned int bit = (unsigned int)bits_first(~used);

			/* relaxed: a number, it publishes nothing. */
			if (cas_relaxed(&tags_used[i], &used,
					used | 1ull << bit)) {
				runq->tag = i * 64 + bit;
				return;
			}
		}
	}
}

void runq_fini(struct runq *runq)
{
	unsigned int tag = runq->tag;

	if (tag != RUNQ_NO_TAG)
		/* relaxed: as above. */
		(void)and_relaxed(&tags_used[tag / 64], ~(1ull << tag % 64));
}

static void publish_hint(struct runq *runq)
{
	/* relaxed: Q1 is a hint. */
	store_relaxed(&runq->hint, runq->levels.bitmap);
}

static void push_locked(struct runq *runq, struct sley_task *task)
{
	unsigned int level = task_level(task);

	levels_push(&runq->levels, task, level);
	if (level != LEVEL_DEFAULT && runq->tag != RUNQ_NO_TAG)
		task_mark_levelled(task, level, runq->tag);
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
	uint32_t old;

	spin_lock(&runq->lock);
	old = task_set_level(task, level);
	if (task_is_levelled_in(old, runq->tag)) {
		levels_remove(&runq->levels, task, task_queued_level_of(old));
		levels_push(&runq->levels, task, level);
		task_clear_levelled(task);
		if (level != LEVEL_DEFAULT)
			task_mark_levelled(task, level, runq->tag);
		publish_hint(runq);
	}
	spin_unlock(&runq->lock);
}
