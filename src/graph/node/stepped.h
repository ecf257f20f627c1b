/* SPDX-License-Identifier: MIT */
/*
 * stepped.h - a graph whose nodes run only in calls of sley_graph_step().
 *
 * The order is that of a scheduler with one thread and three queues: submitted nodes
 * are wired, ready nodes are dispatched, nodes that have run are completed.  A graph
 * that is not stepped has none of these queues.  They make it easier to test rules
 * that do not depend on the order of threads.
 */
#ifndef SLEY_GRAPH_NODE_STEPPED_H
#define SLEY_GRAPH_NODE_STEPPED_H

#include "graph/node/graph.h"

/* Takes the place of removing the guard. */
void step_submitted(struct sley_graph *graph, struct node *node,
		    uint32_t nr_edges);

/* Takes the place of queueing @node for workers. */
void step_ready(struct sley_graph *graph, struct node *node);

#endif
