/* SPDX-License-Identifier: MIT */
/*
 * uts.h - the problem `uts`: an unbalanced tree, made during the walk.
 *
 * A node is a random number.  The root has many children; any other node has
 * eight children, with a probability just below one eighth, or no children.  So
 * most subtrees end at once, and a few are huge and deep: a node does not show how
 * much work is below the node.
 */
#ifndef BENCH_UTS_H
#define BENCH_UTS_H

#include "../measure.h"
#include "splitmix.h"

#define UTS_SEED 505
#define UTS_ROOT 2000     /* children of the root */
#define UTS_NODES 4022465 /* 1596 deep            */
#define UTS_QUICK_ROOT 200
#define UTS_QUICK_NODES 6193
#define UTS_WAYS 8
#define UTS_PROBABILITY 0.124875
#define UTS_TURNS 10
#define UTS_TURNS_SLOW 1
#define UTS_STACK_KIB 1024

static inline uint64_t uts_child(uint64_t node, int nth)
{
	return splitmix(node + SPLITMIX_STEP * ((uint64_t)nth + 1));
}

/* Has the node children? */
static inline bool uts_inner(uint64_t node)
{
	const double whole = 9007199254740992.0; /* 2 to the 53 */

	return (double)(node >> 11) / whole < UTS_PROBABILITY;
}

/* Times @turns of @uts(children of the root) and checks the nodes. */
static inline void uts_measure(const struct measure *m, const char *metric,
			       int turns, long (*uts)(int root))
{
	long nodes = m->quick ? UTS_QUICK_NODES : UTS_NODES;
	volatile int root = m->quick ? UTS_QUICK_ROOT : UTS_ROOT;
	uint64_t start = measure_now();

	for (int i = 0; i < turns; i++)
		MEASURE_CHECK(m, uts(root) == nodes);
	measure_report_each(metric, start, (uint64_t)(turns * nodes));
}

#endif
