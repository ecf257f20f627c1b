/* SPDX-License-Identifier: MIT */
/*
 * watch.h - those who look on: the log of a graph, and the flight recorder.
 *
 * A graph knows from its creation on whether anybody does (graph->watch); it is a
 * byte on a line that is read anyway, and all there is to pay if nobody does.
 *
 * Nodes are tasks, so the flight recorder has them already.  What it gets from here
 * are the edges: when a node lets another one go, and when that one begins, each
 * with the number of the edge and the life of the node it leads to, so that
 * trace_json.c makes an arrow of the two.
 */
#ifndef SLEY_GRAPH_NODE_WATCH_H
#define SLEY_GRAPH_NODE_WATCH_H

#include "graph/node/node.h"

#define WATCH_PICTURE 1u
#define WATCH_TRACE 2u

/* @node has @nr edges, and its guard.  @last: it is none of the user's.  (lock) */
cold void watch_submitted(struct node *node, uint32_t nr, bool last);

/* Before its function is called, or not, by who does that. */
cold void watch_begin(struct node *node);

/* It has an outcome, by that worker; before it lets anybody go. */
cold void watch_end(struct node *node, uint32_t worker);

/* In a full trace: the edge @number leads to @to, which is about to be let go. */
cold void watch_release(const struct node *to, uint32_t number);

#endif
