/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a graph as it was recorded, and the runs of it.
 *
 * While it is recorded a plan is two arrays that grow: the nodes, and the edges in
 * the order in which they were found.  Sealing sorts the edges by who they come from,
 * so that the consumers of a node are a slice of one array (plan_seal.c).  Nothing of
 * that changes any more, and all runs read it.
 *
 * Node 0 is the beginning: all that wait for nobody wait for it.  So a run starts by
 * queueing one task, from any thread; and the number is free, since SLEY_NO_NODE is
 * 0, too.
 *
 * What changes in a run is in a struct replay (replay.h), one for each run that goes
 * on at the same time.  They are kept, so the next one needs no memory.
 *
 * The lock, a mutex, is for who begins or ends a run, who cancels, and who asks what
 * became of it.  Nodes never take it.
 */
#ifndef SLEY_GRAPH_PLAN_PLAN_H
#define SLEY_GRAPH_PLAN_PLAN_H

#include "base/list.h"
#include "core/sched/worker.h"
#include "graph/access/access.h"

#include <sley/plan.h>
#include <sley/sync.h>

#define PLAN_MAX_NODES (1u << 24)

/* A node as it was recorded. */
struct record {
	/* Its argument, if that is by value: aligned for whatever it is. */
	cache_aligned unsigned char value[SLEY_NODE_ARG_MAX];
	bool by_value;
	sley_node_fn *fn;
	void *arg;
	const char *name;
	int32_t priority;
	uint32_t first;        /* of its edges, in plan->edge               */
	uint32_t nr_edges;     /* that lead to others                       */
	uint32_t nr_producers; /* that lead here                            */
	uint32_t nr_missing;   /* while it is sealed, see plan_seal.c       */
	uint32_t via;          /* the same                                  */
	uint32_t at;           /* the same                                  */
};

/* An edge as it was recorded. */
struct link {
	uint32_t from;
	uint32_t to; /* and whether it is LINK_ORDER_ONLY */
};

#define LINK_ORDER_ONLY (1u << 31)

/*
 * The same in a plan that is sealed: how many nodes further on it leads, and whether
 * that is EDGE_ORDER only.  Wherever the nodes of a run are, one gets from itself to
 * its consumers by an addition.
 */
#define EDGE_ORDER 1u
#define EDGE_SHIFT 1

/* What became of a node that did not end well, in run number @run. */
struct verdict {
	uint64_t run;
	int32_t code;
	uint32_t cause;
	enum sley_outcome outcome;
};

struct sley_plan {
	struct sley *rt;
	const char *name;
	uint32_t nr_runs; /* that there is memory for, from the beginning    */
	bool sealed;
	uint32_t cycle; /* a node of it, or 0                               */
	uint32_t nr;    /* nodes, with the beginning                        */
	uint32_t max;
	struct record *record;
	uint32_t nr_links;
	uint32_t max_links;
	struct link *link;
	struct access_map map;
	struct node_list found; /* who the next node waits for              */
	uint32_t nr_needed; /* the first of them; the rest only come first */

	/* Once sealed. */
	uint32_t *edge; /* sorted by where from                             */
	uint32_t nr_edges;
	uint32_t nr_sinks; /* nodes that nobody waits for                   */
	struct verdict *verdict;

	struct sley_mutex lock;
	struct list idle;    /* runs (lock)                                  */
	struct list running; /* the same (lock)                              */
	uint64_t nr_ended;   /* runs (lock)                                  */
};

/* ---- plan_seal.c ---------------------------------------------------------------- */

/* Edges, verdicts and numbers of a plan without a cycle: 0, -ELOOP or -ENOMEM. */
must_check int plan_compile(struct sley_plan *plan);

/* The memory of all that, if there is any. */
void plan_forget(struct sley_plan *plan);

/* ---- plan_cycle.c --------------------------------------------------------------- */

/* Among the edges as plan_compile() has sorted them: is there one? */
must_check bool plan_find_cycle(struct sley_plan *plan);

#endif
