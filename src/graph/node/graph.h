/* SPDX-License-Identifier: MIT */
/*
 * graph.h - a graph: its nodes, its scopes, and how they are counted.
 *
 * Submitters take the lock, a mutex.  So nodes are submitted in one order, and the
 * map of accesses is built in that order.  Nodes that end never take the lock.
 *
 * Each node belongs to a scope, by default the root of the graph.  The scope counts
 * the node in pending when it is submitted, and counts it off when it has ended.
 * Both are done in bulk, since submitter and worker are on different CPUs.  The
 * submitter counts CREDIT nodes in advance.  Each worker keeps the nodes that it has
 * ended in its own share until it has no other work at hand.  A waiter gives back
 * the credit first.  While a scope has waiters, nodes are counted one by one.
 *
 * A submitter that finds the graph full first waits with patience: until a batch of
 * nodes has ended, or a worker has no other work at hand.  Waking the submitter for
 * each node costs more than the node (submit.c).  Patience needs no barrier: if a
 * worker overlooks the submitter, that costs time, and the time is bounded.
 *
 * Some requests are rare: a submitter has run out of patience, or a canceller comes.
 * The requester first says so in a word (graph_ask), then looks at the state of the
 * nodes.  A worker first changes that state, then looks at the word (graph_look).
 * The requester calls os_membarrier() in between, so that looking costs nothing.
 * Without membarrier, both sides read-modify-write the word.
 *
 * Edges:
 *
 *   GR1  a requester asks, then looks <-> a worker acts, then looks : one of them
 *       sees the other
 *   CN1  see graph/node/cancel.c
 */
#ifndef SLEY_GRAPH_NODE_GRAPH_H
#define SLEY_GRAPH_NODE_GRAPH_H

#include "core/task/countdown.h"
#include "core/sched/worker.h"
#include "graph/access/access.h"
#include "graph/access/predecessors.h"
#include "graph/node/deadlock.h"
#include "graph/node/node_store.h"
#include "graph/node/pass.h"
#include "mem/arena.h"

#include <sley/graph_scope.h>
#include <sley/sync.h>

struct node_log;
struct classes;

#define GRAPH_CREDIT 64

/* Ended nodes that a worker has not yet given back: places, chained by next. */
struct share {
	cache_aligned struct node *first;
	struct node *last;
	struct sley_graph_scope *scope; /* the same for all nodes            */
	uint32_t nr;        /* nodes that have ended; other threads look     */
	uint32_t nr_failed; /* of nr: failed or skipped, and stay in place   */
	uint32_t nr_places; /* of nr: succeeded; in the chain, as are pages  */
};

struct step_queue {
	struct node *first;
	struct node *last;
};

/*
 * Three cache lines: the first is read by workers for each node, and constant but
 * for cancelled; the second is written for each submitted node; the third is written
 * by workers, in bulk.
 */
struct sley_graph_scope {
	struct sley_graph *graph;
	struct sley_graph_scope *parent; /* NULL: the root                   */
	sley_node gate; /* in a run: the end of the run before; constant */
	/* The run that this scope is, or is in; or NULL.  Constant. */
	struct sley_graph_scope *run;
	uint32_t number; /* of a run: the first is 1; constant              */
	uint32_t depth;
	uint32_t cancelled; /* skip all nodes                               */
	cache_aligned struct sley_graph_scope *next; /* in the graph (lock) */
	uint32_t credit;     /* (lock)                                       */
	uint32_t nr_waiting; /* waiters (lock)                               */
	uint32_t nr_nested;  /* scopes whose parent this is (lock)           */
	bool closed;         /* takes no more nodes (lock)                   */
	struct sley_graph_scope_stats stats; /* (lock)                       */
	struct arena_block *buffers; /* not yet dropped (lock)               */
	struct scope_wait *waits;    /* waits of nodes for this scope (lock) */
	struct deadlock_mark mark;   /* (lock)                               */
	struct node *stone; /* stands for forgotten failures; or NULL (lock) */
	sley_node end; /* of a run: the node after all others (lock)         */
	cache_aligned struct sley_waitq pending;
	struct node *failed; /* failed and skipped nodes: failures.h         */
	uint32_t first;      /* the first node that failed, or 0             */
};

