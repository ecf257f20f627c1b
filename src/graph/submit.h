/* SPDX-License-Identifier: MIT */
/*
 * submit.h - what else in the library submits nodes.
 */
#ifndef SLEY_GRAPH_SUBMIT_H
#define SLEY_GRAPH_SUBMIT_H

#include "graph/graph.h"

/* Is the caller a node of @graph?  If it waited for room it would keep its own. */
bool submit_is_own_node(const struct sley_graph *graph);

/*
 * A node that comes after all it waits for, whatever became of them, and runs in any
 * case, also in a graph that is full.
 */
must_check int submit_last(struct sley_graph *graph, sley_node *id,
			   const struct sley_node_spec *spec);

#endif
