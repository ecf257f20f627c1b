/* SPDX-License-Identifier: MIT */
/*
 * gang.h - the members of a node that several run at once: see placement.h.
 */
#ifndef SLEY_GRAPH_PLACEMENT_GANG_H
#define SLEY_GRAPH_PLACEMENT_GANG_H

#include "graph/placement/placement.h"

/* Before its members are queued.  False: it was cancelled before. */
must_check bool gang_begin(struct node *node);

/* The node that @task is a member of, or NULL. */
struct node *gang_node(struct sley_task *task);

/* Those that run, or wait for the others, are asked to end. */
void gang_cancel(struct node *node);

#endif