struct sley_graph {
	struct sley *rt;
	const char *name;
	uint32_t max_nodes;
	uint32_t max_failed; /* how many are remembered; see failures.h     */
	uint32_t bulk;       /* how many nodes a share may hold               */
	uint32_t nr_share;   /* 0: nodes or workers migrate, and keep none    */
	bool membarrier;     /* is available                                  */
	bool stepped;        /* by sley_graph_step(); constant                */
	uint8_t watch;       /* WATCH_PICTURE, WATCH_TRACE: see watch.h       */
	struct {
		struct step_queue submitted; /* (lock)                      */
		struct step_queue ready;     /* of the stepping caller      */
		uint32_t depth;              /* of nested steps (lock)      */
	} step;
	struct node_log *log;    /* or NULL                                 */
	struct classes *classes; /* or NULL                                 */
	struct sley_mutex lock;
	struct pass pass; /* (lock)                                    */
	/* Of the node that is being submitted: of submit.c alone (lock). */
	struct predecessors predecessors;
	struct access_map map; /* (lock)                                   */
	struct arena arena;    /* of buffers (lock)                        */
	uint32_t nr_leaving;   /* buffers (lock)                           */
	uint32_t max_runs;
	uint32_t nr_runs;                  /* not ended (lock)              */
	uint32_t nr_begun;                 /* begun runs (lock)             */
	struct sley_graph_scope *open_run; /* takes nodes (lock)            */
	sley_node last_end;                /* the end of the last run (lock) */
	struct sley_cond space; /* a buffer or a run has ended (lock)       */
	struct sley_event room; /* places were given back                   */
	struct sley_graph_scope *scopes; /* all but the root (lock)         */
	char why[256]; /* why the last wait failed (lock)                   */
	struct node_store store;
	uint64_t patience_ns; /* constant                                   */
	uint32_t batch;       /* nodes that end; constant                   */
	cache_aligned uint32_t full; /* submitters that wait for any room   */
	uint32_t patient;    /* submitters that wait for a batch            */
	uint32_t nr_freed;   /* nodes that have ended meanwhile             */
	uint32_t cancelling; /* cancellers at work                          */
	uint32_t nr_failed;  /* ended nodes that keep their places          */
	struct sley_graph_scope root;
	struct share share[];
};

/* By a requester: from here on it sees the workers' changes, or they the word. */
static inline void graph_ask(struct sley_graph *graph, uint32_t *word)
{
	(void)add_acq_rel(word, 1); /* GR1 */
	if (likely(graph->membarrier))
		os_membarrier();
}

/* By workers, after their change: is there a requester? */
static inline uint32_t graph_look(struct sley_graph *graph, uint32_t *word)
{
	if (unlikely(!graph->membarrier))
		return add_acq_rel(word, 0); /* GR1 and CN1 */
	compiler_barrier();
	/* os_membarrier() orders GR1; it does not order the end of a request. */
	return load_acquire(word); /* CN1 */
}

/* Is @scope within @outer, or the same? */
static inline bool scope_is_within(const struct sley_graph_scope *scope,
				   const struct sley_graph_scope *outer)
{
	while (scope && scope != outer)
		scope = scope->parent;
	return scope;
}

/* Edges between two runs are order-only: a failed run does not affect the next. */
static inline bool scope_is_of_other_run(const struct sley_graph_scope *from,
					 const struct sley_graph_scope *to)
{
	return unlikely(from != to) && from->run && to->run &&
	       from->run != to->run;
}

/* ---- node_run.c: nodes that run and end ------------------------------------------- */

extern const struct turns graph_turns;

/* A task of one turn: the node of its argument. */
void graph_turn(void *task);

/* The same for a node that an endpoint runs: the task waits for the endpoint. */
void graph_turn_elsewhere(void *task);

/* No predecessor of @node is missing: queues it. */
void graph_ready(struct node *node);

/* @node has had its turn, but not by a worker: ends it. */
void graph_complete(struct sley_graph *graph, struct node *node);

/* Must the function of @node not be called? */
bool node_is_skipped(const struct node *node);

/* ---- outcome.c ------------------------------------------------------------------ */

/* Notes a line for sley_graph_explain(), before @node is forgotten.  (lock) */
void graph_note_why(struct sley_graph *graph, const struct node *node);

/* ---- cancel.c ------------------------------------------------------------------- */

/* Between the end of a node and the next life of its place: awaits cancellers. */
void graph_await_cancel(struct sley_graph *graph);

/* ---- scope_wait.c --------------------------------------------------------------------- */

/* Waits until all nodes of @scope have ended.  (lock, released meanwhile) */
void scope_await(struct sley_graph_scope *scope);

/* Are there nodes of @scope, or of a scope within, that have not ended?  (lock) */
bool scope_is_busy(struct sley_graph_scope *scope);

/* All of @scope has ended: its first error; the failures are forgotten.  (lock) */
int scope_forget(struct sley_graph_scope *scope);

/* ---- runs.c ---------------------------------------------------------------- */

/* May a new node of @scope, which is in a run, wait for @found?  (lock) */
must_check int run_check(const struct sley_graph_scope *scope,
			 const struct predecessors *found);

/* Is @node the end of a run that goes on?  In a step no node may wait.  (lock) */
bool run_goes_on(const struct node *node);

/* ---- graph_scope.c -------------------------------------------------------------------- */

/* Frees the scopes that are closed and have no nodes left.  (lock) */
void scopes_reap(struct sley_graph *graph);

#endif
