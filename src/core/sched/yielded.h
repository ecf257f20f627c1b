/* SPDX-License-Identifier: MIT */
/*
 * yielded.h - a task that has yielded goes behind all ready tasks.
 *
 * The task stays RUNNING, and waits in the ready list of its worker and level,
 * behind the tasks that are there.  But ready tasks are in other queues, too, which
 * the worker looks at only if that list is empty.  So when the yielded task has come
 * to the head of the list, the worker draws a line: all tasks that are in the other
 * queues now go before the yielded task, and no task that comes later.  Of these
 * queues the ring, the shared queue and its spill have an order, and the line is a
 * place in each of the three.  For the others no line is needed:
 *
 *   fresh list   appended to the ready list, before the task that yields
 *   next slot    taken when the line is drawn
 *   lane         put into the ring before the line is drawn
 *   forked children of suspended parents: their number is not known, and
 *                each may fork more.  One of them goes before the task.
 *
 * So the wait of a task that has yielded is bounded by the tasks that were there.
 * (Tasks that leave the ring for the spill, because the ring is full, take the line
 * with them; that ends when the line in the ring is passed.)
 *
 * A worker's word `yielded` says that there may be such a task in its ready lists:
 * a worker without yielded tasks pays for one look at the word.
 *
 * Nothing here is shared: the lines are the worker's own, and the counts of the
 * shared queue are hints (core/sched/runq.h).
 *
 * Rejected: a list of yielded tasks behind all others (while two tasks wake each
 * other, or one spawns the next, that list would be looked at on fair picks only);
 * the tail of the shared queue, as Go has it (most tasks may not move, and a lock
 * for each yield); to draw the line at the yield (each yielded task that waits would
 * have to be found when the ring is emptied into the shared queue).
 */
#ifndef SLEY_CORE_SCHED_YIELDED_H
#define SLEY_CORE_SCHED_YIELDED_H

#include "core/sched/worker.h"

/*
 * The strand of @task, which is in a ready list, if @task has yielded; or NULL.
 * A task that comes back from a blocking region is RUNNING, too, but has no line.
 */
static inline struct strand *yielded_strand(const struct sley_task *task)
{
	struct strand *strand = task_strand(task);

	if (!strand || task_state_of(task_load(task)) != TASK_RUNNING ||
	    strand->line.state == LINE_NEVER)
		return NULL;
	return strand;
}

/* The task on @strand, which was left, has yielded. */
static inline void yielded_put(struct worker *worker, struct strand *strand)
{
	unsigned int level = task_level(strand->task);

	strand->line.state = LINE_NONE;
	if (unlikely(worker->fresh.first) && level == LEVEL_DEFAULT)
		fifo_append(&worker->ready.fifo[level], &worker->fresh);
	levels_push(&worker->ready, strand->task, level);
	worker->yielded = true;
}

/*
 * The task on @strand, which was left, has given way to a more urgent task.  No
 * line: the task lets no task of its own level pass.
 */
static inline void yielded_put_first(struct worker *worker,
				     struct strand *strand)
{
	unsigned int level = task_level(strand->task);

	strand->line.state = LINE_NEVER;
	levels_push_first(&worker->ready, strand->task, level);
}

/* The first task of the ready list of @level, which is not empty. */
static inline struct sley_task *yielded_take(struct worker *worker,
					     unsigned int level)
{
	struct sley_task *task = fifo_take(&worker->ready.fifo[level]);

	if (!worker->ready.fifo[level].first) {
		worker->ready.bitmap &= ~(1ull << level);
		worker->yielded = worker->ready.bitmap;
	}
	levels_count(&worker->ready, -1u);
	return task;
}

/* The line of the default level, if a line is drawn; or NULL. */
static inline struct line *yielded_line(struct worker *worker)
{
	const struct sley_task *task = worker->ready.fifo[LEVEL_DEFAULT].first;
	struct strand *strand;

	if (likely(!worker->yielded) || !task)
		return NULL;
	strand = yielded_strand(task);
	if (!strand || strand->line.state != LINE_DRAWN + LEVEL_DEFAULT)
		return NULL;
	return &strand->line;
}

/* So many tasks are before the line in the ring, where @head is the first task. */
static inline uint32_t line_left(const struct line *line, uint64_t head)
{
	uint32_t left = line->ring - (uint32_t)head;

	return (int32_t)left > 0 ? left : 0;
}

/* The oldest @nr tasks of the ring have gone to the end of the spill. */
static inline void yielded_spilled(struct worker *worker, uint32_t nr)
{
	struct line *line = yielded_line(worker);

	if (line && line_left(line, ring_head(&worker->ring) - nr))
		line->spill = runq_pushed(&worker->rt->runq, RUNQ_SPILL);
}

/* So many tasks of the ring are before the line. */
static inline uint32_t yielded_left(struct worker *worker)
{
	const struct line *line = yielded_line(worker);

	return line ? line_left(line, ring_head(&worker->ring)) : 0;
}

/* The ring was turned: the first of these tasks are now where @tail was. */
static inline void yielded_turned(struct worker *worker, uint64_t tail,
				  uint32_t left)
{
	struct line *line = yielded_line(worker);

	if (line && left)
		line->ring = (uint32_t)tail + left;
}

#endif
