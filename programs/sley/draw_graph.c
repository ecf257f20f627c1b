/* SPDX-License-Identifier: MIT */
/*
 * draw_graph.c - what follows from the nodes and edges of a graph.
 */
#include "draw.h"

const char *const draw_state_name[NR_DRAW_STATES] = {
	[DRAW_WAITING] = "waiting", [DRAW_READY] = "ready",
	[DRAW_RUNNING] = "running", [DRAW_DONE] = "done",
	[DRAW_FAILED] = "failed",   [DRAW_SKIPPED] = "skipped",
};

/* Edges come by the node they lead to, so that the rank of @from is final. */
static void compute_ranks(struct draw_graph *graph)
{
	for (uint32_t i = 0; i < graph->nr_edges; i++) {
		const struct draw_edge *edge = &graph->edge[i];
		const struct draw_node *from = &graph->node[edge->from];
		struct draw_node *to = &graph->node[edge->to];

		if (to->rank <= from->rank)
			to->rank = from->rank + 1;
		graph->nr_failure += edge->failure;
		graph->nr_order_only += edge->order_only;
	}
}

/* The file may say that two nodes after each other took all the time there is. */
static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void draw_compute(struct draw_graph *graph)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	compute_ranks(graph);
	for (uint32_t i = 0; i < graph->nr; i++) {
		const struct draw_node *node = &graph->node[i];

		graph->count[node->state]++;
		if (node->rank >= graph->nr_ranks)
			graph->nr_ranks = node->rank + 1;
		if (!draw_has_run(node))
			continue;
		if (node->start_ns < first_ns)
			first_ns = node->start_ns;
		if (node->start_ns + node->took_ns > last_ns)
			last_ns = node->start_ns + node->took_ns;
		if (node->critical)
			graph->critical_ns =
				add(graph->critical_ns, node->took_ns);
	}
	if (graph->critical_ns)
		graph->total_ns = last_ns - first_ns;
}
