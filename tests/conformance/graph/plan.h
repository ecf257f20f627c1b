/* SPDX-License-Identifier: MIT */
/*
 * plan.h - small plans for their tests.
 */
#ifndef SLEY_TESTS_CONFORMANCE_GRAPH_PLAN_H
#define SLEY_TESTS_CONFORMANCE_GRAPH_PLAN_H

#include <stdlib.h>

#include "conformance/graph/graph.h"

static inline struct sley_plan *plan_new(void)
{
	struct sley_plan *plan = NULL;

	CHECK_EQ(sley_plan_create(&plan, NULL), 0);
	CHECK(plan != NULL);
	return plan;
}

/* @fn(@arg), named, after some others. */
static inline sley_node record(struct sley_plan *plan,
			       const struct sley_node_spec *spec)
{
	sley_node node = SLEY_NO_NODE;

	CHECK_EQ(sley_plan_add(plan, &node, spec), 0);
	CHECK_NE(node, SLEY_NO_NODE);
	return node;
}

/* A node that counts up the counter of its argument. */
static inline sley_node plan_counts(struct sley_plan *plan, atomic_int *count,
				    const sley_node *after, uint32_t nr)
{
	return record(plan, SLEY_NODE_SPEC(.fn = count_up, .arg = count,
					   .after = after, .nr_after = nr));
}

#endif
