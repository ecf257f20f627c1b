/* SPDX-License-Identifier: MIT */
/*
 * placement.h - nodes that are particular about who runs them.
 *
 * Such a node runs on a worker that is chosen when it misses nobody any more: the
 * one it wants, or one that is eligible, best the one that is here, or one that
 * sleeps.  From then on it is that worker's.  Nobody else waits for it: a worker
 * that is busy holds up its own nodes only.  But one that wants a worker of a class,
 * and nothing else, goes to the first one that is free: see worker_class.h.
 *
 * A gang is one node and several tasks, its members.  Each is queued at a worker of
 * its own.  A member that comes first waits for the others as tasks wait, and its
 * worker goes on with other work; so nothing is reserved, a gang holds up nobody,
 * and is held up by nobody for longer than what runs already.  The last one to come
 * lets all of them start, the last one to end ends the node.  A gang that is cancelled
 * before all members are there is skipped by all of them: see gang.c.
 *
 * A node that runs on an endpoint (endpoint.h) is not particular about its worker,
 * which only waits for it.  What the endpoint had to say is kept, as long as the node
 * is: that is why a node that has failed keeps its placement.
 *
 * Rejected: workers that are reserved for the gang at the head of a queue (those that
 * wait for something queued behind it wait for ever).
 */
#ifndef SLEY_GRAPH_PLACEMENT_PLACEMENT_H
#define SLEY_GRAPH_PLACEMENT_PLACEMENT_H

#include "graph/node/node.h"

#define GANG_BEGUN 1u     /* the tasks of its members are built           */
#define GANG_CANCELLED 2u /* nobody wants it                               */
#define GANG_STARTED 4u   /* all members were there, and it was wanted     */

struct gang_member {
	struct sley_task task;
	struct node *node;
	uint32_t index;
};

struct worker;
struct worker_class;

struct placement {
	struct worker_class *class; /* NULL, or this is one for all its nodes  */
	uint32_t affinity; /* 1 + the worker, or 0                           */
	uint32_t gang;     /* members, or 0                                  */
	uint32_t nr_words;
	uint32_t word;    /* GANG_BEGUN, GANG_CANCELLED, GANG_STARTED       */
	uint32_t nr_left; /* members that have not ended                    */
	int32_t code;     /* of the first one to fail                       */
	struct sley_waitq coming; /* members that are not there yet          */
	uint64_t *eligible; /* or NULL: all; behind the members              */
	struct sley_endpoint *on; /* or NULL: a worker                       */
	struct endpoint_end *end; /* of it, behind all others                */
	uint32_t arg_size;        /* of its argument, if that is by value    */
	struct gang_member member[];
};

/* Is bit @worker among the @nr words, or are there none? */
static inline bool mask_has(const uint64_t *words, uint32_t nr, uint32_t worker)
{
	return !words ||
	       (worker / 64 < nr && (words[worker / 64] >> worker % 64 & 1));
}

/* What @spec asks for: NULL in *@out if that is nothing.  0 or an error. */
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

/* Does it matter which worker has the node? */
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

/* @node, which has a placement, misses nobody: it is queued where it belongs. */
void placement_ready(struct node *node);

#endif
