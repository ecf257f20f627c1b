/* SPDX-License-Identifier: MIT */
/*
 * wire.h - from the predecessors of a node to its edges.
 *
 * There are three steps, all with the graph's lock.  First the predecessors are
 * found, and room for an edge from each is reserved.  Then the caller does the work
 * that may fail.  Then the edges are added to the lists of the predecessors.  A
 * predecessor may end meanwhile, without the lock, and close its list: then no edge
 * is needed.
 */
#ifndef SLEY_GRAPH_NODE_WIRE_H
#define SLEY_GRAPH_NODE_WIRE_H

#include "graph/node/graph.h"

/* Puts the predecessors into @found, and reserves the edges: 0 or an error. */
must_check int wire_find(struct sley_graph_scope *scope, struct node *node,
			 const struct sley_node_spec *spec,
			 struct predecessors *found);

/* Undoes wire_find(), if the submission fails. */
void wire_give_up(struct sley_graph *graph, struct node *node);

/*
 * Adds an edge from each node of @found that has not ended, and returns how many.
 * The guard keeps @node from starting.  @last: the edges are order-only, so @node
 * runs even if its predecessors fail.
 */
uint32_t wire(struct sley_graph *graph, struct node *node,
	      const struct predecessors *found, bool last);

#endif
