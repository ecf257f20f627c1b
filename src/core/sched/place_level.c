/* SPDX-License-Identifier: MIT */
/*
 * place_level.c - the level of a task changes, wherever it is.
 *
 * In the shared queue it moves, exactly and at once; whoever is moving it there
 * from somewhere else is waited for.  What is queued elsewhere is in lists that
 * one worker alone may touch, or behind others in a ring, and does not know
 * where it is.  So the change is counted, once for the whole process, and each
 * worker that finds another count on its next pick looks through its own queues
 * and moves what has another level than its place.  That is a load per pick for
 * everybody, and the work is done for those who change levels of ready tasks.  A
 * thief that robs a worker which has not looked yet has to look itself.
 *
 * Not seen is a task that somebody queues with its old level just when it
 * changes, in the lane or by wake-up: the new level counts when it is taken
 * from there, or the next time.  Nor is one that is stolen twice: a thief says
 * only after it has filled its ring that what is there may be out of order, and
 * who robs it before that believes it is in order.
 *
 * Edges:
 *
 *   P1  a setter counts its change -> a worker loads the count : the level
 *   P2  see core/sched/worker.h
 *
 * Rejected: a task that names its queue, whatever it is.  Rings and push lists
 * let nobody take out of the middle, and each move from one to the next would
 * be a store.
 */
#include "core/sched/place.h"

struct level_changes sley__level_changes;

/* Could it be in a queue other than the shared one? */
static bool may_be_queued(const struct sley_task *task)
{
	struct worker *worker = worker_current();

	switch (task_state_of(task_load(task))) {
	case TASK_READY:
		return true;
	case TASK_RUNNING: /* perhaps it has yielded */
		return !worker || worker->strand->task != task;
	default:
		return false;
	}
}

void place_set_level(struct sley_task *task, unsigned int level)
{
	do {
		if (runq_move(task, level))
			return;
		task_set_level(task, level);
		if (!may_be_queued(task))
			return;
		/* Is it being queued there, perhaps by its old level? */
		runq_settle();
	} while (task_queued_tag(task) != RUNQ_NO_TAG);
	(void)add_release(&sley__level_changes.nr, 1); /* P1 */
}

/* ---- after levels have changed ---------------------------------------------- */

/* To a later list: it is looked at once more, in its place. */
static void resort_ready(struct levels *ready)
{
	for (unsigned int level = 0; level < NR_LEVELS; level++) {
		struct sley_task *task = ready->fifo[level].first, *next;

		for (; task; task = next) {
			unsigned int now = task_level(task);

			next = task->next;
			if (now == level)
				continue;
			levels_remove(ready, task, level);
			levels_push(ready, task, now);
		}
	}
}

static void resort_fresh(struct worker *worker)
{
	struct sley_task *task = worker->fresh.first, *next;

	for (; task; task = next) {
		unsigned int level = task_level(task);

		next = task->next;
		if (level == LEVEL_DEFAULT)
			continue;
		fifo_remove(&worker->fresh, task);
		levels_push(&worker->ready, task, level);
	}
}

void place_resort(struct worker *worker)
{
	uint32_t changes = load_acquire(&sley__level_changes.nr); /* P1 */
	struct sley_task *task;

	/* relaxed: only this worker writes it. */
	if (changes == load_relaxed(&worker->changes))
		return;
	resort_ready(&worker->ready);
	resort_fresh(worker);
	place_turn_ring(worker);
	task = next_take(&worker->next);
	place_batch(worker, &task, task ? 1 : 0);
	task = node_task(push_list_take_all(&worker->lane));
	place_chain(worker, task);
	store_release(&worker->changes, changes); /* P2 */
}
