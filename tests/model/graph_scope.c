/* SPDX-License-Identifier: MIT */
/*
 * graph_scope.c - src/graph/node/graph_scope.c, and the scopes of
 * src/graph/node/scope_wait.c and cancel.c: a closed scope ends when its last node
 * has ended, and not before; a failure in the scope is reported once, to the waiter
 * for the scope or for an outer scope.
 *
 * The memory of scopes is on the explorer's heap; a late access is seen.
 *
 * Complete for one scope in a graph with a node each, which fail: against a thread
 * that waits for, closes, or cancels the scope.
 */
#include "graph_scene.h"

#define INNER 1 /* of the scope    */
#define OUTER 2 /* of the graph    */
#define LATER 3 /* of the scope, too */

static struct sley_graph_scope *scope;

static void setup(void)
{
	scene_setup(1, 16);
	jobs[INNER].says = -EIO;
	jobs[OUTER].says = -EPERM;
	MODEL_CHECK(!sley_graph_scope_begin(&scope, graph, NULL));
	model_lock_word(&scope->pending.word);
	model_name(&scope->pending, "scope pending");
	model_name(&scope->failed, "scope failed");
	model_name(&scope->cancelled, "scope cancelled");
	scene_scope = scope;
	submit_as(INNER, 0, 0);
	scene_scope = NULL;
	submit_as(OUTER, 0, 0);
}

static void end_inner(int id)
{
	(void)id;
	run_queued(node_index_of(ids[INNER]));
}

static void end_outer(int id)
{
	(void)id;
	run_queued(node_index_of(ids[OUTER]));
}

/* All nodes have ended; the wait returns @err. */
static void ends_with(int err)
{
	MODEL_CHECK(scene_ledger.ran[OUTER] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == err);
	MODEL_CHECK(graph->nr_failed == 0 && !graph->root.failed);
	MODEL_CHECK(graph->store.nr_taken == 0);
	MODEL_CHECK(!graph->scopes && !graph->root.nr_nested);
	scene_end();
}

/* ---- a thread waits for the scope, while nodes fail --------------------------------- */

static void setup_ended(void)
{
	setup();
	run_now(INNER);
}

static void wait_for_scope(int id)
{
	(void)id;
	MODEL_CHECK(sley_graph_scope_wait(scope) == -EIO);
	payload_check(&jobs[INNER].done);
	sley_graph_scope_end(scope);
}

static void outer_is_left(void)
{
	run_now(OUTER);
	ends_with(-EPERM);
}

static void outer_failed(void)
{
	ends_with(-EPERM);
}

MODEL(s20_others_fail_while_a_scope_forgets, .setup = setup_ended,
      .threads = { end_outer, wait_for_scope }, .finish = outer_failed);

MODEL(s20_a_scope_is_waited_for, .setup = setup,
      .threads = { end_inner, wait_for_scope }, .finish = outer_is_left);

/* ---- the scope is closed ------------------------------------------------------------- */

static void close_scope(int id)
{
	(void)id;
	sley_graph_scope_end(scope);
}

static void outer_ends(void)
{
	run_now(OUTER);
	/* The inner failure was the first, or was handed on afterwards. */
	sley_mutex_lock(&graph->lock);
	scopes_reap(graph);
	sley_mutex_unlock(&graph->lock);
	MODEL_CHECK(!graph->scopes);
	MODEL_CHECK(scene_ledger.ran[INNER] == 1);
	MODEL_CHECK(graph->nr_failed == 2);
	MODEL_CHECK(graph->root.failed && graph->root.failed->next &&
		    !graph->root.failed->next->next);
	MODEL_CHECK(sley_graph_wait(graph) < 0);
	scene_end();
}

MODEL(a_scope_is_closed_while_its_last_node_ends, .setup = setup,
      .threads = { end_inner, close_scope }, .finish = outer_ends);

static void both_are_heard_of(void)
{
	MODEL_CHECK(!graph->scopes && graph->nr_failed == 2);
	MODEL_CHECK(graph->root.failed && graph->root.failed->next &&
		    !graph->root.failed->next->next);
	ends_with(graph->root.first == node_index_of(ids[INNER]) ? -EIO
								 : -EPERM);
}

MODEL(failures_are_handed_on_while_others_fail, .setup = setup_ended,
      .threads = { end_outer, close_scope }, .finish = both_are_heard_of);

/* The graph had a first failure before the scope's is handed on, and keeps it. */
static void setup_outer_ended(void)
{
	setup();
	run_now(OUTER);
}

static void outer_was_first(void)
{
	sley_mutex_lock(&graph->lock);
	scopes_reap(graph);
	sley_mutex_unlock(&graph->lock);
	MODEL_CHECK(!graph->scopes && graph->nr_failed == 2);
	ends_with(-EPERM);
}

MODEL(the_first_failure_stays_the_first, .setup = setup_outer_ended,
      .threads = { end_inner, close_scope }, .finish = outer_was_first);

/* ---- the scope is cancelled ---------------------------------------------------------- */

static void cancel_scope_and_submit(int id)
{
	(void)id;
	sley_graph_scope_cancel(scope);
	scene_scope = scope;
	submit_as(LATER, 0, 0);
	scene_scope = NULL;
}

static void later_is_skipped(void)
{
	int err = scene_ledger.ran[INNER] ? -EIO : -ECANCELED;

	run_now(LATER);
	MODEL_CHECK(!scene_ledger.ran[LATER]);
	run_now(OUTER);
	MODEL_CHECK(sley_graph_scope_wait(scope) == err);
	MODEL_CHECK(!scope->cancelled && !graph->cancelling);
	sley_graph_scope_end(scope);
	ends_with(-EPERM);
}

MODEL(s21_a_scope_is_cancelled_while_a_node_ends_with_membarrier,
      .setup = setup, .threads = { end_inner, cancel_scope_and_submit },
      .finish = later_is_skipped);

MODEL(s21_a_scope_is_cancelled_while_a_node_ends_without_membarrier,
      .setup = setup, .threads = { end_inner, cancel_scope_and_submit },
      .finish = later_is_skipped, .no_membarrier = true);
