/* SPDX-License-Identifier: MIT */
/*
 * graph_scope.c - parts of a graph: S17, S18.
 */
#include "conformance/graph/graph.h"

static struct sley_graph_scope *open_in(struct sley_graph *graph,
					struct sley_graph_scope *parent)
{
	struct sley_graph_scope *scope = NULL;

	CHECK_EQ(sley_graph_scope_begin(&scope, graph, parent), 0);
	CHECK(scope != NULL);
	return scope;
}

TEST_WORKERS(s18_a_scope_is_waited_for_apart)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *scope = open_in(graph, NULL);
	struct sley_graph_scope *other = open_in(graph, NULL);
	struct sley_event later = SLEY_EVENT_INIT;
	atomic_int count = 0;

	(void)submit_in(graph, NULL, waits_for, &later);
	(void)submit_in(graph, other, waits_for, &later);
	for (int i = 0; i < 200; i++)
		(void)submit_in(graph, scope, count_up, &count);
	CHECK_EQ(sley_graph_scope_wait_until(scope, in_ms(10000)), 0);
	CHECK_EQ(count, 200);
	CHECK_EQ(sley_graph_wait_until(graph, in_ms(1)), -ETIMEDOUT);
	sley_event_set(&later);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_scope_end(other);
	sley_graph_scope_end(scope);
	sley_graph_destroy(graph);
	stop(rt);
}

/* The worker that has ended the first one goes on with the second. */
TEST_WORKERS(s18_a_scope_is_over_although_what_comes_behind_it_is_not)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *scope = open_in(graph, NULL);
	struct sley_event first = SLEY_EVENT_INIT, later = SLEY_EVENT_INIT;
	sley_node id = submit_in(graph, scope, waits_for, &first);

	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = waits_for,
						  .arg = &later, .after = &id,
						  .nr_after = 1)),
		 0);
	sley_event_set(&first);
	CHECK_EQ(sley_graph_scope_wait(scope), 0);
	sley_event_set(&later);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_scope_end(scope);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s18_a_scope_that_is_closed_goes_on_until_its_end)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event later = SLEY_EVENT_INIT;
	atomic_int count = 0;

	for (int i = 0; i < 20; i++) {
		struct sley_graph_scope *scope = open_in(graph, NULL);

		(void)submit_in(graph, scope, waits_for, &later);
		(void)submit_in(graph, scope, count_up, &count);
		sley_graph_scope_end(scope);
	}
	sley_event_set(&later);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 20);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s18_scopes_nest_64_deep)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *scope[SLEY_GRAPH_SCOPES + 1] = { NULL };
	struct sley_graph_scope *more;
	atomic_int count = 0;

	for (int i = 1; i <= SLEY_GRAPH_SCOPES; i++) {
		struct sley_graph_scope_stats stats;

		scope[i] = open_in(graph, scope[i - 1]);
		(void)submit_in(graph, scope[i], count_up, &count);
		sley_graph_scope_get_stats(graph, scope[i], &stats);
		CHECK_EQ(stats.depth, (uint32_t)i);
		CHECK_EQ(stats.submitted, 1u);
	}
	CHECK_EQ(sley_graph_scope_begin(&more, graph, scope[SLEY_GRAPH_SCOPES]),
		 -EOVERFLOW);
	CHECK_EQ(sley_graph_scope_wait(scope[1]), 0);
	CHECK_EQ(count, SLEY_GRAPH_SCOPES);
	for (int i = SLEY_GRAPH_SCOPES; i > 0; i--)
		sley_graph_scope_end(scope[i]);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s18_a_failure_is_heard_of_by_who_waits_for_its_scope)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *scope = open_in(graph, NULL);

	(void)submit_in(graph, scope, fail, NULL);
	CHECK_EQ(sley_graph_scope_wait(scope), -EIO);
	CHECK_EQ(sley_graph_scope_wait(scope), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_scope_end(scope);
	sley_graph_destroy(graph);
	stop(rt);
}

/* A node that has failed, in a scope of a scope; both are closed. */
static sley_node fail_unheard(struct sley_graph *graph)
{
	struct sley_graph_scope *outer = open_in(graph, NULL);
	struct sley_graph_scope *inner = open_in(graph, outer);
	sley_node failed = submit_in(graph, inner, fail, NULL);

	CHECK_SOON(sley_node_outcome(graph, failed, NULL) ==
		   SLEY_OUTCOME_FAILURE);
	sley_graph_scope_end(inner);
	sley_graph_scope_end(outer);
	return failed;
}

