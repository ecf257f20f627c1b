/* SPDX-License-Identifier: MIT */
/*
 * watch.h - the two observers of a graph: its log, and the flight recorder.
 *
 * A graph knows from its creation on whether it has observers (graph->watch).  This
 * is a byte on a cache line that is read anyway, and the only cost without
 * observers.
 *
 * Nodes are tasks, so the flight recorder has them already.  From here the recorder
 * gets the edges.  There is an event when a node releases a successor, and one when
 * the successor begins.  Both have the number of the edge and the life of the
 * successor, so that trace_json.c can draw an arrow between the two.
 */
#ifndef SLEY_GRAPH_NODE_WATCH_H
#define SLEY_GRAPH_NODE_WATCH_H

#include "graph/node/node.h"

#define WATCH_PICTURE 1u
#define WATCH_TRACE 2u

struct predecessors;

/*
 * @node has its @nr edges, from nodes of @found, and the guard.  @last: the library
 * submitted it.  (lock)
 */
cold void watch_submitted(struct node *node, const struct predecessors *found,
			  uint32_t nr, bool last);

/* Called before the function of @node is called or skipped, by the same thread. */
cold void watch_begin(struct node *node);

/* @node has an outcome, from @worker; called before it releases its successors. */
cold void watch_end(struct node *node, uint32_t worker);

/* In a full trace: the edge @number leads to @to, which is about to be released. */
cold void watch_release(const struct node *to, uint32_t number);

#endif
