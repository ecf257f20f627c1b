/* SPDX-License-Identifier: MIT */
/*
 * submit.h - calls for other files of the library that submit nodes.
 */
#ifndef SLEY_GRAPH_NODE_SUBMIT_H
#define SLEY_GRAPH_NODE_SUBMIT_H

#include "graph/node/graph.h"

/* The node of @graph that the caller runs, or was forked by; or NULL. */
const struct node *submit_own_node(const struct sley_graph *graph);

/*
 * Submits a node that starts after all of its predecessors, even if they fail.  It
 * runs in any case, also in a graph that is full or cancelled.
 */
must_check int submit_last(struct sley_graph *graph, sley_node *id,
			   const struct sley_node_spec *spec);

#endif
