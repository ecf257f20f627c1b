/* SPDX-License-Identifier: MIT */
/*
 * stepped.c - see stepped.h.
 */
#include "graph/node/stepped.h"

#include "graph/node/watch.h"

#include <errno.h>

/* ---- the three queues, chained by the next of their tasks ------------------------ */

static void push(struct step_queue *queue, struct node *node)
{
	node->task.next = NULL;
	if (queue->last)
		queue->last->task.next = &node->task;
	else
		queue->first = node;
	queue->last = node;
}

static struct node *take(struct step_queue *queue)
{
	struct node *node = queue->first;

	if (!node)
		return NULL;
	queue->first = node->task.next ? node_of(node->task.next) : NULL;
	if (!queue->first)
		queue->last = NULL;
	return node;
}

void step_submitted(struct sley_graph *graph, struct node *node,
		    uint32_t nr_edges)
{
	/* Leaves a count of 1 for wire_all(). */
	bool started = node_guard_off(node, nr_edges + 1);

	sley_assert(!started);
	(void)started;
	sley_mutex_lock(&graph->lock);
	push(&graph->step.submitted, node);
	sley_mutex_unlock(&graph->lock);
}

void step_ready(struct sley_graph *graph, struct node *node)
{
	push(&graph->step.ready, node);
}

/* ---- the step ---------------------------------------------------------------------- */

/* Nodes without missing predecessors become ready.  With the lock. */
static void wire_all(struct sley_graph *graph)
{
	struct node *node;

	while ((node = take(&graph->step.submitted))) {
		if (node_count_off(node))
			step_ready(graph, node);
	}
}

/*
 * Moves the ready nodes to @now.  The end of a run that goes on stays for the next
 * step: it would wait for nodes that have their turn in this step.  With the lock.
 */
static void choose(struct sley_graph *graph, struct step_queue *now)
{
	struct step_queue ready = graph->step.ready;
	struct node *node;

	graph->step.ready = (struct step_queue){ NULL, NULL };
	while ((node = take(&ready)))
		push(run_goes_on(node) ? &graph->step.ready : now, node);
}

/* Nodes that become ready later have their turn in the next step. */
static void dispatch(struct step_queue *ready, struct step_queue *done)
{
	struct node *node;

	while ((node = take(ready))) {
		node->task.fn(&node->task);
		if (unlikely(node->scope->graph->watch))
			watch_end(node, 0);
		push(done, node);
	}
}

int sley_graph_step(struct sley_graph *graph)
{
	struct step_queue ready = { NULL, NULL }, done = { NULL, NULL };
	struct node *node;
	int nr = 0;

	if (!graph->stepped)
		return -EINVAL;
	sley_mutex_lock(&graph->lock);
	wire_all(graph);
	graph->step.depth++;
	choose(graph, &ready);
	sley_mutex_unlock(&graph->lock);
	dispatch(&ready, &done);
	while ((node = take(&done))) {
		graph_complete(graph, node);
		nr++;
	}
	sley_mutex_lock(&graph->lock);
	graph->step.depth--;
	sley_mutex_unlock(&graph->lock);
	return nr;
}
