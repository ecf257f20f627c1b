/* SPDX-License-Identifier: MIT */
/*
 * failures.h - nodes that have failed or were skipped, and how long they are known.
 *
 * They stay in their places, in a list of their scope, newest first, until somebody has
 * waited for the scope.  But nobody may ever wait for all of a graph that goes on and
 * on.  So there are max_failed of them, about; if there are more the older half of
 * each list is forgotten, but for the one that a wait for the scope will report.
 *
 * What they should have written stays marked.  In the map of accesses (access.h) one
 * node takes the place of all that were forgotten, a stone: it has failed, and stays
 * until its scope was waited for.  The root has one, and each run, since a run leaves
 * nothing behind for the next one.
 *
 * The list is pushed to by workers and cut under the lock of the graph, never at its
 * head.
 *
 * Edges:
 *
 *   Q1  a node is pushed -> it is seen in the list : all of the node
 */
#ifndef SLEY_GRAPH_NODE_FAILURES_H
#define SLEY_GRAPH_NODE_FAILURES_H

#include "graph/node/graph.h"

/* By the worker that has ended @node, the last time it touches it. */
void failures_add(struct sley_graph_scope *scope, struct node *node);

/* The one that a wait for @scope reports, of those that are in its list.  (lock) */
const struct node *failures_first(const struct sley_graph_scope *scope);

/* All of @scope has ended: its failures are forgotten.  (lock) */
void failures_forget(struct sley_graph_scope *scope);

/* More than max_failed are there: some are forgotten.  (lock) */
void failures_thin_out(struct sley_graph *graph);

#endif
