/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - memory of the graph's arena that nodes pass on.
 *
 * A dropped buffer is given back by a node of its own.  This node comes after all
 * nodes that were submitted with an access to the buffer, even if they fail; it runs
 * even if the whole graph is cancelled.  So there is no reference count: the edges
 * do that work.
 *
 * Everything here is under the graph's lock.
 */
#ifndef SLEY_GRAPH_NODE_BUFFER_H
#define SLEY_GRAPH_NODE_BUFFER_H

#include "graph/node/graph.h"

/* Drops the buffers of @scope, which is closed.  The lock is released meanwhile. */
void buffers_drop(struct sley_graph_scope *scope);

#endif
