/* SPDX-License-Identifier: MIT */
/*
 * graph_scope.c - scopes of a graph: opened, closed, and freed after their nodes.
 *
 * A closed scope goes on as long as its nodes do.  No thread waits for that: the
 * next holder of the lock that passes by frees the scope (scopes_reap).  Failures
 * that no waiter has seen by then pass to the parent.  A run with such failures
 * stays until a waiter waits for the graph: they must not count as failures outside
 * of any run, see wire.c.
 *
 * Edges:
 *
 *   C1  see core/task/countdown.h
 */
#include "core/life/after_fork.h"
#include "graph/node/buffer.h"
#include "graph/node/graph.h"

#include <errno.h>
#include <sley/error.h>

int sley_graph_scope_begin(struct sley_graph_scope **out,
			   struct sley_graph *graph,
			   struct sley_graph_scope *parent)
{
	struct sley_graph_scope *scope;

	*out = NULL;
	if (unlikely(runtime_is_lost(graph->rt)))
		return SLEY_EFORKED;
	if (!parent)
		parent = &graph->root;
	if (parent->graph != graph)
		return -EINVAL;
	if (parent->depth == SLEY_GRAPH_SCOPES)
		return -EOVERFLOW;
	scope = mem_alloc(&graph->rt->mem, sizeof(*scope));
	if (!scope)
		return -ENOMEM;
	scope->graph = graph;
	scope->parent = parent;
	scope->depth = scope->stats.depth = parent->depth + 1;
	scope->run = parent->run;
	scope->gate = parent->gate;
	sley_mutex_lock(&graph->lock);
	scopes_reap(graph);
	/* relaxed: a request, handed down. */
	store_relaxed(&scope->cancelled, load_relaxed(&parent->cancelled));
	scope->next = graph->scopes;
	graph->scopes = scope;
	parent->nr_nested++;
	sley_mutex_unlock(&graph->lock);
	*out = scope;
	return 0;
}

/* Moves the failures to the parent, where a waiter will see them. */
static void hand_failures_on(struct sley_graph_scope *scope)
{
	struct sley_graph_scope *parent = scope->parent;
	struct node *last = scope->failed, *top;

	if (!last)
		return;
	last->scope = parent;
	while (last->next) {
		last = last->next;
		last->scope = parent;
	}
	/* relaxed: nodes of the parent may end at the same time. */
	top = load_relaxed(&parent->failed);
	do {
		last->next = top;
		/* relaxed: read when all have ended. */
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_relaxed(&parent->failed, &top, scope->failed));
	if (scope->first) {
		uint32_t none = 0;

		/* relaxed: as above. */
		(void)cas_relaxed(&parent->first, &none, scope->first);
	}
}

static bool is_over(const struct sley_graph_scope *scope)
{
	uint64_t pending = load_acquire(&scope->pending.word); /* C1 */

	return scope->closed && !scope->nr_waiting && !scope->nr_nested &&
	       !(scope->run == scope && scope->failed) &&
	       countdown_of(pending) == scope->credit &&
	       !(pending & WAITQ_LOCK);
}

void scopes_reap(struct sley_graph *graph)
{
	struct sley_graph_scope **at = &graph->scopes;
	struct sley_graph_scope *scope;

	/* The newest first: inner scopes before outer scopes. */
	while ((scope = *at)) {
		if (!is_over(scope)) {
			at = &scope->next;
			continue;
		}
		*at = scope->next;
		hand_failures_on(scope);
		scope->parent->nr_nested--;
		mem_free(&graph->rt->mem, scope, sizeof(*scope));
	}
}

void sley_graph_scope_end(struct sley_graph_scope *scope)
{
	struct sley_graph *graph = scope->graph;

	sley_mutex_lock(&graph->lock);
	sley_check(
		!scope->closed,
		"the scope was ended before: call sley_graph_scope_end() once");
	sley_check(graph->open_run != scope,
		   "the scope is a run: end it with sley_graph_run_end()");
	buffers_drop(scope);
	scope->closed = true;
	scopes_reap(graph);
	sley_mutex_unlock(&graph->lock);
}

void sley_graph_scope_get_stats(struct sley_graph *graph,
				const struct sley_graph_scope *scope,
				struct sley_graph_scope_stats *out)
{
	sley_mutex_lock(&graph->lock);
	*out = scope ? scope->stats : graph->root.stats;
	sley_mutex_unlock(&graph->lock);
}
