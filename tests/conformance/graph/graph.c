/* SPDX-License-Identifier: MIT */
/*
 * graph.c - nodes, and the edges that are named: S07, S08, S30, M33, T31.
 */
#include "conformance/graph/graph.h"

TEST_WORKERS(s08_a_node_starts_when_those_it_names_have_ended)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node a = node(graph, &order, 1, NULL, 0);
	sley_node b = node(graph, &order, 2, &a, 1);
	sley_node c = node(graph, &order, 3, &a, 1);

	(void)node(graph, &order, 4, (sley_node[]){ b, c }, 2);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(order.nr, 4);
	CHECK_EQ(order.what[0], 1);
	CHECK_EQ(order.what[3], 4);
	CHECK_EQ(order.what[1] + order.what[2], 5);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s30_a_node_that_has_ended_is_waited_for_no_more)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node a = node(graph, &order, 1, NULL, 0);

	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(sley_node_outcome(graph, a, NULL), SLEY_OUTCOME_SUCCESS);
	for (int i = 0; i < 100; i++)
		(void)node(graph, &order, 2, &a, 1);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(order.nr, 101);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s06_who_is_named_twice_is_waited_for_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node a = node(graph, &order, 1, NULL, 0);
	sley_node twice[] = { a, a, SLEY_NO_NODE, a };

	(void)node(graph, &order, 2, twice, 4);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(order.nr, 2);
	CHECK_EQ(order.what[1], 2);
	sley_graph_destroy(graph);
	stop(rt);
}

static int holds(void *arg)
{
	return sley_event_wait(arg);
}

/* The edges are counted: that it starts in time shows nothing. */
TEST_WORKERS(s06_a_predecessor_has_one_edge_to_each_successor)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_graph_scope_stats stats;
	char one, two;
	atomic_int count = 0;
	sley_node twice[2] = { SLEY_NO_NODE };
	struct sley_access out[] = { SLEY_OUT(one), SLEY_OUT(two) };
	struct sley_access in[] = { SLEY_IN(one), SLEY_IN(two) };

	twice[0] = submit(graph, SLEY_NODE_SPEC(.fn = holds, .arg = &event,
						.access = out, .nr_access = 2));
	twice[1] = twice[0];
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						  .access = in, .nr_access = 2,
						  .after = twice, .nr_after = 2,
						  .order = twice,
						  .nr_order = 2)),
		 0);
	sley_graph_scope_get_stats(graph, NULL, &stats);
	CHECK_EQ(stats.edges, 1);
	sley_event_set(&event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 1);
	sley_graph_destroy(graph);
	stop(rt);
}

/* R-S2: when all has ended, the first place is taken first again. */
TEST_WORKERS(rs2_a_predecessor_whose_place_is_another_nodes_is_not_waited_for)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event event = SLEY_EVENT_INIT;
	atomic_int count = 0;
	sley_node gone = counts(graph, &count, NULL, 0), other = SLEY_NO_NODE;

	CHECK_EQ(sley_graph_wait(graph), 0);
	other = submit(graph, SLEY_NODE_SPEC(.fn = holds, .arg = &event));
	CHECK_EQ((uint32_t)other, (uint32_t)gone);
	CHECK_NE(other, gone);
	(void)counts(graph, &count, &gone, 1);
	CHECK_SOON(count == 2);
	sley_event_set(&event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(t31_a_chain_of_a_million_nodes_needs_no_stack)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	int n = test_scale(100000);
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < n; i++)
		last = counts(graph, &count, &last, 1);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, n);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(t31_one_may_let_many_go_and_many_one)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	int n = test_scale(20000);
	sley_node *mid = calloc((size_t)n, sizeof(*mid));
	sley_node root;

	CHECK(mid != NULL);
	for (int round = 0; round < 2; round++) {
		atomic_store(&count, 0);
		root = counts(graph, &count, NULL, 0);
		for (int i = 0; i < n; i++)
			mid[i] = counts(graph, &count, &root, 1);
		(void)counts(graph, &count, mid, (uint32_t)n);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(count, n + 2);
	}
	free(mid);
	sley_graph_destroy(graph);
	stop(rt);
}

static int sleeps(void *arg)
{
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

/* The next one's name where the last one's was. */
TEST_WORKERS(t31_a_node_may_be_named_where_the_one_before_it_was)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < 200; i++) {
		struct entry entry = { &order, i, 0 };

		last = submit(graph,
			      SLEY_NODE_SPEC(.fn = write_down, .arg = &entry,
					     .arg_size = sizeof(entry),
					     .after = &last, .nr_after = 1));
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < 200; i++)
		CHECK_EQ(order.what[i], i);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(t31_a_node_may_block)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < 100; i++) {
		last = submit(graph, SLEY_NODE_SPEC(.fn = sleeps, .arg = &count,
						    .after = &last,
						    .nr_after = i % 10 != 0));
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 100);
	sley_graph_destroy(graph);
	stop(rt);
}

static int waits_for_its_graph(void *arg)
{
	return sley_graph_wait(*(struct sley_graph **)arg);
}

TEST_ABORTS(
	rs11_a_node_does_not_wait_for_its_own_graph,
	"a node cannot wait for its own graph or scope: it would wait for its "
	"own end")
{
	struct sley_graph *graph;

	(void)start();
	graph = graph_new(NULL);
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = waits_for_its_graph,
						  .arg = &graph)),
		 0);
	(void)!sley_graph_wait(graph);
}
