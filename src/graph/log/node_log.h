/* SPDX-License-Identifier: MIT */
/*
 * node_log.h - a log of the nodes of a graph, for drawings and dumps.
 *
 * A node that has ended is gone, and another node is in its place.  So a graph with
 * a log keeps a record of each submitted node, in that order, with its predecessors,
 * even if these are gone.  The log begins anew with the first node after a
 * sley_graph_wait().  It is bounded: later nodes are only counted.
 *
 * Records are added with the graph's lock.  From then on a record belongs to the
 * worker that runs the node.  The worker writes when the node has begun, and how it
 * has ended.  Other threads may read at the same time: each of these words is
 * atomic, and readers use an end only when all of its words are there.  When the log
 * begins anew no worker has a record: every node has ended.
 *
 * A table leads from a node to its record, with open addressing and not with the
 * chains of base/hash.h: entries are never moved or removed while nodes run.  So
 * workers find their own records without the lock, and step over entries that are
 * being added.
 *
 * Edges: none.  All is relaxed: a node's own record reaches the worker with the
 * node.
 *
 * Rejected: the record's number in the node (a node has no room for it, and edges
 * need the records of nodes that are gone); a log that grows (it would move while
 * workers use it).
 */
#ifndef SLEY_GRAPH_LOG_NODE_LOG_H
#define SLEY_GRAPH_LOG_NODE_LOG_H

#include "graph/access/predecessors.h"
#include "mem/alloc.h"

#include <sley/graph.h>

#define PICTURE_MAX (1u << 20)
#define PICTURE_NONE UINT32_MAX

/* An edge is the number of the record it comes from, perhaps with this flag. */
#define PICTURE_ORDER_ONLY (1u << 31)

struct node_log_record {
	sley_node id;
	const char *name;
	sley_node_fn *fn;
	uint64_t begin_ns; /* 0: not yet                                    */
	uint64_t end_ns;   /* 0: not yet                                    */
	uint32_t end;      /* outcome and worker: see node_log_end()         */
	int32_t code;
	uint32_t first_edge;
	uint32_t nr_edges;
	uint32_t depth; /* of the scope                                     */
	uint32_t stamp; /* 1 + the last record with an edge from this       */
};

struct node_log {
	struct mem *mem;
	uint32_t max;
	uint32_t max_edges;
	uint32_t nr;
	uint32_t nr_edges;
	uint32_t bits; /* the table has 2^bits cells                    */
	bool over;     /* the next node begins the log anew             */
	uint64_t nr_left_out;
	uint64_t nr_edges_left_out;
	struct node_log_record *record;
	uint32_t *edge;
	uint32_t *table; /* 1 + the record, or 0                            */
};

/* NULL: no memory.  @max 0 is the default. */
must_check struct node_log *node_log_create(struct mem *mem, uint32_t max);
void node_log_destroy(struct node_log *log);

/* Is there a record of @id?  (lock) */
bool node_log_has(const struct node_log *log, sley_node id);

/* A node at its submission. */
struct node_log_node {
	sley_node id;
	const char *name;
	sley_node_fn *fn;
	uint32_t depth;
	const struct predecessors *found;
};

/* (lock) */
void node_log_add(struct node_log *log, const struct node_log_node *node);

/* By the thread that runs the node. */
void node_log_begin(struct node_log *log, sley_node id);
void node_log_end(struct node_log *log, sley_node id, enum sley_outcome outcome,
		  int code, uint32_t worker);

static inline enum sley_outcome node_log_outcome(uint32_t end)
{
	return (enum sley_outcome)(end & 0xff);
}

static inline uint32_t node_log_worker(uint32_t end)
{
	return end >> 8;
}

/* All nodes have ended.  @log may be NULL.  (lock) */
static inline void node_log_is_over(struct node_log *log)
{
	if (log)
		log->over = true;
}

#endif
