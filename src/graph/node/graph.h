/* SPDX-License-Identifier: MIT */
/*
 * graph.h - a graph: its nodes, its scopes, and how they are counted.
 *
 * What submits takes the lock, a mutex: so the order in which nodes were submitted
 * is one order, and who reads and writes what is known in that order.  Nodes that
 * end never take it.
 *
 * Each node is of a scope, if no other of the graph's root.  It is counted there, in
 * pending, when it is submitted, and counted off when it has ended.  Both in bulk,
 * since the two are on different CPUs: who submits counts CREDIT nodes in advance,
 * and each worker keeps those it has ended in a share of its own until it has
 * nothing more at hand.  Somebody who waits gives back the credit first, and as
 * long as anybody waits there is none.
 *
 * A submitter that finds the graph full waits with patience at first: until a batch of
 * nodes has ended, or a worker has nothing else at hand.  To wake it for each node
 * costs more than the node (submit.c).  Patience needs no barrier: what a worker
 * overlooks costs time, and that has an end.
 *
 * Some things are rare: that somebody has waited long enough for room, or cancels.  Who wants one of
 * them says so in a word (graph_ask), then looks at what the others do; who does
 * it looks at the word afterwards (graph_look).  The one who asks has
 * os_membarrier() in between, so that looking costs nothing; where there is none,
 * both sides read-modify-write the word.
 *
 * Edges:
 *
 *   R1  who asks, then looks <-> who acts, then looks for who asks : one of them
 *       sees the other
 *   K1  see cancel.c
 */
#ifndef SLEY_GRAPH_NODE_GRAPH_H
#define SLEY_GRAPH_NODE_GRAPH_H

#include "core/task/countdown.h"
#include "core/sched/worker.h"
#include "graph/access/access.h"
#include "graph/node/deadlock.h"
#include "graph/node/node_store.h"
#include "mem/arena.h"

#include <sley/graph_scope.h>
#include <sley/sync.h>

struct node_log;
struct worker_classes;

#define GRAPH_CREDIT 64

/* What a worker has ended and not yet given back: places, chained by next. */
struct share {
	cache_aligned struct node *first;
	struct node *last;
	struct sley_graph_scope *scope; /* of all of them                    */
	uint32_t nr;        /* nodes that have ended; others look            */
	uint32_t nr_failed; /* of those: they stay in their places           */
	uint32_t nr_places; /* of the others: in the chain, as are pages     */
};

struct step_queue {
	struct node *first;
	struct node *last;
};

/*
 * Three lines of cache: what workers look at for each node, and nobody writes; what
 * is written for each node that is submitted; and what workers write, in bulk.
 */
struct sley_graph_scope {
	struct sley_graph *graph;
	struct sley_graph_scope *parent; /* NULL: the root                   */
	sley_node gate; /* of a run, and what is in it: comes first; constant */
	/* The run that it is, or is in, or NULL; constant. */
	struct sley_graph_scope *run;
	uint32_t number; /* of a run: the first is 1; constant              */
	uint32_t depth;
	uint32_t cancelled; /* skip all                                     */
	cache_aligned struct sley_graph_scope *next; /* of the graph (lock)  */
	uint32_t credit;     /* (lock)                                       */
	uint32_t nr_waiting; /* for it (lock)                                */
	uint32_t nr_nested;  /* scopes there are, whose parent it is (lock)  */
	bool closed;         /* nobody submits to it any more (lock)         */
	struct sley_graph_scope_stats stats; /* (lock)                       */
	struct arena_block *buffers; /* that were not dropped (lock)         */
	struct scope_wait *waits;    /* of nodes, for it (lock)              */
	struct deadlock_mark mark;   /* (lock)                               */
	struct node *stone; /* for failures that are forgotten, or NULL (lock) */
	sley_node end; /* of a run: who comes after all of it (lock)         */
	cache_aligned struct sley_waitq pending;
	struct node *failed; /* and those that were skipped: failures.h      */
	uint32_t first;      /* the first one to fail, or 0                  */
};

