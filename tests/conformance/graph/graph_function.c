/* SPDX-License-Identifier: MIT */
/*
 * graph_function.c - nodes that are functions of any type.
 */
#include "conformance/bound.h"

struct wide {
	int64_t numbers[7];
};

static int one(int64_t *sum);
SLEY_NODE_FUNCTION(one, int64_t *, sum)
SLEY_NODE_FUNCTION(two, int64_t *, sum, char, by)
SLEY_NODE_FUNCTION(six, int64_t *, sum, char, a, short, b, int, c, long, d,
		   double, e)
SLEY_NODE_FUNCTION(whole, int64_t *, sum, struct wide, wide)

static int one(int64_t *sum)
{
	*sum += 1;
	return 0;
}

int two(int64_t *sum, char by)
{
	*sum *= by;
	return 0;
}

int six(int64_t *sum, char a, short b, int c, long d, double e)
{
	*sum += a + b + c + d + (int64_t)e;
	return 0;
}

int whole(int64_t *sum, struct wide wide)
{
	for (int i = 0; i < 7; i++)
		*sum += wide.numbers[i];
	return *sum > 1000000 ? -ERANGE : 0;
}

TEST_WORKERS(a_node_is_a_function_of_any_type)
{
	struct wide wide = { { 1, 2, 3, 4, 5, 6, 7 } };
	struct sley *rt = start();
	struct sley_graph *graph;
	int64_t sum = 1;
	sley_node node;

	CHECK_EQ(sley_graph_create(&graph, NULL), 0);
	CHECK_EQ(one_submit(graph, NULL, SLEY_NODE_USES(SLEY_INOUT(sum)), &sum),
		 0);
	CHECK_EQ(two_submit(graph, NULL, SLEY_NODE_USES(SLEY_INOUT(sum)), &sum,
			    5),
		 0);
	CHECK_EQ(six_submit(graph, &node, SLEY_NODE_USES(SLEY_INOUT(sum)), &sum,
			    1, -2, 30000, 400000, 5.9),
		 0);
	/* The arguments are copied by the call. */
	CHECK_EQ(whole_submit(graph, NULL,
			      SLEY_NODE_SPEC(.after = &node, .nr_after = 1),
			      &sum, wide),
		 0);
	memset(&wide, 0, sizeof(wide));
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(sum, 2 * 5 + 1 - 2 + 30000 + 400000 + 5 + 28);
	wide.numbers[6] = 1000000;
	CHECK_EQ(whole_submit(graph, &node, NULL, &sum, wide), 0);
	CHECK_EQ(sley_graph_wait(graph), -ERANGE);
	sley_graph_destroy(graph);
	stop(rt);
}
