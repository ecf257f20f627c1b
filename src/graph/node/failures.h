/* SPDX-License-Identifier: MIT */
/*
 * failures.h - nodes that have failed or were skipped, and how long they are kept.
 *
 * A node that has failed or was skipped (failure.h) stays in its place until a waiter
 * has waited for its scope.  The scope has a list of these nodes, newest first.  But a
 * graph that goes on and on may never have a waiter.  So the graph keeps about
 * max_failed of these nodes.  If there are more, the older half of each list is
 * forgotten, except for the node that a wait for the scope will report.
 *
 * The ranges that these nodes should have written stay poisoned.  In the map of
 * accesses (access.h) one placeholder, a stone, replaces all forgotten nodes.  A
 * stone is a node that has failed, and stays until a waiter has waited for its
 * scope.  The root has its own stone, and so has each run, since a failed run must
 * not affect the next.
 *
 * Workers push to the list.  It is cut under the lock of the graph, never at the
 * head.
 *
 * Edges:
 *
 *   FA1  a node is pushed -> it is seen in the list : all of the node, and that it is
 *       the first failure, if it is
 *   FA2  a node becomes the first failure (failure_note_first) -> it is found as
 *       such : all of the node, which may not be in the list yet
 */
#ifndef SLEY_GRAPH_NODE_FAILURES_H
#define SLEY_GRAPH_NODE_FAILURES_H

#include "graph/node/graph.h"

/* Called by the worker that has ended @node, as the last access to the node. */
void failures_add(struct sley_graph_scope *scope, struct node *node);

/* All of @scope has ended: the node that a wait for @scope reports.  (lock) */
const struct node *failures_first(const struct sley_graph_scope *scope);

/* All of @scope has ended: forgets its failures.  (lock) */
void failures_forget(struct sley_graph_scope *scope);

/* There are more than max_failed: forgets some.  (lock) */
void failures_thin_out(struct sley_graph *graph);

#endif
