/* SPDX-License-Identifier: MIT */
/*
 * stepped.h - a graph whose nodes run when they are told to.
 *
 * The order is that of a scheduler with one thread and three queues: what was
 * submitted is wired, what is ready is dispatched, what has run is completed.  The
 * real thing has none of these queues; the tests of rules that do not depend on
 * who comes first are easier to write with them.
 */
#ifndef SLEY_GRAPH_NODE_STEPPED_H
#define SLEY_GRAPH_NODE_STEPPED_H

#include "graph/node/graph.h"

/* Instead of taking off the guard. */
void step_submitted(struct sley_graph *graph, struct node *node,
		    uint32_t nr_edges);

/* Instead of queueing it for workers. */
void step_ready(struct sley_graph *graph, struct node *node);

#endif
