/* SPDX-License-Identifier: MIT */
/*
 * wire.c - see wire.h.
 *
 * All edges between two runs are order-only: a failed run does not affect the next.
 */
#include "graph/node/wire.h"

#include <errno.h>

/* ---- the predecessors ------------------------------------------------------------ */

/* Appends the @nr nodes of @named to @list. */
static int add_named(const struct sley_graph *graph, const sley_node *named,
		     uint32_t nr, struct node_list *list)
{
	uint32_t nr_used = graph->store.nr_used;

	if (unlikely(node_list_reserve(list, &graph->rt->mem, nr)))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		if (unlikely(node_index_of(named[i]) >= nr_used))
			return -EINVAL; /* not yet submitted */
		if (named[i] != SLEY_NO_NODE)
			node_list_add(list, named[i]);
	}
	return 0;
}

/* A predecessor that is needed, and also named as order-only, is needed. */
static int find(struct sley_graph_scope *scope,
		const struct sley_node_spec *spec, struct predecessors *found)
{
	struct sley_graph *graph = scope->graph;
	struct node_list *list = &found->list;
	int err = 0;

	predecessors_begin(found);
	if (spec->nr_access)
		err = access_find(&graph->map, spec->access, spec->nr_access,
				  list);
	if (!err && spec->nr_after)
		err = add_named(graph, spec->after, spec->nr_after, list);
	predecessors_begin_order(found);
	if (!err && spec->nr_access)
		err = access_find_order(&graph->map, list);
	if (!err && spec->nr_order)
		err = add_named(graph, spec->order, spec->nr_order, list);
	if (!err && unlikely(scope->gate))
		err = add_named(graph, &scope->gate, 1, list);
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

/*
 * The node with @id, if a new node has to wait for it, or may be poisoned by it.
 * NULL: it has succeeded, or this pass has visited it.  A node that is returned keeps
 * its place as long as the lock is held.
 */
static inline struct node *visit(const struct sley_graph *graph, sley_node id)
{
	struct node *from = node_store_node(&graph->store, node_index_of(id));

	if (edges_look(&from->successors, node_life_of(id)) == EDGES_GONE ||
	    !pass_visit(&graph->pass, &from->stamp))
		return NULL;
	return from;
}

/* How many different nodes of @found have not succeeded. */
static uint32_t nr_to_connect(struct sley_graph *graph,
			      const struct predecessors *found)
{
	uint32_t nr = 0;

	pass_begin(&graph->pass);
	for (uint32_t i = 0; i < found->list.nr; i++)
		nr += visit(graph, found->list.node[i]) != NULL;
	pass_end(&graph->pass);
	return nr;
}

/* Takes pages for the edges that do not fit into the node: 0 or -ENOMEM. */
static noinline int take_pages(struct sley_graph *graph, struct node *node,
			       const struct predecessors *found)
{
	uint32_t nr = nr_to_connect(graph, found);

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
	      const struct sley_node_spec *spec, struct predecessors *found)
{
	struct sley_graph *graph = scope->graph;
	int err = find(scope, spec, found);

	if (!err && unlikely(scope->run))
		err = run_check(scope, found);
	if (!err && unlikely(found->list.nr > NODE_EDGES))
		err = take_pages(graph, node, found);
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
	struct node *from = visit(graph, id);

	if (!from)
		return false;
	needed = needed && !scope_is_of_other_run(from->scope, node->scope);
	spare->edge->to = node->index | (needed ? 0 : EDGE_ORDER_ONLY);
	switch (edges_add(&from->successors, node_life_of(id), spare->edge,
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

uint32_t wire(struct sley_graph *graph, struct node *node,
	      const struct predecessors *found, bool last)
{
	struct spare spare = {
		.edge = node->edge,
		.end = node->edge + NODE_EDGES,
		.page = node->pages,
	};
	const sley_node *id = found->list.node;
	uint32_t nr_found = found->list.nr;
	uint32_t nr_needed = last ? 0 : found->nr_needed;
	uint32_t nr = 0;

	pass_begin(&graph->pass);
	for (uint32_t i = 0; i < nr_found; i++) {
		if (connect(graph, node, id[i], i < nr_needed, &spare)) {
			nr++;
			use(graph, &spare);
		}
	}
	pass_end(&graph->pass);
	return nr;
}
