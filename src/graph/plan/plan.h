/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a recorded graph, and its runs.
 *
 * During recording a plan is two arrays that grow: the nodes, and the edges in the
 * order in which they were found.  Sealing sorts the edges by their origin, so that
 * the successors of a node are a slice of one array (plan_seal.c).  After that the
 * arrays are constant, and all runs read them.
 *
 * Node 0 is the beginning: each node without predecessors waits for node 0.  So a
 * run starts by queueing one task, from any thread.  The number is free, since
 * SLEY_NO_NODE is 0, too.
 *
 * The variable part of a run is in a struct replay (replay.h), one for each run that
 * goes on at the same time.  These structs are kept, so the next run needs no
 * memory.
 *
 * The lock, a mutex, is taken to begin or end a run, to cancel, and to ask for
 * outcomes.  Nodes never take the lock.
 */
#ifndef SLEY_GRAPH_PLAN_PLAN_H
#define SLEY_GRAPH_PLAN_PLAN_H

#include "base/list.h"
#include "core/sched/worker.h"
#include "graph/access/access.h"
#include "graph/access/predecessors.h"
#include "graph/node/failure.h"

#include <sley/plan.h>
#include <sley/sync.h>

#define PLAN_MAX_NODES (1u << 24)

/* A node as it was recorded. */
struct record {
	/* The argument, if by value: aligned for any type. */
	cache_aligned unsigned char value[SLEY_NODE_ARG_MAX];
	bool by_value;
	sley_node_fn *fn;
	void *arg;
	const char *name;
	int32_t priority;
	uint32_t first;           /* of the edges, in plan->edge            */
	uint32_t nr_edges;        /* to successors                          */
	uint32_t nr_predecessors; /* edges from predecessors                */
	uint32_t nr_missing;      /* scratch of plan_cycle.c                */
	uint32_t via;             /* scratch of plan_seal.c and plan_cycle.c */
	uint32_t at;              /* the same                               */
};

/* An edge as it was recorded. */
struct link {
	uint32_t from;
	uint32_t to; /* with LINK_ORDER_ONLY */
};

#define LINK_ORDER_ONLY (1u << 31)

/*
 * An edge of a sealed plan: how many nodes further on it leads, and the flag
 * EDGE_ORDER if it is order-only.  Wherever the nodes of a run are, an addition
 * leads from a node to its successors.
 */
#define EDGE_ORDER 1u
#define EDGE_SHIFT 1

/* The outcome of a node that failed or was skipped in the run with number @run. */
struct verdict {
	uint64_t run;
	struct failure failure;
};

struct sley_plan {
	struct sley *rt;
	const char *name;
	uint32_t nr_runs; /* memory is reserved for so many                  */
	bool sealed;
	uint32_t cycle; /* a node of the cycle, or 0                        */
	uint32_t nr;    /* nodes, with node 0                               */
	uint32_t max;
	struct record *record;
	uint32_t nr_links;
	uint32_t max_links;
	struct link *link;
	struct access_map map;
	/* Of the node that is being recorded: of sley_plan_add() alone. */
	struct predecessors predecessors;

	/* Once sealed. */
	uint32_t *edge; /* sorted by origin                                 */
	uint32_t nr_edges;
	uint32_t nr_sinks; /* nodes without successors                      */
	struct verdict *verdict;

	struct sley_mutex lock;
	struct list idle;    /* runs (lock)                                  */
	struct list running; /* the same (lock)                              */
	uint64_t nr_ended;   /* runs (lock)                                  */
};

/* ---- plan_seal.c ---------------------------------------------------------------- */

/* Builds the edges, verdicts and numbers of @plan: 0, -ELOOP or -ENOMEM. */
must_check int plan_compile(struct sley_plan *plan);

/* Frees the memory of these, if there is any. */
void plan_forget(struct sley_plan *plan);

/* ---- plan_cycle.c --------------------------------------------------------------- */

/* Is there a cycle among the edges, as plan_compile() has sorted them? */
must_check bool plan_find_cycle(struct sley_plan *plan);

#endif
