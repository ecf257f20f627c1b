/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - nodes that are not wanted any more.
 *
 * A node that has not started is told by a word, and skips itself when its turn
 * comes (run.c).  One that runs is a task, and is cancelled as such; but its place
 * may be another one's at any moment.  So who cancels says so, in cancelling, then
 * looks whether it has ended; and who ends looks whether anybody is about to cancel
 * before the place is given back.  os_membarrier() comes in between on the rare
 * side: either sees the other.
 *
 * Edges:
 *
 *   R1  see graph.h
 *   K1  who cancels is done -> who ends goes on : the flags of the task, which the
 *       next node in its place sets anew
 */
#include "core/wait.h"
#include "graph/gang.h"
#include "graph/graph.h"

#include <errno.h>

void graph_await_cancel(struct sley_graph *graph)
{
	unsigned int tries = 0;

	while (load_acquire(&graph->cancelling)) { /* K1 */
		spin_hint(&graph->cancelling);
		/* Who cancels may need this very CPU. */
		if (unlikely(++tries % 128 == 0))
			spin_yield();
	}
}

static void end(struct sley_graph *graph)
{
	(void)sub_release(&graph->cancelling, 1); /* K1 */
}

/* While cancelling is asked for.  It has not ended if @life is open. */
static bool cancel_running(struct node *node, uint32_t life)
{
	if (edges_look(&node->consumers, life) != EDGES_ADDED)
		return false;
	if (node->placing && node->placing->gang)
		gang_cancel(node);
	else if (task_cancel(&node->task))
		task_enqueue(&node->task);
	return true;
}

int sley_node_cancel(struct sley_graph *graph, sley_node id)
{
	struct node *node;
	bool there;

	if (id == SLEY_NO_NODE)
		return -ESRCH;
	node = places_node(&graph->places, node_index_of(id));
	graph_ask(graph, &graph->cancelling);
	/* relaxed: a request; that of another life is none. */
	store_relaxed(&node->skipped, node_life_of(id));
	there = cancel_running(node, node_life_of(id));
	end(graph);
	return there ? 0 : -ESRCH;
}

/* With the lock: the scope and those in it. */
static void mark(struct sley_graph_scope *outer)
{
	struct sley_graph *graph = outer->graph;
	struct sley_graph_scope *scope;

	(void)add_acq_rel(&outer->cancelled, 1); /* R1 */
	for (scope = graph->scopes; scope; scope = scope->next) {
		if (scope_is_within(scope, outer) && scope != outer)
			(void)add_acq_rel(&scope->cancelled, 1); /* R1 */
	}
}

/*
 * What runs in a scope that is marked.  Those that start from now on see the mark;
 * those that looked at it before were RUNNING by then, and are seen to be.
 */
static void cancel_marked(struct sley_graph *graph, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct node *node = places_node(&graph->places, i);
		uint32_t life = edges_life(&node->consumers);
		uint32_t state;

		/* One that is open stays a node until we are done. */
		if (edges_look(&node->consumers, life) != EDGES_ADDED)
			continue;
		state = task_state_of(task_load(&node->task));
		/* relaxed: set with the lock, by this one or another. */
		if (load_relaxed(&node->scope->cancelled) &&
		    (state == TASK_RUNNING || state == TASK_BLOCKED ||
		     node->placing))
			(void)cancel_running(node, life);
	}
}

static void cancel_scope(struct sley_graph_scope *scope)
{
	struct sley_graph *graph = scope->graph;
	uint32_t nr;

	sley_mutex_lock(&graph->lock);
	mark(scope);
	nr = graph->places.nr_used;
	graph_ask(graph, &graph->cancelling);
	cancel_marked(graph, nr);
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
