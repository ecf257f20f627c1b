/* SPDX-License-Identifier: MIT */
/*
 * node_log.h - what happened to the nodes of a graph: a log, for those who draw it.
 *
 * A node that has ended is gone, and another one is in its place.  So a graph that
 * is to be drawn has a record of each node that was submitted, in that order, with
 * those it depends on, be they gone or not.  The log begins anew with the first
 * node after a sley_graph_wait(), and it is bounded: what comes later is counted.
 *
 * Records are added with the graph's lock.  From then on a record is that of who
 * runs the node: it writes when the node has begun, and how it has ended.  Others
 * may look at the same time: each of these words is atomic, and nothing is made of
 * an end before all of its words are there.  A log that begins anew is that of
 * nobody: every node had ended.
 *
 * A table leads from a node to its record, with open addressing.  Nothing is ever
 * moved or taken out of it while nodes run, so they find their own record without
 * the lock, and step over those that are being added.
 *
 * Edges: none.  All is relaxed: a node's own record reaches it with the node.
 *
 * Rejected: the record's number in the node (there is no room in it, and who asks
 * for edges asks for nodes that are gone); a log that grows (it would move under
 * the hands of those who run).
 */
#ifndef SLEY_GRAPH_LOG_NODE_LOG_H
#define SLEY_GRAPH_LOG_NODE_LOG_H

#include "graph/access/node_list.h"
#include "mem/alloc.h"

#include <sley/graph.h>

#define PICTURE_MAX (1u << 20)
#define PICTURE_NONE UINT32_MAX

/* An edge is the number of the record it comes from; and perhaps this. */
#define PICTURE_ORDER_ONLY (1u << 31)

struct node_log_record {
	sley_node id;
	const char *name;
	sley_node_fn *fn;
	uint64_t begin_ns; /* 0: not yet                                    */
	uint64_t end_ns;   /* 0: not yet                                    */
	uint32_t end;      /* how, and by whom: see node_log_end()           */
	int32_t code;
	uint32_t first_edge;
	uint32_t nr_edges;
	uint32_t depth; /* of its scope                                     */
	uint32_t stamp; /* 1 + the last record with an edge from here       */
};

struct node_log {
	struct mem *mem;
	uint32_t max;
	uint32_t max_edges;
	uint32_t nr;
	uint32_t nr_edges;
	uint32_t mask; /* of the table                                  */
	bool over;     /* the next node begins anew                     */
	uint64_t nr_left_out;
	uint64_t nr_edges_left_out;
	struct node_log_record *record;
	uint32_t *edge;
	uint32_t *table; /* 1 + the record; 0: none                         */
};

/* NULL: no memory.  @max 0 is the default. */
must_check struct node_log *node_log_create(struct mem *mem, uint32_t max);
void node_log_destroy(struct node_log *log);

/* There is a record of that node.  (lock) */
bool node_log_has(const struct node_log *log, sley_node id);

/* What is known of a node when it is submitted. */
struct node_log_node {
	sley_node id;
	const char *name;
	sley_node_fn *fn;
	uint32_t depth;
	uint32_t nr_needed; /* the first of these; it only comes after the rest */
	const struct node_list *found;
};

/* (lock) */
void node_log_add(struct node_log *log, const struct node_log_node *node);

/* By who runs it. */
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

/* All nodes have ended: NULL is none.  (lock) */
static inline void node_log_is_over(struct node_log *log)
{
	if (log)
		log->over = true;
}

#endif