struct sley_graph {
	struct sley *rt;
	const char *name;
	uint32_t max_nodes;
	uint32_t max_failed; /* that are remembered; see failures.h         */
	uint32_t bulk;       /* how many a share may hold                     */
	uint32_t nr_share;   /* 0: nodes or workers move, and keep nothing    */
	bool membarrier;     /* there is                                      */
	bool stepped;        /* by sley_graph_step(); constant                */
	uint8_t watch;       /* WATCH_PICTURE, WATCH_TRACE: see watch.h       */
	struct {
		struct step_queue submitted; /* (lock)                      */
		struct step_queue ready;     /* of who steps                */
		uint32_t depth;              /* of steps in steps (lock)    */
	} step;
	struct node_log *log; /* or NULL                                 */
	struct worker_classes *classes; /* or NULL                          */
	struct sley_mutex lock;
	uint32_t stamp;         /* of this submission, or look (lock)       */
	struct node_list found; /* who the next node waits for (lock)       */
	uint32_t nr_needed;    /* the first of them; the rest only come first */
	struct access_map map; /* (lock)                                   */
	struct arena arena;    /* of buffers (lock)                        */
	uint32_t nr_leaving;   /* of them (lock)                           */
	uint32_t max_runs;
	uint32_t nr_runs;                  /* that have not ended (lock)    */
	uint32_t nr_begun;                 /* runs (lock)                   */
	struct sley_graph_scope *open_run; /* that takes nodes (lock)       */
	sley_node last_end;                /* of the last run (lock)        */
	struct sley_cond space; /* a buffer or a run has ended (lock)       */
	struct sley_event room; /* when places were given back              */
	struct sley_graph_scope *scopes; /* but the root (lock)             */
	char why[256]; /* the last wait failed (lock)                       */
	struct node_store store;
	uint64_t patience_ns; /* constant                                   */
	uint32_t batch;       /* of nodes that end; constant                */
	cache_aligned uint32_t full; /* so many wait for room, for any      */
	uint32_t patient;    /* so many wait for a batch                    */
	uint32_t nr_freed;   /* nodes that have ended meanwhile             */
	uint32_t cancelling; /* so many are about to cancel what runs       */
	uint32_t nr_failed;  /* have ended, and keep their places           */
	struct sley_graph_scope root;
	struct share share[];
};

/* A rare one: from here on it sees what others do, or they see the word. */
static inline void graph_ask(struct sley_graph *graph, uint32_t *word)
{
	(void)add_acq_rel(word, 1); /* R1 */
	if (likely(graph->membarrier))
		os_membarrier();
}

/* By the others, after what they have done: does anybody ask? */
static inline uint32_t graph_look(struct sley_graph *graph, uint32_t *word)
{
	if (unlikely(!graph->membarrier))
		return add_acq_rel(word, 0); /* R1 and K1 */
	compiler_barrier();
	/* R1 is ordered by os_membarrier(); that nobody asks any more is not. */
	return load_acquire(word); /* K1 */
}

/* @scope is @outer, or within it. */
static inline bool scope_is_within(const struct sley_graph_scope *scope,
				   const struct sley_graph_scope *outer)
{
	while (scope && scope != outer)
		scope = scope->parent;
	return scope;
}

/* Edges from the one to the other are order-only: a run leaves nothing behind. */
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

/* The same of a node that an endpoint runs: its task is who waits for that. */
void graph_turn_elsewhere(void *task);

/* @node misses nobody: it is queued. */
void graph_ready(struct node *node);

/* @node has had its turn, but not by a worker. */
void graph_complete(struct sley_graph *graph, struct node *node);

/* Its function is not to be called. */
bool node_is_skipped(const struct node *node);

/* ---- outcome.c ------------------------------------------------------------------ */

/* With the lock: for sley_graph_explain(), when @node is forgotten. */
void graph_note_why(struct sley_graph *graph, const struct node *node);

/* ---- cancel.c ------------------------------------------------------------------- */

/* Between the end of a node and the next life of its place. */
void graph_await_cancel(struct sley_graph *graph);

/* ---- scope_wait.c --------------------------------------------------------------------- */

/* With the lock, which is given back meanwhile: until nothing of @scope is left. */
void scope_await(struct sley_graph_scope *scope);

/* Has something of @scope, or of one in it, not ended?  (lock) */
bool scope_is_busy(struct sley_graph_scope *scope);

/* All of @scope has ended: what went wrong, which is forgotten.  (lock) */
int scope_forget(struct sley_graph_scope *scope);

/* ---- runs.c ---------------------------------------------------------------- */

/* A node of @scope, in a run: may it wait for those that were found?  (lock) */
must_check int run_check(const struct sley_graph_scope *scope);

/* Where nobody may wait in a step: is @node the end of a run that goes on?  (lock) */
bool run_goes_on(const struct node *node);

/* ---- graph_scope.c -------------------------------------------------------------------- */

/* Those that are closed, and have come to their end, are no more.  (lock) */
void scopes_reap(struct sley_graph *graph);

#endif
