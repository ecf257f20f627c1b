/* SPDX-License-Identifier: MIT */
/*
 * wire.c - see wire.h.
 *
 * All edges between two runs are order-only: a failed run does not affect the next.
 */
#include "graph/node/wire.h"

#include <errno.h>

/* ---- the predecessors ------------------------------------------------------------ */

/* Appends the nodes of @list to graph->found. */
static int add_named(struct sley_graph *graph, const sley_node *list,
		     uint32_t nr)
{
	int err = node_list_reserve(&graph->found, &graph->rt->mem, nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		if (unlikely(node_index_of(list[i]) >= graph->store.nr_used))
			err = -EINVAL; /* not yet submitted */
		else if (list[i] != SLEY_NO_NODE)
			node_list_add(&graph->found, list[i]);
	}
	return err;
}

/*
 * Fills graph->found: first the predecessors whose success the node needs, then the
 * predecessors that only come first.  A predecessor that is both is needed.
 */
static int find(struct sley_graph_scope *scope,
		const struct sley_node_spec *spec)
{
	struct sley_graph *graph = scope->graph;
	int err = 0;

	graph->found.nr = 0;
	if (spec->nr_access)
		err = access_find(&graph->map, spec->access, spec->nr_access,
				  &graph->found);
	if (!err && spec->nr_after)
		err = add_named(graph, spec->after, spec->nr_after);
	graph->nr_needed = graph->found.nr;
	if (!err && spec->nr_access)
		err = access_find_order(&graph->map, &graph->found);
	if (!err && spec->nr_order)
		err = add_named(graph, spec->order, spec->nr_order);
	if (!err && unlikely(scope->gate))
		err = add_named(graph, &scope->gate, 1);
	return err;
}

/* ---- room for the edges ------------------------------------------------------------- */

static struct page *page_at(struct sley_graph *graph, uint32_t index)
{
	return (struct page *)(void *)node_store_node(&graph->store, index);
}

void wire_give_up(struct sley_graph *graph, struct node *node)
{
	while (node->pages) {
		uint32_t index = node->pages;
		struct node *place = node_store_node(&graph->store, index);

		node->pages = (uint32_t)page_at(graph, index)->next;
		place->index = index;
		node_store_give(&graph->store, place, place, 0);
	}
}

/* How many different nodes in graph->found have not succeeded. */
static uint32_t nr_to_connect(struct sley_graph *graph)
{
	uint32_t nr = 0;

	graph_next_stamp(graph);
	for (uint32_t i = 0; i < graph->found.nr; i++) {
		sley_node id = graph->found.node[i];
		struct node *from =
			node_store_node(&graph->store, node_index_of(id));

		if (edges_look(&from->successors, node_life_of(id)) ==
			    EDGES_GONE ||
		    from->stamp == graph->stamp)
			continue;
		from->stamp = graph->stamp;
		nr++;
	}
	return nr;
}

/* Takes pages for the edges that do not fit into the node: 0 or -ENOMEM. */
static noinline int take_pages(struct sley_graph *graph, struct node *node)
{
	uint32_t nr = nr_to_connect(graph);

	for (uint32_t done = NODE_EDGES; done < nr; done += PAGE_EDGES) {
		struct node *place = node_store_take_page(&graph->store);
		uint32_t index;

		if (!place)
			return -ENOMEM;
		index = place->index;
		page_at(graph, index)->next = node->pages;
		node->pages = index;
	}
	return 0;
}

int wire_find(struct sley_graph_scope *scope, struct node *node,
	      const struct sley_node_spec *spec)
{
	struct sley_graph *graph = scope->graph;
	int err = find(scope, spec);

	if (!err && unlikely(scope->run))
		err = run_check(scope);
	if (!err && unlikely(graph->found.nr > NODE_EDGES))
		err = take_pages(graph, node);
	return err;
}

/* ---- the edges ------------------------------------------------------------------------ */

/* The free edges of a node. */
struct spare {
	struct edge *edge; /* the next                   */
	struct edge *end;  /* of the edges in this place */
	uint32_t page;     /* the next page, or 0        */
};

static noinline void turn_page(struct sley_graph *graph, struct spare *spare)
{
	struct page *page = page_at(graph, spare->page);

	spare->edge = page->rest;
	spare->end = page->rest + PAGE_EDGES;
	spare->page = (uint32_t)page->next;
}

static void use(struct sley_graph *graph, struct spare *spare)
{
	if (unlikely(++spare->edge == spare->end) && spare->page)
		turn_page(graph, spare);
}

/* Adds an edge from the node with @id, unless that has ended.  True: added. */
static bool connect(struct sley_graph *graph, struct node *node, sley_node id,
		    bool needed, struct spare *spare)
{
	struct node *from = node_store_node(&graph->store, node_index_of(id));
	uint32_t life = node_life_of(id);

	/* Otherwise the place belongs to that node, as long as the lock is held. */
	if (edges_look(&from->successors, life) == EDGES_GONE ||
	    from->stamp == graph->stamp)
		return false;
	from->stamp = graph->stamp;
	needed = needed && !scope_is_of_other_run(from->scope, node->scope);
	spare->edge->to = node->index | (needed ? 0 : EDGE_ORDER_ONLY);
	switch (edges_add(&from->successors, life, spare->edge,
			  node_store_edge_id(&graph->store, spare->edge))) {
	case EDGES_ADDED:
		return true;
	case EDGES_TOO_LATE: /* not gone: the node has failed */
		if (needed)
			node_poison(node, from);
		return false;
	case EDGES_GONE:
		return false;
	}
	return false;
}

uint32_t wire(struct sley_graph *graph, struct node *node, bool last)
{
	struct spare spare = {
		.edge = node->edge,
		.end = node->edge + NODE_EDGES,
		.page = node->pages,
	};
	const sley_node *found = graph->found.node;
	uint32_t nr_found = graph->found.nr;
	uint32_t nr_needed = last ? 0 : graph->nr_needed;
	uint32_t nr = 0;

	graph_next_stamp(graph);
	for (uint32_t i = 0; i < nr_found; i++) {
		if (connect(graph, node, found[i], i < nr_needed, &spare)) {
			nr++;
			use(graph, &spare);
		}
	}
	return nr;
}
