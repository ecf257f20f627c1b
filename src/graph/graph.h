/* SPDX-License-Identifier: MIT */
/*
 * graph.h - a graph: its nodes, who waits for them, and how they are counted.
 *
 * What submits takes the lock, a mutex: so the order in which nodes were submitted
 * is one order, and who reads and writes what is known in that order.  Nodes that
 * end never take it.
 *
 * Nodes are counted, in pending, when they are submitted, and counted off when they
 * have ended.  Both in bulk, since the two are on different CPUs: who submits
 * counts CREDIT nodes in advance, and each worker keeps those it has ended in a
 * share of its own until it has nothing more at hand.  Somebody who waits gives
 * back the credit first, and as long as anybody waits there is none.
 *
 * It has no edges of its own: those of node.h and places.h, and of the countdown.
 */
#ifndef SLEY_GRAPH_GRAPH_H
#define SLEY_GRAPH_GRAPH_H

#include "core/countdown.h"
#include "core/worker.h"
#include "graph/access.h"
#include "graph/places.h"

#include <sley/sync.h>

#define GRAPH_CREDIT 64

/* What a worker has ended and not yet given back: places, chained by next. */
struct share {
	cache_aligned struct node *first;
	struct node *last;
	uint32_t nr; /* nodes that have ended */
};

struct sley_graph {
	struct sley *rt;
	const char *name;
	uint32_t max_nodes;
	uint32_t bulk;     /* how many a share may hold                     */
	uint32_t nr_share; /* 0: workers come and go, and keep nothing      */
	struct sley_mutex lock;
	uint32_t credit;     /* (lock) */
	uint32_t nr_waiting; /* in sley_graph_wait() (lock)                 */
	uint32_t stamp;      /* of this submission (lock)                   */
	struct node_list found; /* who the next node waits for (lock)       */
	struct access_map map;  /* (lock)                                   */
	uint32_t full;          /* somebody waits for room                  */
	struct sley_event room; /* when places were given back              */
	struct places places;
	cache_aligned struct sley_waitq pending;
	struct node *failed; /* and those that were skipped: chained        */
	uint32_t cancelled;  /* skip all                                    */
	uint32_t cancelling; /* how many are about to cancel what runs      */
	uint32_t first;      /* the first one to fail, or 0                 */
	struct share share[];
};

/* ---- run.c: nodes that run and end ------------------------------------------- */

extern const struct turns graph_turns;

/* A task of one turn: the node of its argument. */
void graph_turn(void *task);

/* @node misses nobody: it is queued. */
void graph_ready(struct node *node);

/* ---- cancel.c ------------------------------------------------------------------- */

/* Between the end of a node and the next life of its place. */
void graph_await_cancel(struct sley_graph *graph);

#endif
