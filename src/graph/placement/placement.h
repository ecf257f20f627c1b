/* SPDX-License-Identifier: MIT */
/*
 * placement.h - nodes with conditions on the worker that runs them.
 *
 * Such a node gets a worker when it is ready: the worker that it names, or an
 * eligible worker, at best the current worker, or a worker that sleeps.  From then
 * on the node belongs to that worker.  A busy worker holds up only its own nodes.
 * But a node that asks for a class of workers, and nothing else, goes to the first
 * free worker of the class: see core/sched/worker_class.h.
 *
 * A gang is one node and several tasks, its members.  Each member is queued at a
 * different worker.  A member that comes early waits for the others as tasks wait,
 * and its worker goes on with other work.  So no worker is reserved, a gang holds up
 * no other task, and is held up by no task for longer than tasks that run already.
 * The last member to come lets all of them start, the last member to end ends the
 * node.  A gang that is cancelled before all members are there is skipped by all of
 * them: see gang.c.
 *
 * A node that runs on an endpoint (endpoint.h) may have any worker, which only waits
 * for the endpoint.  The text from the endpoint is kept as long as the node: that is
 * why a failed node keeps its placement.
 *
 * Rejected: workers that are reserved for the gang at the head of a queue (a
 * deadlock, if a running task waits for another that is queued behind the gang).
 */
#ifndef SLEY_GRAPH_PLACEMENT_PLACEMENT_H
#define SLEY_GRAPH_PLACEMENT_PLACEMENT_H

#include "graph/node/node.h"

#define GANG_BEGUN 1u     /* the members' tasks are built                 */
#define GANG_CANCELLED 2u /* the gang is cancelled                         */
#define GANG_STARTED 4u   /* all members came, not cancelled               */

struct gang_member {
	struct sley_task task;
	struct node *node;
	uint32_t index;
};

struct worker;
struct worker_class;

struct placement {
	struct worker_class *class; /* or NULL; shared by its nodes */
	uint32_t affinity; /* 1 + the worker, or 0                           */
	uint32_t gang;     /* number of members, or 0                        */
	uint32_t nr_words;
	uint32_t word;    /* GANG_BEGUN, GANG_CANCELLED, GANG_STARTED       */
	uint32_t nr_left; /* members that have not ended                    */
	int32_t code;     /* of the first member that failed                */
	struct sley_waitq coming; /* members that have not come              */
	uint64_t *eligible; /* NULL: all workers; behind the members         */
	struct sley_endpoint *on; /* NULL: a worker                          */
	struct endpoint_end *end; /* result of on, behind all else           */
	uint32_t arg_size;        /* of an argument by value                 */
	struct gang_member member[];
};

/* The placement for @spec; NULL in *@out: no conditions.  0 or an error. */
must_check int placement_create_slow(struct placement **out,
				     struct sley_graph *graph,
				     const struct sley_node_spec *spec);

static inline must_check int placement_create(struct placement **out,
					      struct sley_graph *graph,
					      const struct sley_node_spec *spec)
{
	*out = NULL;
	if (likely(!spec->eligible && !spec->affinity && spec->gang < 2 &&
		   !spec->worker_class && !spec->on))
		return 0;
	return placement_create_slow(out, graph, spec);
}

void placement_free(struct placement *placement, struct sley *rt);

/* Does the node have conditions on its worker? */
static inline bool placement_matters(const struct node *node)
{
	return unlikely(node->placement) && !node->placement->on;
}

/* In place of turn_may_keep(): may after() return @node, which has a placement? */
bool placement_may_keep_slow(struct worker *worker, const struct node *node);

static inline bool placement_may_keep(struct worker *worker,
				      const struct node *node)
{
	return unlikely(node->placement) &&
	       placement_may_keep_slow(worker, node);
}

/* Queues @node, which has a placement and is ready, where it belongs. */
void placement_ready(struct node *node);

#endif
