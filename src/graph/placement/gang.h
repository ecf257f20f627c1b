/* SPDX-License-Identifier: MIT */
/*
 * gang.h - a node whose members run on several workers at once: see placement.h.
 */
#ifndef SLEY_GRAPH_PLACEMENT_GANG_H
#define SLEY_GRAPH_PLACEMENT_GANG_H

#include "graph/placement/placement.h"

/* Called before the members are queued.  False: the gang was cancelled before. */
must_check bool gang_begin(struct node *node);

/* The node that @task is a member of, or NULL. */
struct node *gang_node(struct sley_task *task);

/* Cancels the members that run, or wait for others. */
void gang_cancel(struct node *node);

#endif
