/* SPDX-License-Identifier: MIT */
/*
 * worker_class.h - a named set of workers, and the queue of tasks for any of them.
 *
 * A ready task of a class is put into the queue of the class.  The most urgent task
 * comes first; among tasks of the same priority, the oldest.  No worker looks into
 * the queue by itself.  Each worker of the class has a *runner*, a task in turns
 * (core/task/turn.h) that only this worker may run.  The turn of a runner does
 * nothing, but the task after it is one from the queue, which the worker runs next.
 * So a task goes to the first free worker of the class, never to a busy worker, and
 * workers outside of the class have no extra work.
 *
 * A put calls workers, by queueing their runners.  A worker has at most one call at
 * a time:
 *
 *      put:     lock, queue the task, unlock;
 *               a worker sleeps: call it, and return if it was really asleep;
 *               no worker sleeps: call all workers
 *      after:   lock, take the best task; more are left: stay called, else not;
 *               unlock; run the task
 *
 * A worker that is woken by its call does nothing else before: the call has the
 * highest level, and takes any task.  So each woken worker takes a task, if any is
 * left.  There are two cases: as many workers are waking up as there are tasks in
 * the queue, or all workers of the class are called.  In both cases no worker of the
 * class is free while a task is in the queue, and a task that blocks or runs for
 * long holds up no other task.
 *
 * Otherwise a call has the level of the best task at that time, and is raised if a
 * better task comes.  If only less urgent tasks are left when its turn comes, the
 * runner is queued again at their level.
 *
 * A worker that ends a task may keep a ready successor of a class, as it keeps tasks
 * for any worker, if the worker is in that class and the queue of the class is
 * empty.
 *
 * The end.  A busy worker may have its call until long after the last task has ended
 * and the owner of the class is gone.  The owner does not wait for that.  The class is
 * closed, and the last called worker frees it.  From the closing on the runtime waits for
 * the class as for a task.  The closer waits for puts, which are about to return.
 *
 * Edges:
 *
 *   WC1  a put is done -> the closer sees no put : the class is not touched any more
 *
 * Rejected: to choose a worker when the task is ready, as for graph nodes with a mask
 * (a worker that turns out to be busy holds the task up while others are free); workers
 * that look into the queues of their classes (a look for each pick of every worker,
 * for the few workers in a class); waking all sleeping workers for each task; a
 * destroy that waits for all runners (for as long as any other task in the runtime
 * may run).
 */
#ifndef SLEY_CORE_SCHED_WORKER_CLASS_H
#define SLEY_CORE_SCHED_WORKER_CLASS_H

#include "core/sched/levels.h"
#include "core/sched/worker.h"

struct runner {
	struct sley_task task;
	struct worker_class *class;
	struct worker *worker; /* its owner                                 */
	bool called;           /* in a queue, or about to be (lock)         */
};

struct worker_class {
	struct sley *rt;
	const char *name;
	uint32_t nr_words;
	uint32_t nr;       /* runners; 0 if threads are bound              */
	uint64_t *workers; /* bits                                         */
	struct runner *runner;
	cache_aligned struct spinlock lock;
	bool closed;         /* (lock)                                    */
	uint32_t nr_called;  /* (lock)                                    */
	uint32_t nr_putting; /* puts that have not returned               */
	struct levels ready; /* tasks (lock)                              */
};

/* Is bit @worker set in the @nr words?  Without words all bits are set. */
static inline bool mask_has(const uint64_t *words, uint32_t nr, uint32_t worker)
{
	return !words ||
	       (worker / 64 < nr && (words[worker / 64] >> worker % 64 & 1));
}

/*
 * The class of the workers of @rt whose bits are set in the @nr_words words @workers;
 * NULL: all workers.  @name is borrowed; NULL: none.  0, -ENOMEM, or SLEY_EAFFINITY:
 * there is no such worker.
 */
must_check int worker_class_create(struct worker_class **out, struct sley *rt,
				   const char *name, const uint64_t *workers,
				   uint32_t nr_words);

/* All tasks of the class have ended.  Does not wait for its workers. */
void worker_class_close(struct worker_class *class);

static inline bool worker_class_has(const struct worker_class *class,
				    uint32_t worker)
{
	return mask_has(class->workers, class->nr_words, worker);
}

/* May @worker, which is free, keep a ready task of @class? */
bool worker_class_lets_keep(struct worker_class *class,
			    const struct worker *worker);

/* Queues a ready task of @class, which has workers that are no bound threads. */
void worker_class_put(struct worker_class *class, struct sley_task *task);

#endif
