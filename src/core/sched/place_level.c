/* SPDX-License-Identifier: MIT */
/*
 * place_level.c - the level of a task changes, wherever the task is.
 *
 * In the shared queue the task moves, exactly and at once; if a worker is moving
 * the task there from somewhere else, the setter waits for that worker.  Tasks
 * queued elsewhere are in lists that only a single worker may touch, or behind
 * others in a ring, and do not know where they are.  So the change is counted, once
 * for the whole process.  Each worker that finds another count on its next pick
 * looks through its own queues and moves the tasks that are in the wrong place for
 * their level.  So every worker pays a load per pick, and only a program that
 * changes levels of ready tasks pays for the rest.  A thief that robs a worker which
 * has not looked yet has to look itself.
 *
 * A level that is lent (core/wait/loan.h) changes more often, and is not counted: a
 * worker that holds the lent task in its ready levels is told, by the level of the list
 * in its word `lent`, and looks through that list alone.
 *
 * Two cases are missed.  A waker or submitter may queue a task with its old level,
 * in the lane or by wake-up, just when the level changes: the new level counts when
 * the task is taken from there, or the next time.  And a task may be stolen twice:
 * a thief says only after it has filled its ring that the tasks there may be out
 * of order, and a second thief that robs it before that believes they are in order.
 *
 * Edges:
 *
 *  PL1  a setter counts its change -> a worker loads the count : the level
 *  PL2  a lender marks the old level -> the home takes the marks : the level
 *   P2  see core/sched/worker.h
 *   P3  see core/sched/worker.h
 *
 * Rejected: a task that names its queue, whichever queue that is.  Nothing can be
 * taken out of the middle of a ring or a push list, and each move from one queue to
 * the next would be a store.
 */
#include "core/sched/place.h"

struct level_changes sley__level_changes;

/* Could @task be in a queue other than the shared queue? */
static bool may_be_queued(const struct sley_task *task)
{
	struct worker *worker = worker_current();

	switch (task_state_of(task_load(task))) {
	case TASK_READY:
		return true;
	case TASK_RUNNING: /* perhaps the task has yielded */
		return !worker || worker->strand->task != task;
	default:
		return false;
	}
}

/* True: @task may be in a queue of the other kinds, by its old level. */
static bool change(struct sley_task *task, unsigned int level)
{
	do {
		if (runq_move(task, level))
			return false;
		task_set_level(task, level);
		if (!may_be_queued(task))
			return false;
		/* Is @task being queued there, perhaps by its old level? */
		runq_settle();
	} while (task_queued_tag(task) != RUNQ_NO_TAG);
	return true;
}

void place_set_level(struct sley_task *task, unsigned int level)
{
	place_note_level(level);
	if (change(task, level))
		(void)add_release(&sley__level_changes.nr, 1); /* PL1 */
}

void place_lend(struct sley_task *task, unsigned int level)
{
	uint64_t lists = 1ull << task_level(task);
	const struct strand *strand;
	struct worker *home;

	if (!change(task, level))
		return;
	strand = task_seen_strand(task);
	if (strand) {
		home = strand_home(strand);
	} else {
		/* It has not started, and may have been lent levels before. */
		home = worker_current();
		lists = ~0ull;
	}
	if (!home)
		return;
	(void)or_release(&home->lent, lists); /* PL2 */
	/* Behind the levels: a worker that is asked finds them. */
	store_release(&home->poke, 1); /* P3 */
}

/* ---- after levels have changed ---------------------------------------------- */

/* A task that moves to a later list is looked at once more, in its place. */
static void resort_ready(struct levels *ready, uint64_t bits)
{
	for (; bits; bits &= bits - 1) {
		unsigned int level = (unsigned int)bits_first(bits);
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
		levels_count(&worker->ready, -1u);
		levels_push(&worker->ready, task, level);
	}
}

void place_resort(struct worker *worker)
{
	uint32_t changes = load_acquire(&sley__level_changes.nr); /* PL1 */
	struct sley_task *task;

	if (unlikely(place_was_lent(worker)))
		/* The levels of which a task was lent another. */
		resort_ready(&worker->ready,
			     xchg_acquire(&worker->lent, 0)); /* PL2 */
	/* relaxed: only this worker writes its count. */
	if (changes == load_relaxed(&worker->changes))
		return;
	resort_ready(&worker->ready, ~0ull);
	resort_fresh(worker);
	place_turn_ring(worker);
	task = next_take(&worker->next);
	place_batch(worker, &task, task ? 1 : 0);
	task = place_take_lane(worker);
	place_chain(worker, task);
	store_release(&worker->changes, changes); /* P2 */
}
