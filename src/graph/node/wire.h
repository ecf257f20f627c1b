/* SPDX-License-Identifier: MIT */
/*
 * wire.h - from what a node waits for to its edges.
 *
 * Three steps, all with the graph's lock: who it waits for is found, and has room
 * for its edges; then the caller does what may fail; then the edges are added, to
 * lists that may be closed under our hands.
 */
#ifndef SLEY_GRAPH_NODE_WIRE_H
#define SLEY_GRAPH_NODE_WIRE_H

#include "graph/node/graph.h"

/* Into graph->found, with room for as many edges: 0 or an error. */
must_check int wire_find(struct sley_graph_scope *scope, struct node *node,
			 const struct sley_node_spec *spec);

/* After that, if it comes to nothing. */
void wire_give_up(struct sley_graph *graph, struct node *node);

/*
 * All edges; the guard keeps it from starting.  @last: whatever becomes of those it
 * waits for.  How many there are.
 */
uint32_t wire(struct sley_graph *graph, struct node *node, bool last);

#endif
