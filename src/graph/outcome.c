/* SPDX-License-Identifier: MIT */
/*
 * outcome.c - what became of a node, and why.
 *
 * Those that have failed or were skipped stay in their places until the graph
 * begins anew, each with the one that took it along.  The lock keeps them there.
 */
#include "graph/graph.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>

static struct node *find(struct sley_graph *graph, sley_node id)
{
	uint32_t index = node_index_of(id);

	if (!index || index >= graph->places.nr_used)
		return NULL;
	return places_node(&graph->places, index);
}

/* With the lock: it has ended, but not well.  Else NULL. */
static const struct node *find_failed(struct sley_graph *graph, sley_node id)
{
	const struct node *node = find(graph, id);

	if (!node ||
	    edges_look(&node->consumers, node_life_of(id)) != EDGES_TOO_LATE)
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
	    edges_look(&node->consumers, node_life_of(id)) == EDGES_ADDED)
		outcome = SLEY_OUTCOME_NONE;
	node = find_failed(graph, id);
	if (node) {
		outcome = node->outcome;
		if (code)
			*code = node->code;
	}
	sley_mutex_unlock(&graph->lock);
	return outcome;
}

/* ---- as text ------------------------------------------------------------------------- */

struct text {
	char *at;
	size_t size;
	size_t length; /* of all there is to say */
};

static void say(struct text *text, const char *before, const char *word)
{
	size_t left = text->length < text->size ? text->size - text->length : 0;
	int n = snprintf(left ? text->at + text->length : NULL, left, "%s%s",
			 before, word);

	if (n > 0)
		text->length += (size_t)n;
}

static const char *name_of(const struct node *node)
{
	return node->task.name ? node->task.name : "a node";
}

int sley_node_explain(struct sley_graph *graph, sley_node id, char *at,
		      size_t size)
{
	struct text text = { .at = at, .size = size };
	const struct node *node;
	int err = -ESRCH;

	sley_mutex_lock(&graph->lock);
	for (node = find_failed(graph, id); node;
	     node = node->cause ? places_node(&graph->places, node->cause)
				: NULL) {
		say(&text, err ? "" : " <- ", name_of(node));
		say(&text,
		    node->outcome == SLEY_OUTCOME_SKIPPED ? " was skipped"
							  : " failed: ",
		    node->outcome == SLEY_OUTCOME_SKIPPED
			    ? ""
			    : sley_strerror(node->code));
		err = 0;
	}
	sley_mutex_unlock(&graph->lock);
	return err ? err : (int)text.length;
}
