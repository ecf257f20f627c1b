/* SPDX-License-Identifier: MIT */
/*
 * pass.h - passes over the nodes of a graph, each of which visits a node only once.
 *
 * Each pass has a number.  A node that is visited gets the number of the pass as its
 * stamp, and so does a scope.  So a pass need not clear the stamps of earlier passes.
 *
 * All passes of a graph use the same stamps: a pass has to end before the next pass
 * begins.  Debug builds check that.  Passes are made with the graph's lock, which
 * stays locked from the beginning of a pass to its end:
 *
 *      wire.c        counts the different predecessors of a node; adds the edges
 *      deadlock.c    follows the successors of nodes that wait
 *      failures.c    marks the nodes that will be forgotten
 *
 * Limit: numbers come again after 2^32 passes.  A node that was visited exactly so
 * long ago, and by no pass since, counts as visited.  A longer stamp does not fit
 * into a node.
 */
#ifndef SLEY_GRAPH_NODE_PASS_H
#define SLEY_GRAPH_NODE_PASS_H

#include "base/assert.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

#define PASS_NEVER 0 /* the stamp of a node that no pass has visited */

/* The passes of a graph.  (lock) */
struct pass {
	uint32_t number; /* of the last pass that has begun             */
	bool under_way;  /* in debug builds: it has not ended           */
};

static inline void pass_set_under_way(struct pass *pass, bool under_way)
{
#ifdef NDEBUG
	(void)pass;
	(void)under_way;
#else
	sley_assert(pass->under_way != under_way);
	pass->under_way = under_way;
#endif
}

static inline void pass_begin(struct pass *pass)
{
	uint32_t number = pass->number + 1;

	pass_set_under_way(pass, true);
	pass->number = likely(number != PASS_NEVER) ? number : 1;
}

static inline void pass_end(struct pass *pass)
{
	pass_set_under_way(pass, false);
}

/* Has this pass visited the node, or scope, that has @stamp? */
static inline bool pass_has_visited(const struct pass *pass, uint32_t stamp)
{
	sley_assert(pass->under_way);
	return stamp == pass->number;
}

/* Visits the node, or scope, that has *@stamp.  False: visited before. */
static inline bool pass_visit(const struct pass *pass, uint32_t *stamp)
{
	if (pass_has_visited(pass, *stamp))
		return false;
	*stamp = pass->number;
	return true;
}

#endif
