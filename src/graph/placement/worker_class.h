/* SPDX-License-Identifier: MIT */
/*
 * worker_class.h - a named set of workers, and the queue of the nodes that any of
 * them may run.
 *
 * A node of a class that misses nobody is put into the queue of its class: the most
 * urgent one is the first, and among those of one priority it is the one that came
 * first.  No worker looks there by itself.  Each worker of the class has a *runner*, a
 * task in turns (core/task/turn.h) that only it may run and that does nothing; but what
 * comes after its turn is a node out of the queue, which the worker runs next.  So a
 * node is given to the first worker of the class that is free, never to one that is
 * busy, and a worker that is in no class knows nothing of all this.
 *
 * Who puts a node in calls workers, by queueing their runners, each at one worker at
 * most once at a time:
 *
 *      put:     lock, queue the node, unlock;
 *               one that sleeps: call it, and that was all if it was really asleep;
 *               nobody sleeps: call all of them
 *      after:   lock, take the best node; more are left: stay called, else not;
 *               unlock; run the node
 *
 * A worker that is woken by its call does nothing else before: the call is of the
 * highest level, and takes any node.  So each of them takes a node, if one is left,
 * and there are two cases: as many workers are waking up as there are nodes in the
 * queue, or all workers of the class are called.  In both no worker of the class is
 * free while a node is in the queue, and a node that blocks or goes on for long holds
 * up nobody.
 *
 * Otherwise a call is of the level of the best node when it was made, and is raised
 * if a better one comes.  If only less urgent ones are left when its turn comes, it
 * is put back to where these belong.
 *
 * A worker that ends a node may keep one that misses nobody any more, as with nodes
 * that any worker may run, if it is of that one's class and nobody is in the queue.
 *
 * The end.  A worker that is busy may have its call for long after the last node has
 * ended, and the graph is gone.  The graph does not wait for that: the class is closed,
 * and freed by the last one that was called.  From the closing on the runtime waits
 * for it as for a task.  Who puts a node in is waited for: it is about to leave.
 *
 * Edges:
 *
 *   W1  who puts a node in is done -> who closes sees nobody : the class is not
 *       touched any more
 *
 * Rejected: a worker that is chosen when the node is ready, as nodes with a mask have
 * it (one that turns out to be busy holds the node up while others are free); workers
 * that look into the queues of their classes (a look for each pick of every worker,
 * for the few that are in any); waking all that sleep for each node; a destroy that
 * waits for all runners (for as long as anything else in the runtime may run).
 */
#ifndef SLEY_GRAPH_PLACEMENT_WORKER_CLASS_H
#define SLEY_GRAPH_PLACEMENT_WORKER_CLASS_H

#include "core/sched/levels.h"
#include "core/sched/worker.h"
#include "graph/placement/placement.h"

struct runner {
	struct sley_task task;
	struct worker_class *class;
	struct worker *worker; /* whose it is                               */
	bool called;           /* it is in a queue, or will be (lock)       */
};

struct worker_class {
	struct sley *rt;
	const char *name;
	uint32_t nr_words;
	uint32_t nr;       /* of runners; none if threads are bound        */
	uint64_t *workers; /* a bit for each                               */
	struct runner *runner;
	cache_aligned struct spinlock lock;
	bool closed;         /* (lock)                                    */
	uint32_t nr_called;  /* (lock)                                    */
	uint32_t nr_putting; /* are about to put a node in, or to call    */
	struct levels ready; /* nodes (lock)                              */
	struct placement placement; /* of all nodes that want nothing else      */
};

/* All of a graph. */
struct worker_classes {
	uint32_t nr;
	struct worker_class *class[];
};

/* NULL in *@out if there are none.  0, -EINVAL, -ENOMEM or SLEY_EAFFINITY. */
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

/* The @number-th from 1 on; NULL: there is none. */
static inline struct worker_class *
worker_classes_find(const struct worker_classes *classes, uint32_t number)
{
	return classes && number && number <= classes->nr
		       ? classes->class[number - 1]
		       : NULL;
}

/* May @worker, which is free, go on with a node of @class that nobody has? */
bool worker_class_lets_keep(struct worker_class *class,
			    const struct worker *worker);

/* A node of @class misses nobody. */
void worker_class_put(struct worker_class *class, struct sley_task *node);

#endif
