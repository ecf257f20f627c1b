/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - a copy of a log at one moment, and numbers computed from it.
 *
 * The copy is made with the graph's lock, so that the log does not grow; nodes may
 * run on.  All else is done without the lock, since it takes time.
 *
 * A node depends on nodes that were submitted before it.  So the nodes are computed
 * in the order of submission: the longest chain that ends with a node is known
 * before its successors are looked at.
 */
#ifndef SLEY_GRAPH_LOG_SNAPSHOT_H
#define SLEY_GRAPH_LOG_SNAPSHOT_H

#include "graph/log/node_log.h"

enum drawn_state {
	DRAWN_WAITING, /* for predecessors */
	DRAWN_READY,   /* not begun      */
	DRAWN_RUNNING,
	DRAWN_DONE,
	DRAWN_FAILED,
	DRAWN_SKIPPED,
	NR_DRAWN_STATES,
};

#define DRAWN_NAME 96 /* bytes, for nodes without a name */

struct drawn_node {
	const char *name; /* or NULL                                        */
	sley_node_fn *fn;
	uint64_t begin_ns;
	uint64_t took_ns; /* so far                                         */
	uint64_t path_ns; /* the longest chain that ends here               */
	uint32_t before;  /* the last edge of that chain, or PICTURE_NONE   */
	uint32_t first_edge;
	uint32_t nr_edges; /* from predecessors                             */
	uint32_t worker;
	uint32_t depth;
	int32_t code;
	enum drawn_state state;
	bool critical;
};

struct drawn_edge {
	uint32_t from;
	uint32_t to;
	bool order_only;
	bool critical;
	bool poisoned; /* its target was skipped because of it */
};

struct snapshot {
	struct mem *mem;
	const char *name;
	struct drawn_node *node;
	struct drawn_edge *edge;
	uint32_t nr;
	uint32_t nr_edges;
	uint64_t nr_left_out;
	uint64_t nr_edges_left_out;
	uint64_t now_ns;   /* when it was copied                       */
	uint64_t first_ns; /* the first beginning; now_ns without one  */
	uint64_t critical_ns;
	uint64_t total_ns; /* from the first beginning to the last end */
};

/* 0; or -ENOMEM, and there is nothing to destroy.  (lock) */
must_check int snapshot_copy(struct snapshot *snapshot,
			     const struct node_log *log);
void snapshot_destroy(struct snapshot *snapshot);

/* After the copy. */
void snapshot_compute(struct snapshot *snapshot);

/* The name of @node, or a text about its function, written to @text. */
const char *drawn_name(const struct drawn_node *node, char text[DRAWN_NAME]);

static inline bool drawn_has_run(const struct drawn_node *node)
{
	return node->state >= DRAWN_RUNNING && node->state <= DRAWN_FAILED;
}

#endif
