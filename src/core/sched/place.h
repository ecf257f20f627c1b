/* SPDX-License-Identifier: MIT */
/*
 * place.h - where a task goes that became ready.
 *
 * place.c queues tasks, place_level.c moves queued tasks when their priority
 * changes.
 */
#ifndef SLEY_CORE_SCHED_PLACE_H
#define SLEY_CORE_SCHED_PLACE_H

#include "core/sched/overtake.h"
#include "core/sched/worker.h"

/* As push lists have it. */
static inline struct push_node *task_node(struct sley_task *task)
{
	return (struct push_node *)(void *)task;
}

static inline struct sley_task *node_task(struct push_node *node)
{
	return (struct sley_task *)(void *)node;
}
_Static_assert(offsetof(struct sley_task, next) == 0,
	       "a task is a push_node by its first member");

/* Queue a new task from this worker. */
void place_spawned(struct worker *worker, struct sley_task *task);

/* Queue a task that any worker may run in the shared queue. */
void place_shared(struct worker *worker, struct sley_task *task);

/* Queue a new task from a thread that is no worker of @rt. */
void place_foreign(struct sley *rt, struct sley_task *task);

/*
 * Queue a new task, which any worker may run, where @worker finds it first, and wake
 * @worker if it sleeps.  From any thread that keeps the runtime, which has workers,
 * alive.  A worker without work may steal the task.
 */
void place_toward(struct worker *worker, struct sley_task *task);

/* Of place_move(): may @task, which is in no queue now, go to another worker? */
typedef bool place_may_move(void *arg, const struct sley_task *task);

/*
 * Takes the oldest task that @may allows from the lane of @from, or else the oldest
 * task from its ring, and queues the task toward @to.  Tasks that @may refuses stay in
 * the lane of @from.  From any thread that keeps the runtime, which has workers,
 * alive.  False: no task was moved.
 */
bool place_move(struct worker *from, struct worker *to, place_may_move *may,
		void *arg);

/* Queue a new task that spawn_accept() took earlier; from any thread. */
void place_accepted(struct sley_task *task);

/*
 * Queue a new task that @home is to run, as a thread of no worker does.  True:
 * @home slept, and this call woke it.
 */
bool place_at(struct worker *home, struct sley_task *task);

/* Queue a task that only @worker, the caller, may run. */
static inline void place_ready(struct worker *worker, struct sley_task *task,
			       unsigned int level)
{
	levels_push(&worker->ready, task, level);
	if (unlikely(overtake_is_urgent(level))) {
		worker_publish_levels(worker);
		overtake_ask_self(worker);
	}
}

/* The same for a task that does not simply go to the caller's ready levels. */
void task_enqueue_elsewhere(struct sley_task *task);

/* Queue a task whose wait was decided: DECIDED_QUEUE. */
static inline void task_enqueue(struct sley_task *task)
{
	struct worker *worker = worker_current();
	struct strand *strand = task_strand(task);
	uint32_t flags = task_flags(task);

	/* A plain thread has no strand. */
	if (likely(worker && strand && !(flags & TASK_MIGRATABLE)) &&
	    strand->home == worker)
		place_ready(worker, task, task_level_of(flags));
	else
		task_enqueue_elsewhere(task);
}

/* The same for a chain linked by ->next. */
void task_enqueue_chain(struct sley_task *chain);

/* Take all from the home list into worker->ready. */
void place_arrivals(struct worker *worker);

/* All tasks of the lane of @victim, from any worker; NULL: none. */
static inline struct sley_task *place_take_lane(struct worker *victim)
{
	struct sley_task *task = node_task(push_list_take_all(&victim->lane));
	uint32_t nr = 0;

	for (const struct sley_task *each = task; each; each = each->next)
		nr++;
	gauge_less(&victim->nr_lane, nr);
	return task;
}

/*
 * @worker, the caller, has other work than the tasks from outside in its lane: they
 * go to the shared queue.
 */
void place_lane(struct worker *worker);

/*
 * Queue stealable tasks that were taken out of another queue, by their levels, and
 * let others know.
 */
void place_batch(struct worker *worker, struct sley_task *const *task,
		 unsigned int nr);

/* The same for a chain linked by ->next, which may be NULL. */
void place_chain(struct worker *worker, struct sley_task *chain);

/*
 * A task that was taken by itself, from a source of the default level.  If the
 * task has another level, because its level has changed or is its parent's, the
 * task takes its turn there.
 */
static inline struct sley_task *place_other_levels(struct worker *worker,
						   struct sley_task *task)
{
	if (likely(!task || task_level(task) == LEVEL_DEFAULT))
		return task;
	place_spawned(worker, task);
	return NULL;
}

/* One task from the lane of @victim; the rest goes to the ring of @worker, the caller. */
static inline struct sley_task *place_rob_lane(struct worker *worker,
					       struct worker *victim)
{
	struct sley_task *task = place_take_lane(victim);

	if (task)
		place_chain(worker, task->next);
	return task;
}

/* The same for all tasks in the ring: tasks that stay there keep their order. */
void place_turn_ring(struct worker *worker);

/* Tasks were moved to the ring of @worker, the caller: let others know. */
void place_moved(struct worker *worker);

/* Change the level of a task, in any state and queue.  Any thread. */
void place_set_level(struct sley_task *task, unsigned int level);

/*
 * The same for a level that is lent or given back, with the lock of core/wait/loan.h:
 * no other worker than the task's own looks through its queues, and a task in a ring,
 * a lane or a next slot stays there.
 */
void place_lend(struct sley_task *task, unsigned int level);

/* Has a task ever had another level than the default?  Read by waits: it never ends. */
extern struct levels_differ {
	uint32_t yes;
} cache_aligned sley__levels_differ;

static inline bool place_levels_differ(void)
{
	/* relaxed: the queue that gave the caller its level publishes it. */
	return load_relaxed(&sley__levels_differ.yes);
}

static inline void place_note_level(unsigned int level)
{
	if (level != LEVEL_DEFAULT && unlikely(!place_levels_differ()))
		/* relaxed: as above. */
		store_relaxed(&sley__levels_differ.yes, 1);
}

/*
 * How often the level of a task that may be queued was changed.  Read on every
 * pick: alone in its cache line.
 */
extern struct level_changes {
	uint32_t nr;
} cache_aligned sley__level_changes;

/* Should @worker look through its queues? */
static inline bool place_has_changed(const struct worker *worker)
{
	/* relaxed: a glance, place_resort() looks again; and the worker's own. */
	return load_relaxed(&sley__level_changes.nr) !=
	       load_relaxed(&worker->changes);
}

/* Is there a task in the ready levels of @worker that was lent another level? */
static inline bool place_was_lent(const struct worker *worker)
{
	/* relaxed: a glance, place_resort() takes it. */
	return load_relaxed(&worker->lent);
}

/* If levels have changed: put the queued tasks of @worker where they belong. */
void place_resort(struct worker *worker);

#endif
