/* SPDX-License-Identifier: MIT */
/*
 * submit.h - what else in the library submits nodes.
 */
#ifndef SLEY_GRAPH_NODE_SUBMIT_H
#define SLEY_GRAPH_NODE_SUBMIT_H

#include "graph/node/graph.h"

/* The node of @graph that the caller is, or a forked child of; or NULL. */
const struct node *submit_own_node(const struct sley_graph *graph);

/*
 * A node that comes after all it waits for, whatever became of them, and runs in any
 * case, also in a graph that is full.
 */
must_check int submit_last(struct sley_graph *graph, sley_node *id,
			   const struct sley_node_spec *spec);

#endif
