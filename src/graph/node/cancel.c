/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - nodes that are not wanted any more.
 *
 * A node is cancelled as the task it is.  One that has not started finds that out
 * when its turn comes, and skips itself (node_run.c).  But its place may be another
 * one's at any moment.  So who cancels says so first, in cancelling, then looks
 * whether it has ended; and who ends looks whether anybody is about to cancel
 * before the place is given back (graph_look): either sees the other.
 *
 * Edges:
 *
 *   K1  who cancels is done -> who ends goes on : the flags of the task, and what
 *       else of the node was read, which the next one in its place sets anew
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

	while (load_acquire(&graph->cancelling)) { /* K1 */
		spin_hint(&graph->cancelling);
		spin_wait(&graph->cancelling, is_cancelling, nr_looks++);
	}
}

static void end(struct sley_graph *graph)
{
	uint32_t *cancelling = &graph->cancelling;

	(void)sub_release(cancelling, 1); /* K1 */
	spin_done(cancelling);
}

static bool is_gang(const struct node *node)
{
	return unlikely(node->placement) && node->placement->gang;
}

/* While cancelling is asked for: then it keeps its place until the end. */
static bool is_there(const struct node *node, uint32_t life)
{
	return edges_look(&node->consumers, life) == EDGES_ADDED;
}

int sley_node_cancel(struct sley_graph *graph, sley_node id)
{
	struct node *node;
	bool there;

	/* Lives begin with 1.  relaxed: who has an id has seen its place taken. */
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
 * With the lock: the scope and those in it.  For nodes that are submitted when it is
 * free again; those that are there are marked themselves.
 */
static void mark_scopes(struct sley_graph_scope *outer)
{
	struct sley_graph *graph = outer->graph;
	struct sley_graph_scope *scope;

	/* relaxed: the lock publishes it. */
	store_relaxed(&outer->cancelled, 1);
	for (scope = graph->scopes; scope; scope = scope->next) {
		/* relaxed: as above. */
		if (scope_is_within(scope, outer))
			store_relaxed(&scope->cancelled, 1);
	}
}

/* Is there a node in a scope that is marked? */
static bool is_wanted(const struct node *node)
{
	/* relaxed: the lock. */
	return is_there(node, edges_life(&node->consumers)) &&
	       load_relaxed(&node->scope->cancelled);
}

/* Those that have not started, or run, or wait, or were woken: whatever is there. */
static void mark_nodes(struct sley_graph *graph, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct node *node = node_store_node(&graph->store, i);

		if (!is_wanted(node))
			continue;
		(void)task_mark_cancelled(&node->task, TASK_CANCEL);
		if (is_gang(node))
			gang_cancel(node);
	}
}

/* And those of them that wait, when the barrier is behind us. */
static void end_waits(struct sley_graph *graph, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct node *node = node_store_node(&graph->store, i);

		if (is_wanted(node) && task_is_cancelled(&node->task) &&
		    task_cancel_wait(&node->task))
			task_enqueue(&node->task);
	}
}

/* What is submitted when the lock is free again is skipped. */
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
