/* SPDX-License-Identifier: MIT */
/*
 * wire.c - see wire.h.
 *
 * From one run to another all edges are order-only: a run that fails leaves nothing
 * behind for the next one.
 */
#include "graph/wire.h"

#include "graph/submit.h"

#include <errno.h>

/* ---- who it waits for ------------------------------------------------------------ */

/* Those of @list, behind those that are there already. */
static int add_named(struct sley_graph *graph, const sley_node *list,
		     uint32_t nr)
{
	int err = node_list_reserve(&graph->found, &graph->rt->mem, nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		if (unlikely(node_index_of(list[i]) >= graph->places.nr_used))
			err = -EINVAL; /* of the future */
		else if (list[i] != SLEY_NO_NODE)
			node_list_add(&graph->found, list[i]);
	}
	return err;
}

/*
 * Into found: those it needs, then those that only come first.  One that is both is
 * needed.
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

/* ---- room for its edges ------------------------------------------------------------- */

static struct page *page_at(struct sley_graph *graph, uint32_t index)
{
	return (struct page *)(void *)places_node(&graph->places, index);
}

void wire_give_up(struct sley_graph *graph, struct node *node)
{
	while (node->pages) {
		uint32_t index = node->pages;
		struct node *place = places_node(&graph->places, index);

		node->pages = (uint32_t)page_at(graph, index)->next;
		place->index = index;
		places_give(&graph->places, place, place, 1);
	}
}

/* Pages for @nr edges more than it has: 0 or -ENOMEM. */
static noinline int take_pages(struct sley_graph *graph, struct node *node,
			       uint32_t nr)
{
	for (uint32_t done = 0; done < nr; done += PAGE_EDGES) {
		struct node *place = places_take(&graph->places);
		uint32_t index;

		if (!place)
			return -ENOMEM;
		index = place->index;
		page_at(graph, index)->next = node->pages;
		node->pages = index;
	}
	return 0;
}

/* The end of @run, if nodes of the next one wait for it; or NULL. */
static const struct node *end_of_run(const struct sley_graph_scope *run)
{
	const struct sley_graph *graph = run->graph;
	const struct sley_graph_scope *next = graph->scopes;
	const struct node *end;

	while (next && (next->run != next || next->number != run->number + 1))
		next = next->next;
	if (!next || next->gate == SLEY_NO_NODE)
		return NULL;
	end = places_node(&graph->places, node_index_of(next->gate));
	return edges_look(&end->consumers, node_life_of(next->gate)) ==
			       EDGES_ADDED
		       ? end
		       : NULL;
}

/* One of no run, which is waited for, may come after a later one. */
static int check_others(const struct sley_graph_scope *run)
{
	const struct node *own = submit_own_node(run->graph);
	const struct node *end = NULL;

	/* Only then it does not end under our hands. */
	if (run->graph->stepped || (own && own->scope->run == run))
		end = end_of_run(run);
	return end ? circle_check(run->graph, end) : 0;
}

/*
 * For a node of a run: nobody it waits for is of a later one, which may be built
 * already, but waits for the end of this one.  Nor does it come after such a one.
 */
static noinline int check_runs(const struct sley_graph_scope *scope)
{
	const struct sley_graph *graph = scope->graph;
	const struct node_list *found = &graph->found;
	bool others = false;

	for (uint32_t i = 0; i < found->nr; i++) {
		uint32_t index = node_index_of(found->node[i]);
		uint32_t life = node_life_of(found->node[i]);
		const struct node *from = places_node(&graph->places, index);

		if (edges_look(&from->consumers, life) != EDGES_ADDED)
			continue;
		if (!from->scope->run)
			others |= found->node[i] != scope->gate;
		else if ((int32_t)(from->scope->run->number -
				   scope->run->number) > 0)
			return -EDEADLK;
	}
	if (likely(!others || graph->nr_begun == scope->run->number))
		return 0;
	return check_others(scope->run);
}

int wire_find(struct sley_graph_scope *scope, struct node *node,
	      const struct sley_node_spec *spec)
{
	struct sley_graph *graph = scope->graph;
	int err = find(scope, spec);

	if (!err && unlikely(scope->run))
		err = check_runs(scope);
	if (!err && unlikely(graph->found.nr > NODE_EDGES))
		err = take_pages(graph, node, graph->found.nr - NODE_EDGES);
	return err;
}

/* ---- the edges ------------------------------------------------------------------------ */

/* The edges of a node that are free. */
struct spare {
	struct edge *edge; /* the next one               */
	struct edge *end;  /* of those in this place     */
	uint32_t page;     /* the one after this, or 0   */
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

static bool is_of_other_run(const struct sley_graph_scope *from,
			    const struct sley_graph_scope *to)
{
	return unlikely(from != to) && from->run && to->run &&
	       from->run != to->run;
}

/* One edge from the node with @id, if that has not ended.  True: there is. */
static bool connect(struct sley_graph *graph, struct node *node, sley_node id,
		    bool needed, struct spare *spare)
{
	struct node *from = places_node(&graph->places, node_index_of(id));
	uint32_t life = node_life_of(id);

	/* Only then is the place that node's, and will be while we look. */
	if (edges_look(&from->consumers, life) == EDGES_GONE ||
	    from->stamp == graph->stamp)
		return false;
	from->stamp = graph->stamp;
	needed = needed && !is_of_other_run(from->scope, node->scope);
	spare->edge->to = node->index | (needed ? 0 : EDGE_ORDER_ONLY);
	switch (edges_add(&from->consumers, life, spare->edge,
			  places_edge_id(&graph->places, spare->edge))) {
	case EDGES_ADDED:
		return true;
	case EDGES_TOO_LATE: /* and not gone: it has failed */
		if (needed)
			node_take_along(node, from);
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

	if (unlikely(++graph->stamp == 0))
		graph->stamp = 1;
	for (uint32_t i = 0; i < nr_found; i++) {
		if (connect(graph, node, found[i], i < nr_needed, &spare)) {
			nr++;
			use(graph, &spare);
		}
	}
	return nr;
}
