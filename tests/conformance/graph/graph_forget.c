/* SPDX-License-Identifier: MIT */
/*
 * graph_forget.c - a graph in which nodes fail goes on, though nobody waits for all of
 * it: S09, S15, R-S13.
 */
#include "conformance/graph/graph.h"

#define MAX 100
#define KEPT 512   /* at least: half of 1024, of which a graph knows more */
#define MANY 10000 /* many times what there is room for */

static int fails(void *arg)
{
	return (int)(intptr_t)arg;
}

static sley_node submit_failure(struct sley_graph *graph,
				struct sley_graph_scope *scope,
				const char *name, int err)
{
	return submit(graph,
		      SLEY_NODE_SPEC(.fn = fails, .arg = (void *)(intptr_t)err,
				     .scope = scope, .name = name));
}

static struct sley_graph *small_graph(void)
{
	return graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = MAX));
}

TEST_WORKERS(s15_failures_do_not_fill_a_graph)
{
	struct sley *rt = start();
	struct sley_graph *graph = small_graph();
	char why[100];

	for (int round = 0; round < 2; round++) {
		sley_node first =
			submit_failure(graph, NULL, "the first", -EIO);

		CHECK_SOON(sley_node_outcome(graph, first, NULL) ==
			   SLEY_OUTCOME_FAILURE);
		for (int i = 0; i < MANY; i++)
			(void)submit_failure(graph, NULL, "another", -EPERM);
		CHECK_EQ(sley_node_outcome(graph, first, NULL),
			 SLEY_OUTCOME_FAILURE);
		CHECK_EQ(sley_graph_wait(graph), -EIO);
		CHECK_GT(sley_graph_explain(graph, why, sizeof(why)), 0);
		CHECK_STR(why, "the first failed: Input/output error");
	}
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s15_nor_do_failures_of_scopes_that_are_closed)
{
	struct sley *rt = start();
	struct sley_graph *graph = small_graph();
	struct sley_graph_scope *scope;

	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(sley_graph_scope_begin(&scope, graph, NULL), 0);
		(void)submit_failure(graph, scope, "a scope's", -EIO);
		sley_graph_scope_end(scope);
	}
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Of scopes that are open each must know its own. */
TEST_WORKERS(s15_each_open_scope_hears_of_its_failure)
{
	struct sley *rt = start();
	struct sley_graph *graph = small_graph();
	static struct sley_graph_scope *scopes[3000];

	for (int i = 0; i < 3000; i++) {
		CHECK_EQ(sley_graph_scope_begin(&scopes[i], graph, NULL), 0);
		(void)submit_failure(graph, scopes[i], "a scope's", -1 - i);
		(void)submit_failure(graph, scopes[i], "a scope's", -1 - i);
	}
	for (int i = 0; i < 3000; i++) {
		CHECK_EQ(sley_graph_scope_wait(scopes[i]), -1 - i);
		sley_graph_scope_end(scopes[i]);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s09_the_last_failures_are_known)
{
	struct sley *rt = start();
	struct sley_graph *graph = small_graph();
	static sley_node ids[MANY];
	int code;

	for (int i = 0; i < MANY; i++)
		ids[i] = submit_failure(graph, NULL, "one of many", -EIO);
	for (int i = 0; i < MANY; i++)
		CHECK_SOON(sley_node_outcome(graph, ids[i], NULL) !=
			   SLEY_OUTCOME_NONE);
	/* They have ended in nearly the order in which they were submitted. */
	for (int i = MANY - KEPT + MAX; i < MANY; i++) {
		CHECK_EQ(sley_node_outcome(graph, ids[i], &code),
			 SLEY_OUTCOME_FAILURE);
		CHECK_EQ(code, -EIO);
	}
	/* This one is not the first, and is forgotten. */
	code = 1;
	CHECK_EQ(sley_node_outcome(graph, ids[MANY / 2], &code),
		 SLEY_OUTCOME_SUCCESS);
	CHECK_EQ(code, 0);
	CHECK_EQ(sley_node_explain(graph, ids[MANY / 2], NULL, 0), -ESRCH);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- what was not written ---------------------------------------------------------- */

static sley_node uses(struct sley_graph *graph, struct sley_graph_scope *scope,
		      atomic_int *count, struct sley_access access)
{
	sley_node id = SLEY_NO_NODE;

	id = submit(graph,
		    SLEY_NODE_SPEC(.fn = count ? count_up : fails,
				   .arg = count ? (void *)count : (void *)-EIO,
				   .scope = scope, .access = &access,
				   .nr_access = 1));
	return id;
}

static void fail_often(struct sley_graph *graph, struct sley_graph_scope *scope)
{
	for (int i = 0; i < MANY; i++)
		(void)submit_failure(graph, scope, "one of many", -EPERM);
}

TEST_WORKERS(rs13_what_a_forgotten_node_should_have_written_is_not_read)
{
	struct sley *rt = start();
	struct sley_graph *graph = small_graph();
	atomic_int count = 0;
	char data[2];
	sley_node id;

	id = submit_failure(graph, NULL, "the first", -EPERM);
	CHECK_SOON(sley_node_outcome(graph, id, NULL) == SLEY_OUTCOME_FAILURE);
	id = uses(graph, NULL, NULL, SLEY_OUT(data[0]));
	CHECK_SOON(sley_node_outcome(graph, id, NULL) == SLEY_OUTCOME_FAILURE);
	fail_often(graph, NULL);
	CHECK_EQ(sley_node_outcome(graph, id, NULL), SLEY_OUTCOME_SUCCESS);
	(void)uses(graph, NULL, &count, SLEY_IN(data[1]));
	id = uses(graph, NULL, &count, SLEY_IN(data[0]));
	CHECK_SOON(sley_node_outcome(graph, id, NULL) == SLEY_OUTCOME_SKIPPED);
	/* Once it is written, it is there. */
	(void)uses(graph, NULL, &count, SLEY_OUT(data[0]));
	(void)uses(graph, NULL, &count, SLEY_IN(data[0]));
	CHECK_EQ(sley_graph_wait(graph), -EPERM);
	CHECK_EQ(count, 3);
	(void)uses(graph, NULL, &count, SLEY_IN(data[0]));
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 4);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(rs13_a_run_leaves_nothing_behind_that_is_forgotten)
{
	struct sley *rt = start();
	struct sley_graph *graph = small_graph();
	struct sley_graph_scope *run;
	atomic_int count = 0;
	char data;

	CHECK_EQ(sley_graph_run_begin(&run, graph), 0);
	(void)uses(graph, run, NULL, SLEY_OUT(data));
	fail_often(graph, run);
	(void)uses(graph, run, &count, SLEY_IN(data));
	CHECK_EQ(sley_graph_run_end(run), 0);
	sley_graph_scope_end(run);
	CHECK_EQ(sley_graph_run_begin(&run, graph), 0);
	(void)uses(graph, run, &count, SLEY_IN(data));
	CHECK_EQ(sley_graph_run_end(run), 0);
	CHECK_EQ(sley_graph_scope_wait(run), 0);
	sley_graph_scope_end(run);
	CHECK_EQ(count, 1);
	CHECK_NE(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}
