/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - cancelling nodes.
 *
 * A node is cancelled as a task.  If it has not started, its turn finds the request
 * and skips the function (node_run.c).  But another node may take the place at any
 * moment.  So the canceller first counts itself in cancelling, then looks whether
 * the node has ended.  The worker that ends a node looks for cancellers before it
 * gives the place back (graph_look).  One of the two sees the other.
 *
 * Edges:
 *
 *   CN1  a canceller is done -> the worker that ended the node goes on : the flags of
 *       the task, and all else that was read of the node; the next node in the place
 *       sets them anew
 */
#include "core/sched/place.h"
#include "core/wait/wait.h"
#include "graph/placement/gang.h"
#include "graph/node/graph.h"

#include <errno.h>

static bool is_cancelling(const void *cancelling)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)cancelling);
}

void graph_await_cancel(struct sley_graph *graph)
{
	uint32_t nr_looks = 0;

	while (load_acquire(&graph->cancelling)) { /* CN1 */
		spin_hint(&graph->cancelling);
		spin_wait(&graph->cancelling, is_cancelling, nr_looks++);
	}
}

static void end(struct sley_graph *graph)
{
	uint32_t *cancelling = &graph->cancelling;

	(void)sub_release(cancelling, 1); /* CN1 */
	spin_done(cancelling);
}

static bool is_gang(const struct node *node)
{
	return unlikely(node->placement) && node->placement->gang;
}

/* Has @node not ended?  During graph_ask(): then it keeps its place until end(). */
static bool is_there(const struct node *node, uint32_t life)
{
	return edges_look(&node->successors, life) == EDGES_ADDED;
}

int sley_node_cancel(struct sley_graph *graph, sley_node id)
{
	struct node *node;
	bool there;

	/* Lives begin with 1.  relaxed: the owner of an id saw its place taken. */
	if (!node_life_of(id) ||
	    node_index_of(id) >= load_relaxed(&graph->store.nr_used))
		return -ESRCH;
	node = node_store_node(&graph->store, node_index_of(id));
	graph_ask(graph, &graph->cancelling);
	there = is_there(node, node_life_of(id));
	if (there && task_cancel(&node->task))
		task_enqueue(&node->task);
	if (there && is_gang(node))
		gang_cancel(node);
	end(graph);
	return there ? 0 : -ESRCH;
}

/* ---- all of a scope ---------------------------------------------------------------- */

/*
 * Marks the scope and the scopes within, for nodes that are submitted later.  Nodes
 * that exist already get a mark of their own.  With the lock.
 */
static void mark_scopes(struct sley_graph_scope *outer)
{
	struct sley_graph *graph = outer->graph;
	struct sley_graph_scope *scope;

	/* relaxed: the lock publishes the mark. */
	store_relaxed(&outer->cancelled, 1);
	for (scope = graph->scopes; scope; scope = scope->next) {
		/* relaxed: as above. */
		if (scope_is_within(scope, outer))
			store_relaxed(&scope->cancelled, 1);
	}
}

/* Is @node in a marked scope, and has it not ended? */
static bool is_to_cancel(const struct node *node)
{
	/* relaxed: the lock. */
	return is_there(node, edges_life(&node->successors)) &&
	       load_relaxed(&node->scope->cancelled);
}

/* Marks all nodes that have not ended: not started, running, waiting, or woken. */
static void mark_nodes(struct sley_graph *graph, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct node *node = node_store_node(&graph->store, i);

		if (!is_to_cancel(node))
			continue;
		(void)task_mark_cancelled(&node->task, TASK_CANCEL);
		if (is_gang(node))
			gang_cancel(node);
	}
}

/* After the barrier: ends the waits of marked nodes. */
static void end_waits(struct sley_graph *graph, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct node *node = node_store_node(&graph->store, i);

		if (is_to_cancel(node) && task_is_cancelled(&node->task) &&
		    task_cancel_wait(&node->task))
			task_enqueue(&node->task);
	}
}

/* Nodes that are submitted after the lock is released are skipped. */
static void cancel_scope(struct sley_graph_scope *scope)
{
	struct sley_graph *graph = scope->graph;
	uint32_t nr;

	sley_mutex_lock(&graph->lock);
	mark_scopes(scope);
	nr = graph->store.nr_used;
	graph_ask(graph, &graph->cancelling);
	mark_nodes(graph, nr);
	if (graph->membarrier)
		os_membarrier();
	end_waits(graph, nr);
	end(graph);
	sley_mutex_unlock(&graph->lock);
}

void sley_graph_cancel(struct sley_graph *graph)
{
	cancel_scope(&graph->root);
}

void sley_graph_scope_cancel(struct sley_graph_scope *scope)
{
	cancel_scope(scope);
}
