/* SPDX-License-Identifier: MIT */
/*
 * classes.h - the classes of workers of a graph, by number.
 *
 * A class is a set of workers with a queue (core/sched/worker_class.h).  All nodes that
 * ask for a class, and for nothing else, share one placement, which names the class.
 */
#ifndef SLEY_GRAPH_PLACEMENT_CLASSES_H
#define SLEY_GRAPH_PLACEMENT_CLASSES_H

#include "core/sched/worker_class.h"
#include "graph/placement/placement.h"

struct classes {
	uint32_t nr;
	struct placement *placement[]; /* of the nodes of each class */
};

/* NULL in *@out if there are no classes.  0, -EINVAL, -ENOMEM or SLEY_EAFFINITY. */
must_check int classes_create_slow(struct classes **out, struct sley *rt,
				   const struct sley_graph_options *options);

static inline must_check int
classes_create(struct classes **out, struct sley *rt,
	       const struct sley_graph_options *options)
{
	*out = NULL;
	if (likely(!options->nr_classes))
		return 0;
	return classes_create_slow(out, rt, options);
}

/* All nodes have ended.  NULL is fine. */
void classes_close(struct classes *classes, struct sley *rt);

/* The placement of the class @number, from 1 on; NULL: there is no such class. */
static inline struct placement *classes_find(const struct classes *classes,
					     uint32_t number)
{
	return classes && number && number <= classes->nr
		       ? classes->placement[number - 1]
		       : NULL;
}

#endif
