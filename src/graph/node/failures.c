/* SPDX-License-Identifier: MIT */
/*
 * failures.c - see failures.h.
 */
#include "graph/node/failures.h"

#include "graph/placement/placement.h"

#include <errno.h>

/* ---- the list ------------------------------------------------------------------ */

void failures_add(struct sley_graph_scope *scope, struct node *node)
{
	/* relaxed: a guess, checked by the swap and never followed. */
	struct node *top = load_relaxed(&scope->failed);

	do {
		node->next = top;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_release(&scope->failed, &top, node)); /* FA1 */
}

/*
 * The node to report of @scope, whose list begins with @node.  The list was loaded
 * before: a failure in the list is known to scope->first then.  The first failure
 * itself may not be in the list yet.
 */
static const struct node *first_of(const struct sley_graph_scope *scope,
				   const struct node *node)
{
	uint32_t first = load_acquire(&scope->first); /* FA2 */

	if (first)
		return node_store_node(&scope->graph->store, first);
	while (node && node->next && node->failure.code == -ECANCELED)
		node = node->next;
	return node;
}

const struct node *failures_first(const struct sley_graph_scope *scope)
{
	/* relaxed: all of the scope has ended. */
	return first_of(scope, load_relaxed(&scope->failed));
}

/* Gives the place back; the id of @node is stale from here on. */
static void forget(struct sley_graph *graph, struct node *node)
{
	if (unlikely(node->placement))
		placement_free(node->placement, graph->rt);
	edges_bury(&node->successors);
	node_store_give(&graph->store, node, node, 1);
}

/* Forgets the chain from @node on, linked by next. */
static void forget_all(struct sley_graph *graph, struct node *node)
{
	uint32_t nr = 0;

	while (node) {
		struct node *next = node->next;

		forget(graph, node);
		node = next;
		nr++;
	}
	/* relaxed: the count is below 0 while a share has yet to add the nodes. */
	(void)sub_relaxed(&graph->nr_failed, nr);
}

/* ---- stones ---------------------------------------------------------------------- */

/* The scope whose stone stands for failures in @scope. */
static struct sley_graph_scope *home_of(const struct sley_graph_scope *scope)
{
	return scope->run ? scope->run : &scope->graph->root;
}

/* False: no memory. */
static bool lay_stone(struct sley_graph_scope *home, const struct node *first)
{
	struct node *stone;

	if (home->stone)
		return true;
	stone = node_store_take_page(&home->graph->store);
	if (!stone)
		return false;
	/* The edge list of the place is closed: the stone is a failed node. */
	stone->scope = home;
	stone->pages = 0;
	stone->placement = NULL;
	stone->task.name = "a node that is forgotten";
	failure_clear(&stone->failure);
	stone->failure.outcome = SLEY_OUTCOME_FAILURE;
	stone->failure.code = first->failure.code;
	stone->stamp = PASS_NEVER;
	home->stone = stone;
	return true;
}

static void remove_stone(struct sley_graph_scope *home)
{
	struct node *stone = home->stone;

	home->stone = NULL;
	edges_bury(&stone->successors);
	node_store_give(&home->graph->store, stone, stone, 0);
}

/* For access_rename(): if the writer will be forgotten, a stone stands for it. */
static sley_node rename_writer(void *arg, sley_node id)
{
	struct sley_graph *graph = arg;
	const struct node *node =
		node_store_node(&graph->store, node_index_of(id));

	if (edges_look(&node->successors, node_life_of(id)) != EDGES_TOO_LATE ||
	    !pass_has_visited(&graph->pass, node->stamp))
		return id;
	return node_id_of(home_of(node->scope)->stone);
}

/* ---- forgotten ------------------------------------------------------------------- */

void failures_forget(struct sley_graph_scope *scope)
{
	/* relaxed: all of the scope has ended. */
	struct node *node = load_relaxed(&scope->failed);

	/* relaxed: as above. */
	store_relaxed(&scope->failed, NULL);
	/* relaxed: as above. */
	store_relaxed(&scope->first, 0);
	forget_all(scope->graph, node);
	if (unlikely(scope->stone))
		remove_stone(scope);
}

static uint32_t length_of(const struct node *node)
{
	uint32_t nr = 0;

	for (; node; node = node->next)
		nr++;
	return nr;
}

/*
 * Cuts the older half from the list of @scope, except for the node to report.  The
 * pass visits the nodes that are cut, and they are put before @chain.
 */
static struct node *cut(struct sley_graph_scope *scope, struct node *chain)
{
	struct node *last = load_acquire(&scope->failed); /* FA1 */
	const struct node *first = first_of(scope, last);
	uint32_t nr = length_of(last);
	struct node *node, *next;

	/* A list of two may be the newest node and the node to report. */
	if (nr < 3 || !lay_stone(home_of(scope), first))
		return chain;
	for (uint32_t nr_kept = nr / 2; nr_kept > 1; nr_kept--)
		last = last->next;
	node = last->next;
	last->next = NULL;
	for (; node; node = next) {
		next = node->next;
		if (node == first) {
			last->next = node;
			last = node;
			node->next = NULL;
			continue;
		}
		(void)pass_visit(&scope->graph->pass, &node->stamp);
		node->next = chain;
		chain = node;
	}
	return chain;
}

void failures_thin_out(struct sley_graph *graph)
{
	struct sley_graph_scope *scope;
	struct node *chain;
	uint32_t nr;

	pass_begin(&graph->pass);
	chain = cut(&graph->root, NULL);
	for (scope = graph->scopes; scope; scope = scope->next)
		chain = cut(scope, chain);
	access_rename(&graph->map, rename_writer, graph);
	pass_end(&graph->pass);
	forget_all(graph, chain);
	/* Each scope keeps some nodes.  A higher limit: not each submission tries. */
	/* relaxed: a guess. */
	nr = load_relaxed(&graph->nr_failed);
	if ((int32_t)(nr - graph->max_failed / 4 * 3) > 0)
		graph->max_failed = nr * 2;
}
