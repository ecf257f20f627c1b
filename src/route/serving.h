/* SPDX-License-Identifier: MIT */
/*
 * serving.h - in which containers the caller is: code of a module runs for them.
 *
 * A control call that waits until a container is empty never returns if its caller is a
 * method of this container.  So the library keeps a list for each task, and for each plain
 * thread: a method, create() or upgrade() adds its container while it runs, and the
 * control calls look there, and return -EDEADLK.  A method that runs on the stack of its
 * submitter is within the method of the submitter: the list has both.
 *
 * The entries are on the stacks of the callers.  A task keeps them in the list of its
 * cleanups (core/task/cleanup.h), where they are found by their function: so a strand has
 * no field more.  A plain thread has a list of its own.  Only the task, or the thread,
 * uses the list.
 *
 * Not noticed is a method that waits for another task, which waits for the method: a
 * request in a task of its own, or a thread.  A deadline ends that wait.
 *
 * Rejected: to look at the request of the calling task (a method on the stack of its
 * submitter has none); to count waits in a graph, as locks with deadlock detection do (a
 * cost for each wait, for a mistake that a deadline bounds).
 */
#ifndef SLEY_ROUTE_SERVING_H
#define SLEY_ROUTE_SERVING_H

#include "core/sched/worker.h"
#include "core/task/cleanup.h"
#include "route/pool.h"

struct serving {
	struct cleanup cleanup;
	const struct sley_container *container;
	struct strand *strand; /* of the task; NULL: of a plain thread         */
};

/* Marks an entry.  It is called only if a method never returns to the library. */
void serving_mark(struct cleanup *cleanup);

/* The same of a plain thread, whose address no function keeps over code of a module. */
void serving_begin_thread(struct serving *here);
void serving_end_thread(const struct serving *here);

/* @here stays until serving_end(). */
static inline void serving_begin(struct serving *here,
				 const struct sley_container *container)
{
	here->container = container;
	here->strand = strand_current();
	if (likely(here->strand))
		cleanup_add(&here->strand->cleanups, &here->cleanup,
			    serving_mark);
	else
		serving_begin_thread(here);
}

static inline void serving_leave(struct cleanup **link,
				 const struct serving *here)
{
	while (unlikely(*link !=
			&here->cleanup)) /* what the method has added */
		link = &(*link)->next;
	*link = here->cleanup.next;
}

/* The strand goes with the task, and a plain thread stays one. */
static inline void serving_end(const struct serving *here)
{
	if (likely(here->strand))
		serving_leave(&here->strand->cleanups, here);
	else
		serving_end_thread(here);
}

/* Is the caller in @container?  In a container of the pool, or of the router? */
must_check bool serving_container(const struct sley_container *container);
must_check bool serving_pool(const struct sley_pool *pool);
must_check bool serving_router(const struct sley_router *router);

#endif
