/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - memory of the graph's arena that nodes pass on.
 *
 * A buffer that is dropped is given back by a node of its own: one that comes after
 * all that were submitted with an access to it, whatever becomes of them, and that
 * runs even if all is cancelled.  So nobody counts references: the edges do.
 *
 * Everything here is under the graph's lock.
 */
#ifndef SLEY_GRAPH_NODE_BUFFER_H
#define SLEY_GRAPH_NODE_BUFFER_H

#include "graph/node/graph.h"

/* Those of @scope, which is closed, are dropped; the lock is given back meanwhile. */
void buffers_drop(struct sley_graph_scope *scope);

#endif
