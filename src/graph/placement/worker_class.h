/* SPDX-License-Identifier: MIT */
/*
 * worker_class.h - a named set of workers, and the queue of nodes for any of them.
 *
 * A ready node of a class is put into the queue of the class.  The most urgent node
 * comes first; among nodes of the same priority, the oldest.  No worker looks into
 * the queue by itself.  Each worker of the class has a *runner*, a task in turns
 * (core/task/turn.h) that only this worker may run.  The turn of a runner does
 * nothing, but the task after it is a node from the queue, which the worker runs
 * next.  So a node goes to the first free worker of the class, never to a busy
 * worker, and workers outside of the class have no extra work.
 *
 * A put calls workers, by queueing their runners.  A worker has at most one call at
 * a time:
 *
 *      put:     lock, queue the node, unlock;
 *               a worker sleeps: call it, and return if it was really asleep;
 *               no worker sleeps: call all workers
 *      after:   lock, take the best node; more are left: stay called, else not;
 *               unlock; run the node
 *
 * A worker that is woken by its call does nothing else before: the call has the
 * highest level, and takes any node.  So each woken worker takes a node, if any is
 * left.  There are two cases: as many workers are waking up as there are nodes in
 * the queue, or all workers of the class are called.  In both cases no worker of the
 * class is free while a node is in the queue, and a node that blocks or runs for
 * long holds up no other node.
 *
 * Otherwise a call has the level of the best node at that time, and is raised if a
 * better node comes.  If only less urgent nodes are left when its turn comes, the
 * runner is queued again at their level.
 *
 * A worker that ends a node may keep a ready successor of a class, as it keeps nodes
 * for any worker, if the worker is in that class and the queue of the class is
 * empty.
 *
 * The end.  A busy worker may have its call until long after the last node has ended
 * and the graph is gone.  The graph does not wait for that.  The class is closed,
 * and the last called worker frees it.  From the closing on the runtime waits for
 * the class as for a task.  The closer waits for puts, which are about to return.
 *
 * Edges:
 *
 *   WC1  a put is done -> the closer sees no put : the class is not touched any more
 *
 * Rejected: to choose a worker when the node is ready, as for nodes with a mask (a
 * worker that turns out to be busy holds the node up while others are free); workers
 * that look into the queues of their classes (a look for each pick of every worker,
 * for the few workers in a class); waking all sleeping workers for each node; a
 * destroy that waits for all runners (for as long as any other task in the runtime
 * may run).
 */
#ifndef SLEY_GRAPH_PLACEMENT_WORKER_CLASS_H
#define SLEY_GRAPH_PLACEMENT_WORKER_CLASS_H

#include "core/sched/levels.h"
#include "core/sched/worker.h"
#include "graph/placement/placement.h"

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
	struct levels ready; /* nodes (lock)                              */
	struct placement placement; /* of nodes without other conditions        */
};

/* All classes of a graph. */
struct worker_classes {
	uint32_t nr;
	struct worker_class *class[];
};

/* NULL in *@out if there are no classes.  0, -EINVAL, -ENOMEM or SLEY_EAFFINITY. */
must_check int
worker_classes_create_slow(struct worker_classes **out, struct sley *rt,
			   const struct sley_graph_options *options);

static inline must_check int
worker_classes_create(struct worker_classes **out, struct sley *rt,
		      const struct sley_graph_options *options)
{
	*out = NULL;
	if (likely(!options->nr_classes))
		return 0;
	return worker_classes_create_slow(out, rt, options);
}

/* All nodes have ended.  NULL is fine. */
void worker_classes_close(struct worker_classes *classes, struct sley *rt);

/* The class with @number, from 1 on; NULL: there is no such class. */
static inline struct worker_class *
worker_classes_find(const struct worker_classes *classes, uint32_t number)
{
	return classes && number && number <= classes->nr
		       ? classes->class[number - 1]
		       : NULL;
}

/* May @worker, which is free, keep a ready node of @class? */
bool worker_class_lets_keep(struct worker_class *class,
			    const struct worker *worker);

/* Queues a ready node of @class. */
void worker_class_put(struct worker_class *class, struct sley_task *node);

#endif