TEST_WORKERS(s18_a_failure_nobody_heard_of_is_that_of_the_scope_around)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node failed = fail_unheard(graph);

	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(sley_graph_wait(graph), 0);
	/* It is remembered, also for a node that needs it now. */
	failed = fail_unheard(graph);
	(void)node(graph, &order, 1, &failed, 1);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(order.nr, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s18_a_cause_that_is_forgotten_is_not_another_node)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *scope = open_in(graph, NULL);
	sley_node cause = submit_in(graph, scope, fail, NULL), skipped, other;
	struct order order = { .nr = 0 };
	char text[200];

	CHECK_SOON(sley_node_outcome(graph, cause, NULL) ==
		   SLEY_OUTCOME_FAILURE);
	skipped = node(graph, &order, 1, &cause, 1);
	CHECK_SOON(sley_node_outcome(graph, skipped, NULL) ==
		   SLEY_OUTCOME_SKIPPED);
	CHECK_GE(sley_node_explain(graph, skipped, text, sizeof(text)), 0);
	CHECK(strstr(text, " <- ") != NULL);
	CHECK_EQ(sley_graph_scope_wait(scope), -EIO);
	/* In the place that the cause had. */
	other = submit_in(graph, scope, fail, NULL);
	CHECK_EQ((uint32_t)other, (uint32_t)cause);
	CHECK_SOON(sley_node_outcome(graph, other, NULL) ==
		   SLEY_OUTCOME_FAILURE);
	CHECK_GE(sley_node_explain(graph, skipped, text, sizeof(text)), 0);
	CHECK(strstr(text, " <- ") == NULL);
	CHECK_EQ(sley_graph_scope_wait(scope), -EIO);
	sley_graph_scope_end(scope);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s18_a_scope_is_cancelled_and_those_in_it_but_not_those_around)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *outer = open_in(graph, NULL);
	struct sley_graph_scope *inner = open_in(graph, outer);
	struct sley_event later = SLEY_EVENT_INIT;
	struct sley_event never = SLEY_EVENT_INIT;
	sley_node id = submit_in(graph, NULL, waits_for, &later);

	(void)submit_in(graph, outer, waits_for, &never);
	(void)submit_in(graph, inner, waits_for, &never);
	sley_graph_scope_cancel(outer);
	CHECK_EQ(sley_graph_scope_wait(inner), -ECANCELED);
	CHECK_EQ(sley_graph_scope_wait(outer), -ECANCELED);
	CHECK_EQ(sley_node_outcome(graph, id, NULL), SLEY_OUTCOME_NONE);
	sley_event_set(&later);
	sley_graph_scope_end(inner);
	sley_graph_scope_end(outer);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* It is heard of by who waits for the scope, and goes on for the graph. */
TEST_WORKERS(s18_a_scope_stays_cancelled_as_long_as_what_is_around_it)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *outer = open_in(graph, NULL);
	struct sley_graph_scope *inner = open_in(graph, outer);
	atomic_int count = 0;

	sley_graph_cancel(graph);
	for (int i = 0; i < 3; i++) {
		(void)submit_in(graph, outer, count_up, &count);
		CHECK_EQ(sley_graph_scope_wait(outer), -ECANCELED);
		(void)submit_in(graph, inner, count_up, &count);
		CHECK_EQ(sley_graph_scope_wait(inner), -ECANCELED);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 0);
	/* The same within a scope, and the graph is not touched. */
	sley_graph_scope_cancel(outer);
	for (int i = 0; i < 3; i++) {
		(void)submit_in(graph, inner, count_up, &count);
		CHECK_EQ(sley_graph_scope_wait(inner), -ECANCELED);
	}
	(void)submit_in(graph, NULL, count_up, &count);
	CHECK_EQ(sley_graph_scope_wait(outer), 0);
	(void)submit_in(graph, inner, count_up, &count);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 2);
	sley_graph_scope_end(inner);
	sley_graph_scope_end(outer);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_ABORTS(s18_a_scope_is_closed_before_its_graph_is_destroyed,
	    "end all scopes of the graph before it is destroyed")
{
	struct sley_graph *graph;

	(void)start();
	graph = graph_new(NULL);
	(void)open_in(graph, NULL);
	sley_graph_destroy(graph);
}
