/* SPDX-License-Identifier: MIT */
/*
 * graph_step.c - a graph step by step: S01, S07, S08, S09 in the order of the seed.
 */
#include "conformance/graph/graph.h"

#include <sley/error.h>

static struct sley_graph *stepped(void)
{
	return graph_new(SLEY_GRAPH_OPTIONS(.stepped = true));
}

TEST_WORKERS(s01_a_step_wires_then_dispatches_then_completes)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	struct order order = { .nr = 0 };
	sley_node a = node(graph, &order, 1, NULL, 0);
	sley_node b = node(graph, &order, 2, &a, 1);
	sley_node c;

	CHECK_EQ(order.nr, 0);
	CHECK_EQ(sley_node_outcome(graph, a, NULL), SLEY_OUTCOME_NONE);
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(order.nr, 1);
	CHECK_EQ(sley_node_outcome(graph, a, NULL), SLEY_OUTCOME_SUCCESS);
	CHECK_EQ(sley_node_outcome(graph, b, NULL), SLEY_OUTCOME_NONE);
	/* Wired behind what was made ready by the last step. */
	c = node(graph, &order, 3, NULL, 0);
	CHECK_EQ(sley_graph_step(graph), 2);
	CHECK_EQ(order.what[1], 2);
	CHECK_EQ(order.what[2], 3);
	CHECK_EQ(sley_node_outcome(graph, c, NULL), SLEY_OUTCOME_SUCCESS);
	CHECK_EQ(sley_graph_step(graph), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Each time the same, whoever is faster elsewhere. */
TEST_WORKERS(s01_the_order_of_steps_is_always_the_same)
{
	struct sley *rt = start();
	int first[40];

	for (int round = 0; round < 5; round++) {
		struct sley_graph *graph = stepped();
		struct order order = { .nr = 0 };
		sley_node id[40];

		for (int i = 0; i < 40; i++)
			id[i] = node(graph, &order, i, &id[i / 2],
				     i && i % 3 ? 1 : 0);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(order.nr, 40);
		for (int i = 0; i < 40; i++) {
			if (!round)
				first[i] = order.what[i];
			CHECK_EQ(order.what[i], first[i]);
		}
		sley_graph_destroy(graph);
	}
	stop(rt);
}

/* R-S1, R-S6: it fails between submission and wiring. */
TEST_WORKERS(s08_a_predecessor_that_fails_before_its_successor_is_wired)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	struct order order = { .nr = 0 };
	struct entry fails = { &order, 1, -EIO };
	sley_node a = node_that(graph, &fails, NULL, 0);
	sley_node b, c;
	int code;

	CHECK_EQ(sley_graph_step(graph), 1);
	b = node(graph, &order, 2, &a, 1);
	c = node(graph, &order, 3, &b, 1);
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(sley_node_outcome(graph, b, &code), SLEY_OUTCOME_SKIPPED);
	CHECK_EQ(code, -EIO);
	CHECK_EQ(sley_node_outcome(graph, c, NULL), SLEY_OUTCOME_NONE);
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(sley_node_outcome(graph, c, &code), SLEY_OUTCOME_SKIPPED);
	CHECK_EQ(code, -EIO);
	CHECK_EQ(order.nr, 1);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s07_a_node_that_is_cancelled_between_two_steps_does_not_run)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	struct order order = { .nr = 0 };
	sley_node a = node(graph, &order, 1, NULL, 0);
	sley_node b = node(graph, &order, 2, &a, 1);

	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(sley_node_cancel(graph, a), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, b), 0);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	CHECK_EQ(order.nr, 1);
	sley_graph_destroy(graph);
	stop(rt);
}

/* No node says what it reads or writes. */
TEST_WORKERS(s30_edges_that_are_named_are_all_that_is_needed)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	atomic_int count = 0;
	sley_node a = counts(graph, &count, NULL, 0);
	sley_node b = counts(graph, &count, &a, 1);

	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						  .order = &b, .nr_order = 1)),
		 0);
	for (int i = 1; i <= 3; i++) {
		CHECK_EQ(sley_graph_step(graph), 1);
		CHECK_EQ(count, i);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s31_a_graph_knows_how_many_nodes_it_had_at_most)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	struct sley_graph_scope_stats stats;
	atomic_int count = 0;

	for (int nr = 5; nr > 0; nr -= 4) {
		for (int i = 0; i < nr; i++)
			(void)counts(graph, &count, NULL, 0);
		CHECK_EQ(sley_graph_wait(graph), 0);
	}
	sley_graph_scope_get_stats(graph, NULL, &stats);
	CHECK_EQ(stats.submitted, 6);
	CHECK_EQ(stats.most, 5);
	sley_graph_destroy(graph);
	stop(rt);
}

/* A run is over in the step after its last node, and the next one begins then. */
TEST_WORKERS(s19_runs_are_stepped_one_after_the_other)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	struct sley_graph_scope *run[3];
	atomic_int count = 0;

	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_graph_run_begin(&run[i], graph), 0);
		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = count_up,
							  .arg = &count,
							  .scope = run[i])),
			 0);
		CHECK_EQ(sley_graph_run_end(run[i]), 0);
	}
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(count, 1);
	CHECK_EQ(sley_graph_run_begin_until(&run[2], graph, in_ms(1)), -EAGAIN);
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(count, 1);
	CHECK_EQ(sley_graph_run_begin(&run[2], graph), 0);
	CHECK_EQ(sley_graph_run_end(run[2]), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 2);
	for (int i = 0; i < 3; i++)
		sley_graph_scope_end(run[i]);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Its members could not meet. */
TEST_WORKERS(s02_a_gang_is_not_stepped)
{
	struct sley *rt = start();
	struct sley_graph *graph = stepped();
	atomic_int count = 0;

	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						  .gang = 2)),
		 SLEY_EGANG);
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						  .gang = 1)),
		 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s01_only_a_stepped_graph_is_stepped)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);

	CHECK_EQ(sley_graph_step(graph), -EINVAL);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST(s15_a_graph_in_steps_that_is_full_says_so)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.stepped = true, .max_nodes = 2));
	atomic_int count = 0;

	(void)counts(graph, &count, NULL, 0);
	(void)counts(graph, &count, NULL, 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &count), -EAGAIN);
	CHECK_EQ(sley_graph_step(graph), 2);
	(void)counts(graph, &count, NULL, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&count), 3);
	sley_graph_destroy(graph);
	stop(rt);
}
