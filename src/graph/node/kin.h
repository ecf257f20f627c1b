/* SPDX-License-Identifier: MIT */
/*
 * kin.h - tasks that a node waits for, directly or through other tasks.
 *
 * A node that submits to its own graph, and finds the graph full, must not wait: it
 * would wait for itself.  The same holds for a child that the node has forked, since
 * the node joins the child; and for a task of a group that the node joins, and so on
 * downwards.  If such a task waited for room that only the node gives, both would
 * wait for ever.
 *
 * A forked child knows its parent.  A spawned task does not.  But it knows its
 * group, and the group's list of waiters has the tasks that join the group.  So a
 * submitter goes upwards: from its task to the task that forked it, from there to
 * the tasks that join its group.  The submitter is in the group and has not ended,
 * so a task that joins without a deadline does not go on meanwhile.  For joins with
 * a deadline the locks of the lists are held on the way up.
 *
 * A node may join later than its task submits.  So a submitter that waits looks
 * again, ever less often (submit.c).
 *
 * Not seen: a node that waits for a task in another way, by an event, a channel, or
 * another graph; and a join in a blocking region.  The header says so.
 *
 * Rejected: a field of each task for the node that spawned it (one more store for
 * each spawn, and only a full graph needs it); task trees (core/task/tree.h), which
 * only groups have that were put into a tree.
 */
#ifndef SLEY_GRAPH_NODE_KIN_H
#define SLEY_GRAPH_NODE_KIN_H

#include "graph/node/graph.h"

/* The node of @graph that @task runs, or was forked by; or NULL. */
const struct node *kin_node(const struct sley_graph *graph,
			    struct sley_task *task);

/* Does a node of @graph join the calling task, or a task that joins the caller? */
bool kin_is_awaited(const struct sley_graph *graph);

/* Could a node join the caller later?  Then kin_is_awaited() is worth a retry. */
bool kin_may_be_awaited(void);

#endif
