/* SPDX-License-Identifier: MIT */
/*
 * watch.c - see watch.h.
 */
#include "graph/node/watch.h"

#include "graph/node/graph.h"
#include "graph/log/node_log.h"

void watch_submitted(struct node *node, const struct predecessors *found,
		     uint32_t nr, bool last)
{
	const struct sley_graph_scope *scope = node->scope;
	const struct sley_graph *graph = scope->graph;

	node->nr_edges = nr;
	if (graph->log && !last)
		node_log_add(graph->log, &(const struct node_log_node){
						 .id = node_id_of(node),
						 .name = node->task.name,
						 .fn = node->fn,
						 .depth = scope->depth,
						 .found = found,
					 });
}

/* ---- arrows ------------------------------------------------------------------------ */

/* An edge has a unique number: @number is the cell, in @to or in a page of @to. */
static void record_edge(enum trace_kind kind, const struct node *to,
			uint32_t number)
{
	struct worker *worker = worker_current();
	uint32_t life = edges_life(&to->successors);

	trace_event(&worker->trace, kind, (uint64_t)life << 32 | number);
}

static void record_edges_in(const struct node *node)
{
	const struct node_store *store = &node->scope->graph->store;
	uint32_t nr = node->nr_edges;
	uint32_t page = node->pages;

	for (uint32_t i = 0; i < nr && i < NODE_EDGES; i++)
		record_edge(TRACE_EDGE_IN, node,
			    node->index * NODE_CELLS + NODE_FIRST_EDGE + i);
	for (uint32_t i = NODE_EDGES; i < nr; i++) {
		uint32_t at = (i - NODE_EDGES) % PAGE_EDGES;
		const void *place = node_store_node(store, page);

		record_edge(TRACE_EDGE_IN, node,
			    page * NODE_CELLS + NODE_CELLS - PAGE_EDGES + at);
		if (at == PAGE_EDGES - 1)
			page = (uint32_t)((const struct page *)place)->next;
	}
}

void watch_release(const struct node *to, uint32_t number)
{
	record_edge(TRACE_EDGE_OUT, to, number);
}

/* ---- both ---------------------------------------------------------------------------- */

void watch_begin(struct node *node)
{
	const struct sley_graph *graph = node->scope->graph;

	if (graph->watch & WATCH_TRACE)
		record_edges_in(node);
	if (graph->log)
		node_log_begin(graph->log, node_id_of(node));
}

void watch_end(struct node *node, uint32_t worker)
{
	struct node_log *log = node->scope->graph->log;

	if (log)
		node_log_end(log, node_id_of(node), node->failure.outcome,
			     node->failure.code, worker);
}
