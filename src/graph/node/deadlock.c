/* SPDX-License-Identifier: MIT */
/*
 * deadlock.c - see deadlock.h.
 */
#include "graph/node/deadlock.h"

#include "core/trace/report.h"
#include "graph/node/explain.h"
#include "graph/node/graph.h"
#include "graph/node/submit.h"

#include <errno.h>
#include <sley/time.h>

#if defined(SLEY_CHAOS) && !defined(SLEY_MODEL)
uint64_t deadlock_first_ns_for_tests = DEADLOCK_FIRST_NS;
#endif

void deadlock_enter(struct scope_wait *wait, struct sley_graph_scope *scope,
		    bool stays, bool looks)
{
	wait->node = stays ? submit_own_node(scope->graph) : NULL;
	wait->scope = scope;
	wait->look_ns = SLEY_FOREVER;
	if (!wait->node)
		return;
	wait->pause_ns = deadlock_first_ns();
	if (looks)
		wait->look_ns = sley_now() + wait->pause_ns;
	wait->next = scope->waits;
	scope->waits = wait;
}

void deadlock_leave(struct scope_wait *wait)
{
	struct scope_wait **at = &wait->scope->waits;

	if (!wait->node)
		return;
	while (*at != wait)
		at = &(*at)->next;
	*at = wait->next;
}

/* ---- marks ------------------------------------------------------------------------ */

/* One look. */
struct look {
	struct sley_graph *graph;
	struct scope_wait *to_follow;
	struct node_list stack; /* successors that are not yet followed */
};

/* @scope is marked: the nodes that wait for it do not go on; follows them, too. */
static void follow_later(struct look *look,
			 const struct sley_graph_scope *scope)
{
	struct scope_wait *wait = scope->waits;

	for (; wait; wait = wait->next) {
		wait->after_this = look->to_follow;
		look->to_follow = wait;
	}
}

/*
 * Marks the scope of @node and the scopes around it.  @node is the node of @wait, or
 * a successor of that node.
 */
static void mark_scopes(struct look *look, const struct node *node,
			const struct scope_wait *wait)
{
	const struct pass *pass = &look->graph->pass;
	struct sley_graph_scope *scope = node->scope;

	while (scope && pass_visit(pass, &scope->mark.stamp)) {
		scope->mark.wait = wait;
		scope->mark.node = node;
		follow_later(look, scope);
		scope = scope->parent;
	}
}

/* Visits the successors of @node, and appends the new ones to @list: 0 or -ENOMEM. */
static int add_successors(struct sley_graph *graph, const struct node *node,
			  struct node_list *list)
{
	uint32_t id = edges_newest(&node->successors);

	while (id) {
		const struct edge *edge = node_store_edge(&graph->store, id);
		struct node *to = node_store_node(&graph->store,
						  edge->to & ~EDGE_ORDER_ONLY);

		id = edge->next;
		if (!pass_visit(&graph->pass, &to->stamp))
			continue;
		if (node_list_reserve(list, &graph->rt->mem, 1))
			return -ENOMEM;
		node_list_add(list, to->index);
	}
	return 0;
}

/* Marks all that cannot go on before the node of @wait has ended. */
static int follow(struct look *look, const struct scope_wait *wait)
{
	struct sley_graph *graph = look->graph;
	struct node_list *stack = &look->stack;
	const struct node *node = wait->node;
	int err;

	mark_scopes(look, node, wait);
	err = add_successors(graph, node, stack);
	while (!err && stack->nr) {
		sley_node id = stack->node[--stack->nr];

		node = node_store_node(&graph->store, node_index_of(id));
		mark_scopes(look, node, wait);
		err = add_successors(graph, node, stack);
	}
	return err;
}

static bool is_closed(struct sley_graph *graph, const struct scope_wait *first)
{
	struct look look = { .graph = graph };
	const struct scope_wait *wait;
	bool closed;
	int err;

	pass_begin(&graph->pass);
	err = follow(&look, first);
	while (!err && (wait = look.to_follow)) {
		look.to_follow = wait->after_this;
		err = follow(&look, wait);
	}
	/* If there was no memory, the next look comes later. */
	closed = !err &&
		 pass_has_visited(&graph->pass, first->scope->mark.stamp);
	pass_end(&graph->pass);
	node_list_destroy(&look.stack, &graph->rt->mem);
	return closed;
}

/* ---- before a cycle is closed ------------------------------------------------------- */

/* Visits all direct and indirect successors of @node: 0 or -ENOMEM. */
static int mark_after(struct sley_graph *graph, const struct node *node)
{
	struct node_list list = { .nr = 0 };
	int err;

	err = add_successors(graph, node, &list);
	while (!err && list.nr) {
		uint32_t index = node_index_of(list.node[--list.nr]);

		err = add_successors(
			graph, node_store_node(&graph->store, index), &list);
	}
	node_list_destroy(&list, &graph->rt->mem);
	return err;
}

int deadlock_check(struct sley_graph *graph, const struct node *node,
		   const struct predecessors *found)
{
	int err;

	pass_begin(&graph->pass);
	err = mark_after(graph, node);
	for (uint32_t i = 0; i < found->list.nr && !err; i++) {
		sley_node id = found->list.node[i];
		const struct node *from =
			node_store_node(&graph->store, node_index_of(id));

		if (edges_look(&from->successors, node_life_of(id)) ==
			    EDGES_ADDED &&
		    pass_has_visited(&graph->pass, from->stamp))
			err = -EDEADLK;
	}
	pass_end(&graph->pass);
	return err;
}

/* ---- names -------------------------------------------------------------------------- */

static const char *name_of(const struct node *node)
{
	return node->task.name ? node->task.name : "a node";
}

/* Backwards: from the scope that @first waits for to the node that holds it up. */
static void tell(const struct sley_graph *graph, const struct scope_wait *first)
{
	char line[512];
	struct explanation text = { .at = line, .size = sizeof(line) };
	const struct scope_wait *wait = first;

	do {
		const struct deadlock_mark *mark = &wait->scope->mark;

		explanation_say(&text, text.length ? " <- " : "",
				name_of(wait->node));
		explanation_say(&text, " waits for a scope", "");
		if (mark->node != mark->wait->node) {
			explanation_say(&text, " <- ", name_of(mark->node));
			explanation_say(&text, " is in it, and comes after ",
					name_of(mark->wait->node));
		} else {
			explanation_say(&text, " <- ", name_of(mark->node));
			explanation_say(&text, " is in it", "");
		}
		wait = mark->wait;
	} while (wait != first);
	report(graph->rt, "%s: nodes wait in a cycle: %s", graph->name, line);
}

int deadlock_look(struct scope_wait *wait)
{
	struct sley_graph *graph = wait->scope->graph;

	if (is_closed(graph, wait)) {
		tell(graph, wait);
		return -EDEADLK;
	}
	if (wait->pause_ns < DEADLOCK_LAST_NS)
		wait->pause_ns *= 2;
	wait->look_ns = sley_now() + wait->pause_ns;
	return 0;
}
