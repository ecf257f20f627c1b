/* SPDX-License-Identifier: MIT */
/*
 * outcome.c - the outcome of a node, and the reason.
 *
 * Nodes that have failed or were skipped stay in their places until the graph begins
 * anew, each with its cause.  The lock keeps them there.
 */
#include "endpoint/endpoint.h"
#include "graph/node/explain.h"
#include "graph/node/graph.h"
#include "graph/placement/placement.h"

static struct node *find(struct sley_graph *graph, sley_node id)
{
	uint32_t index = node_index_of(id);

	if (!index || index >= graph->store.nr_used)
		return NULL;
	return node_store_node(&graph->store, index);
}

/* With the lock: the node, if failed or skipped.  Else NULL. */
static const struct node *find_failed(struct sley_graph *graph, sley_node id)
{
	const struct node *node = find(graph, id);

	if (!node ||
	    edges_look(&node->successors, node_life_of(id)) != EDGES_TOO_LATE)
		return NULL;
	return node;
}

enum sley_outcome sley_node_outcome(struct sley_graph *graph, sley_node id,
				    int *code)
{
	enum sley_outcome outcome = SLEY_OUTCOME_SUCCESS;
	const struct node *node;

	sley_mutex_lock(&graph->lock);
	node = find(graph, id);
	if (code)
		*code = 0;
	if (node &&
	    edges_look(&node->successors, node_life_of(id)) == EDGES_ADDED)
		outcome = SLEY_OUTCOME_NONE;
	node = find_failed(graph, id);
	if (node) {
		outcome = node->failure.outcome;
		if (code)
			*code = node->failure.code;
	}
	sley_mutex_unlock(&graph->lock);
	return outcome;
}

/* NULL: there is no cause, or it was forgotten, after a wait for the scope. */
static const struct node *cause_of(struct sley_graph *graph,
				   const struct node *node)
{
	return find_failed(graph,
			   node_id(node->failure.cause, node->cause_life));
}

/* ---- as text ------------------------------------------------------------------------- */

static void explain_node(struct explanation *text, const struct node *node)
{
	const struct placement *placement = node->placement;

	explain(text, node->task.name, &node->failure);
	if (placement && placement->on && placement->end->text[0])
		explanation_say(text, ": ", placement->end->text);
}

/* With the lock: the line for @node, which may be NULL. */
static int explain_all(struct sley_graph *graph, const struct node *node,
		       char *at, size_t size)
{
	struct explanation text = { .at = at, .size = size };

	for (; node; node = cause_of(graph, node))
		explain_node(&text, node);
	return explanation_length(&text);
}

int sley_node_explain(struct sley_graph *graph, sley_node id, char *at,
		      size_t size)
{
	int length;

	sley_mutex_lock(&graph->lock);
	length = explain_all(graph, find_failed(graph, id), at, size);
	sley_mutex_unlock(&graph->lock);
	return length;
}

void graph_note_why(struct sley_graph *graph, const struct node *node)
{
	(void)explain_all(graph, node, graph->why, sizeof(graph->why));
}

int sley_graph_explain(struct sley_graph *graph, char *at, size_t size)
{
	struct explanation text = { .at = at, .size = size };

	sley_mutex_lock(&graph->lock);
	explanation_say(&text, graph->why, "");
	sley_mutex_unlock(&graph->lock);
	return explanation_length(&text);
}
