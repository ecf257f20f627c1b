/* SPDX-License-Identifier: MIT */
/*
 * scope_wait.c - waiting for a graph, or a scope of it, and returning its errors.
 *
 * A waiter for a scope waits for the scopes within, one after the other.  After each
 * it looks again from the beginning with the lock held, so that no node is submitted
 * meanwhile.  A node that waits for long looks for a deadlock (deadlock.h).
 *
 * Edges:
 *
 *   C1  see core/task/countdown.h
 */
#include "core/life/after_fork.h"
#include "core/trace/report.h"
#include "graph/node/failures.h"
#include "graph/node/graph.h"
#include "graph/log/node_log.h"
#include "graph/node/submit.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>

/* ---- until all nodes have ended ----------------------------------------------------- */

static bool is_busy(struct sley_graph_scope *scope)
{
	/* Nodes that are only credit were not submitted. */
	return countdown_of(load_acquire(&scope->pending.word)) > /* C1 */
	       scope->credit;
}

/* @outer or a scope within that has nodes that have not ended; or NULL. */
static struct sley_graph_scope *find_busy(struct sley_graph_scope *outer)
{
	struct sley_graph_scope *scope;

	if (is_busy(outer))
		return outer;
	for (scope = outer->graph->scopes; scope; scope = scope->next) {
		if (is_busy(scope) && scope_is_within(scope, outer))
			return scope;
	}
	return NULL;
}

bool scope_is_busy(struct sley_graph_scope *scope)
{
	return find_busy(scope) != NULL;
}

/*
 * The same in a stepped graph: the caller makes a step.  If the caller is in a step
 * itself, and no other step is left, it waits for nodes that come after that step.
 */
static int await_steps(struct sley_graph *graph)
{
	int nr;

	sley_mutex_unlock(&graph->lock);
	nr = sley_graph_step(graph);
	sley_mutex_lock(&graph->lock);
	if (nr > 0 || !graph->step.depth)
		return 0;
	report(graph->rt,
	       "%s: a node waits for nodes that only a later step would run",
	       graph->name);
	return -EDEADLK;
}

/* Waits for @scope, within that of @wait.  (lock, released meanwhile) */
static int await_one(struct scope_wait *wait, struct sley_graph_scope *scope,
		     uint64_t deadline_ns, enum wait_flags flags)
{
	bool looks = wait->look_ns < deadline_ns;
	uint32_t credit = scope->credit;
	int err;

	if (unlikely(scope->graph->stepped))
		return await_steps(scope->graph);
	scope->nr_waiting++;
	scope->credit = 0;
	sley_mutex_unlock(&scope->graph->lock);
	if (credit)
		(void)countdown_sub(&scope->pending, credit);
	err = countdown_wait(&scope->pending,
			     looks ? wait->look_ns : deadline_ns, flags);
	sley_mutex_lock(&scope->graph->lock);
	scope->nr_waiting--;
	return unlikely(looks) && err == -ETIMEDOUT ? deadlock_look(wait) : err;
}

/* Waits for all of @outer; -EDEADLK only if @looks.  (lock, released meanwhile) */
static int await(struct sley_graph_scope *outer, uint64_t deadline_ns,
		 enum wait_flags flags, bool looks)
{
	struct sley_graph_scope *scope;
	struct scope_wait wait;
	int err = 0;

	/* Keeps @outer from being freed during the waits for the scopes within. */
	outer->nr_waiting++;
	deadlock_enter(&wait, outer, deadline_ns == SLEY_FOREVER, looks);
	while (!err && (scope = find_busy(outer)))
		err = await_one(&wait, scope, deadline_ns, flags);
	deadlock_leave(&wait);
	outer->nr_waiting--;
	return err;
}

void scope_await(struct sley_graph_scope *scope)
{
	int err = await(scope, SLEY_FOREVER, WAIT_SHIELDED, false);

	sley_assert(!err);
	(void)err;
}

/* ---- errors -------------------------------------------------------------------------- */

/* The request was obeyed, unless it was made for the scope around @outer, too. */
static void forget_cancel(struct sley_graph_scope *scope,
			  const struct sley_graph_scope *outer)
{
	const struct sley_graph_scope *around = outer->parent;

	/* relaxed: the lock. */
	store_relaxed(&scope->cancelled,
		      around ? load_relaxed(&around->cancelled) : 0);
}

/* Forgets the failures of @scope alone; *@err is the first. */
static void forget_own(struct sley_graph_scope *scope, int *err)
{
	const struct node *first = failures_first(scope);

	if (!first)
		return;
	/* relaxed: all nodes of the scope have ended. */
	if (load_relaxed(&scope->first) || !*err || *err == -ECANCELED) {
		*err = first->failure.code;
		graph_note_why(scope->graph, first);
	}
	failures_forget(scope);
}

int scope_forget(struct sley_graph_scope *outer)
{
	struct sley_graph *graph = outer->graph;
	struct sley_graph_scope *scope;
	int err = 0;

	graph->why[0] = '\0';
	for (scope = graph->scopes; scope; scope = scope->next) {
		if (!scope_is_within(scope, outer))
			continue;
		forget_cancel(scope, outer);
		forget_own(scope, &err);
	}
	if (outer == &graph->root) {
		forget_cancel(outer, outer);
		forget_own(outer, &err);
		access_forget(&graph->map);
		node_store_tidy(&graph->store);
		node_log_is_over(graph->log);
	}
	scopes_reap(graph);
	return err;
}

/* Is the caller a node in @scope? */
static bool is_awaited(const struct sley_graph_scope *scope)
{
	const struct node *node = submit_own_node(scope->graph);

	return node && scope_is_within(node->scope, scope);
}

static int wait(struct sley_graph_scope *scope, uint64_t deadline_ns,
		enum wait_flags flags)
{
	struct sley_graph *graph = scope->graph;
	int err;

	if (unlikely(runtime_is_lost(graph->rt)))
		return SLEY_EFORKED; /* the nodes are with the parent */
	sley_check(
		!is_awaited(scope),
		"a node cannot wait for its own graph or scope: it would wait "
		"for its own end");
	sley_mutex_lock(&graph->lock);
	err = await(scope, deadline_ns, flags, true);
	if (err)
		graph->why[0] = '\0'; /* no node is the reason */
	else
		err = scope_forget(scope);
	sley_mutex_unlock(&graph->lock);
	return err;
}

int sley_graph_wait(struct sley_graph *graph)
{
	return wait(&graph->root, SLEY_FOREVER, WAIT_SHIELDED);
}

int sley_graph_wait_until(struct sley_graph *graph, uint64_t deadline_ns)
{
	return wait(&graph->root, deadline_ns, 0);
}

int sley_graph_scope_wait(struct sley_graph_scope *scope)
{
	return wait(scope, SLEY_FOREVER, WAIT_SHIELDED);
}

int sley_graph_scope_wait_until(struct sley_graph_scope *scope,
				uint64_t deadline_ns)
{
	return wait(scope, deadline_ns, 0);
}
