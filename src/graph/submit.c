/* SPDX-License-Identifier: MIT */
/*
 * submit.c - a node is added.
 *
 * In this order, so that whatever fails leaves nothing behind: the spec is checked,
 * a place is taken, all that the node waits for is found and has its edges, the
 * runtime counts it; then the edges are added, one by one, to lists that may be
 * closed under our hands, and at last the guard is taken off.  See node.h.
 *
 * Edges: those of node.h and of the mutex.
 */
#include "base/options.h"
#include "core/forked.h"
#include "core/spawn.h"
#include "core/turn.h"
#include "graph/graph.h"
#include "graph/placing.h"
#include "graph/submit.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>
#include <string.h>

/* ---- what is asked for ------------------------------------------------------------ */

static bool modes_are_known(const struct sley_node_spec *spec)
{
	for (uint32_t i = 0; i < spec->nr_access; i++) {
		if ((unsigned int)spec->access[i].mode > SLEY_ACCESS_UPDATE)
			return false;
	}
	return true;
}

static int check(const struct sley_graph *graph, struct sley_node_spec *spec,
		 const struct sley_node_spec *given)
{
	int err = options_copy(spec, sizeof(*spec), given);

	if (err)
		return err;
	if (spec->priority < SLEY_PRIORITY_MIN ||
	    spec->priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	if (!given || !spec->fn || spec->arg_size > SLEY_NODE_ARG_MAX ||
	    (spec->scope && spec->scope->graph != graph) ||
	    !modes_are_known(spec))
		return -EINVAL;
	return 0;
}

/* ---- room ---------------------------------------------------------------------------- */

bool submit_is_own_node(const struct sley_graph *graph)
{
	const struct worker *worker = worker_current();
	struct sley_task *task = worker && worker->strand ? worker->strand->task
							  : NULL;

	return task && task->fn == graph_turn &&
	       node_of(task)->scope->graph == graph;
}

static bool has_room(struct sley_graph *graph)
{
	if (likely(graph->places.nr_taken < graph->max_nodes))
		return true;
	places_collect(&graph->places);
	return graph->places.nr_taken < graph->max_nodes;
}

/* With the lock, which is given back meanwhile: 0, -EAGAIN or -ECANCELED. */
static noinline int wait_for_room(struct sley_graph *graph,
				  uint64_t deadline_ns)
{
	int err = 0;

	graph_ask(graph, &graph->full);
	while (!err && !has_room(graph)) {
		sley_event_clear(&graph->room);
		/* Who sets it from here on is not overlooked. */
		if (has_room(graph))
			break;
		sley_mutex_unlock(&graph->lock);
		err = sley_event_wait_until(&graph->room, deadline_ns);
		sley_mutex_lock(&graph->lock);
	}
	/* What this one has seen may have been meant for another one as well. */
	/* relaxed: the others have asked themselves. */
	if (sub_relaxed(&graph->full, 1) > 1)
		sley_event_set(&graph->room);
	return err == -ETIMEDOUT ? -EAGAIN : err;
}

static int take_place(struct sley_graph *graph,
		      const struct sley_node_spec *spec, bool last,
		      struct node **node)
{
	uint64_t deadline_ns = spec->deadline_ns ? spec->deadline_ns
						 : SLEY_FOREVER;
	int err = 0;

	if (unlikely(!has_room(graph)) && !last && !submit_is_own_node(graph))
		err = wait_for_room(graph, deadline_ns);
	if (err)
		return err;
	*node = places_take(&graph->places);
	return *node ? 0 : -ENOMEM;
}

/* ---- who it waits for ------------------------------------------------------------------ */

/* False: it has ended, well, or it is there already. */
static bool is_worth_an_edge(struct sley_graph *graph, sley_node id)
{
	struct node *node = places_node(&graph->places, node_index_of(id));

	if (edges_look(&node->consumers, node_life_of(id)) == EDGES_GONE ||
	    node->stamp == graph->stamp)
		return false;
	node->stamp = graph->stamp;
	return true;
}

static bool is_of_the_past(const struct sley_graph *graph, sley_node id)
{
	uint32_t index = node_index_of(id);

	return index < graph->places.nr_used;
}

/* Those of @list, with @flags, behind those that are in found already. */
static int add_named(struct sley_graph *graph, const sley_node *list,
		     uint32_t nr)
{
	int err = node_list_reserve(&graph->found, &graph->rt->mem, nr);

	for (uint32_t i = 0; i < nr && !err; i++) {
		if (!is_of_the_past(graph, list[i]))
			err = -EINVAL;
		else if (list[i] != SLEY_NO_NODE)
			node_list_add(&graph->found, list[i]);
	}
	return err;
}

/* Each once; those of the future are an error. */
static void drop_doubles(struct sley_graph *graph, uint32_t *nr_after)
{
	struct node_list *found = &graph->found;
	uint32_t nr = 0, nr_left = 0;

	if (unlikely(++graph->stamp == 0))
		graph->stamp = 1;
	for (uint32_t i = 0; i < found->nr; i++) {
		if (is_worth_an_edge(graph, found->node[i]))
			found->node[nr++] = found->node[i];
		if (i + 1 == *nr_after)
			nr_left = nr;
	}
	found->nr = nr;
	*nr_after = nr_left;
}

/*
 * Into found: those it needs, then those that only come first.  One that is both is
 * needed.
 */
static int find(struct sley_graph *graph, const struct sley_node_spec *spec,
		uint32_t *nr_after)
{
	int err;

	graph->found.nr = 0;
	err = access_find(&graph->map, spec->access, spec->nr_access,
			  &graph->found);
	if (!err && unlikely(spec->nr_after))
		err = add_named(graph, spec->after, spec->nr_after);
	*nr_after = graph->found.nr;
	if (!err)
		err = access_find_order(&graph->map, &graph->found);
	if (!err && unlikely(spec->nr_order))
		err = add_named(graph, spec->order, spec->nr_order);
	if (!err && graph->found.nr)
		drop_doubles(graph, nr_after);
	return err;
}

/* ---- its edges ---------------------------------------------------------------------------- */

static void give_back_pages(struct sley_graph *graph, struct node *node)
{
	while (node->pages) {
		struct node *place = places_node(&graph->places, node->pages);
		struct page *page = (struct page *)(void *)place;
		uint32_t index = node->pages;

		node->pages = (uint32_t)page->next;
		place->index = index;
		places_give(&graph->places, place, place);
	}
}

/* Pages for @nr edges more than it has: 0 or -ENOMEM. */
static noinline int take_pages(struct sley_graph *graph, struct node *node,
			       uint32_t nr)
{
	for (uint32_t done = 0; done < nr; done += PAGE_EDGES) {
		struct node *place = places_take(&graph->places);
		uint32_t index;

		if (!place) {
			give_back_pages(graph, node);
			return -ENOMEM;
		}
		index = place->index;
		((struct page *)(void *)place)->next = node->pages;
		node->pages = index;
	}
	return 0;
}

/* The number of edge @i of a page. */
static uint32_t page_edge(uint32_t page, uint32_t i)
{
	return page * NODE_CELLS + (i < PAGE_FIRST ? i : i + 2);
}

/* The number of edge @i of @node, with pages, in turn. */
static uint32_t edge_number(struct sley_graph *graph, const struct node *node,
			    uint32_t *page, uint32_t i)
{
	uint32_t at;

	if (likely(i < NODE_EDGES))
		return node->index * NODE_CELLS + NODE_FIRST_EDGE + i;
	at = (i - NODE_EDGES) % PAGE_EDGES;
	if (i == NODE_EDGES)
		*page = node->pages;
	else if (!at)
		*page = (uint32_t)((const struct page *)(const void *)
					   places_node(&graph->places, *page))
				->next;
	return page_edge(*page, at);
}

/* All edges; the guard keeps it from starting.  How many there are. */
static uint32_t wire(struct sley_graph *graph, struct node *node,
		     uint32_t nr_after)
{
	const struct node_list *found = &graph->found;
	uint32_t nr = 0, page = 0;

	for (uint32_t i = 0; i < found->nr; i++) {
		sley_node id = found->node[i];
		struct node *from =
			places_node(&graph->places, node_index_of(id));
		uint32_t number = edge_number(graph, node, &page, nr);
		struct edge *edge = places_edge(&graph->places, number);
		bool order_only = i >= nr_after;

		edge->to = node->index | (order_only ? EDGE_ORDER_ONLY : 0);
		switch (edges_add(&from->consumers, node_life_of(id), edge,
				  number)) {
		case EDGES_ADDED:
			nr++;
			break;
		case EDGES_TOO_LATE: /* and not gone: it has failed */
			if (!order_only)
				node_take_along(node, from);
			break;
		case EDGES_GONE:
			break;
		}
	}
	return nr;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The runtime waits for it from here on: 0, or why it does not. */
static int count(struct sley_graph_scope *scope, struct node *node)
{
	struct sley *rt = scope->graph->rt;
	struct worker *worker = worker_current();
	int err;

	if (likely(worker && worker->rt == rt)) {
		drain_count_spawned(worker);
		node->task.fiber = worker;
	} else {
		err = spawn_count_foreign(rt);
		if (err)
			return err;
		node->task.fiber = rt->worker[0];
	}
	if (!scope->credit) {
		scope->credit = scope->nr_waiting ? 1 : GRAPH_CREDIT;
		countdown_add(&scope->pending, scope->credit);
	}
	scope->credit--;
	return 0;
}

static void fill(struct node *node, struct sley_graph_scope *scope,
		 const struct sley_node_spec *spec, uint32_t flags)
{
	unsigned int level = (unsigned int)(spec->priority + LEVEL_DEFAULT);
	struct sley_task *task = &node->task;

	flags |= runtime_task_flags(scope->graph->rt) | TASK_TURNS;
	/* Where bound threads run the tasks, each runs what it submitted. */
	if (unlikely(!scope->graph->rt->nr_workers || node->placing))
		flags |= TASK_PINNED;

	task->fn = graph_turn;
	task->arg = spec->arg;
	if (spec->arg_size)
		task->arg = memcpy(node->arg, spec->arg, spec->arg_size);
	task->group = (struct sley_group *)(uintptr_t)&graph_turns;
	task->name = spec->name;
	task_build(task, level, flags);
	node->fn = spec->fn;
	node->scope = scope;
	/* relaxed: nobody knows it yet. */
	store_relaxed(&node->nr_missing, NODE_GUARD);
	/* relaxed: as above. */
	store_relaxed(&node->cause, 0);
	node->stamp = 0;
}

/* It comes to nothing. */
static noinline void give_up(struct sley_graph *graph, struct node *node)
{
	if (node->placing)
		placing_free(node->placing, graph->rt);
	give_back_pages(graph, node);
	places_give(&graph->places, node, node);
}

static void note(struct sley_graph_scope *scope, uint32_t nr_edges)
{
	uint32_t nr_taken = scope->graph->places.nr_taken;

	scope->stats.submitted++;
	scope->stats.edges += nr_edges;
	if (nr_taken > scope->stats.most)
		scope->stats.most = nr_taken;
}

/* With the lock: the node in its place, wired but for the guard; *@nr edges. */
static int add(struct sley_graph *graph, const struct sley_node_spec *spec,
	       bool last, struct node **out, uint32_t *nr)
{
	struct sley_graph_scope *scope = spec->scope ? spec->scope
						     : &graph->root;
	uint32_t nr_after = 0;
	struct node *node;
	int err = take_place(graph, spec, last, &node);

	if (err)
		return err;
	node->pages = 0;
	err = placing_create(&node->placing, graph->rt, spec);
	if (!err)
		err = find(graph, spec, &nr_after);
	if (!err && graph->found.nr > NODE_EDGES)
		err = take_pages(graph, node, graph->found.nr - NODE_EDGES);
	if (!err)
		err = count(scope, node);
	if (err) {
		give_up(graph, node);
		return err;
	}
	fill(node, scope, spec, last ? TASK_MUST_RUN : 0);
	edges_open(&node->consumers, edges_life(&node->consumers));
	access_note(&graph->map, spec->access, spec->nr_access,
		    node_id(node->index, edges_life(&node->consumers)));
	*nr = wire(graph, node, last ? 0 : nr_after);
	note(scope, *nr);
	*out = node;
	return 0;
}

static int submit(struct sley_graph *graph, sley_node *id,
		  const struct sley_node_spec *spec, bool last)
{
	struct node *node = NULL;
	uint32_t nr = 0;
	int err;

	if (unlikely(runtime_is_lost(graph->rt)))
		return SLEY_EFORKED;
	sley_mutex_lock(&graph->lock);
	err = add(graph, spec, last, &node, &nr);
	if (!err && id)
		*id = node_id(node->index, edges_life(&node->consumers));
	sley_mutex_unlock(&graph->lock);
	if (!err && node_guard_off(node, nr))
		graph_ready(node);
	return err;
}

int submit_last(struct sley_graph *graph, const struct sley_node_spec *spec)
{
	return submit(graph, NULL, spec, true);
}

int sley_graph_submit(struct sley_graph *graph, sley_node *id,
		      const struct sley_node_spec *given)
{
	struct sley_node_spec spec;
	int err = check(graph, &spec, given);

	if (id)
		*id = SLEY_NO_NODE;
	return err ? err : submit(graph, id, &spec, false);
}
