/* SPDX-License-Identifier: MIT */
/*
 * missing.h - how many predecessors of a node are missing, and whether any failed.
 *
 * A predecessor counts itself off when it has ended.  A failed predecessor reports
 * its failure before that.  The first to report is the cause.
 *
 * Edges:
 *
 *   MI1  a predecessor counts itself off -> the last predecessor counts to 0 : all
 *       that the predecessors did, and which of them have failed
 */
#ifndef SLEY_GRAPH_NODE_MISSING_H
#define SLEY_GRAPH_NODE_MISSING_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* By a predecessor that has ended.  True: it was the last; the count may say 1. */
static inline bool missing_count_off(uint32_t *nr_missing)
{
	/* No other predecessor is left to count. */
	if (load_acquire(nr_missing) == 1) /* MI1 */
		return true;
	return sub_acq_rel(nr_missing, 1) == 1; /* MI1 */
}

/* Called by a failed predecessor, before counting off.  True: the first failure. */
static inline bool missing_blame(uint32_t *cause, uint32_t who)
{
	uint32_t none = 0;

	/* relaxed: MI1 publishes the cause; any of the failures may be the first. */
	return cas_relaxed(cause, &none, who);
}

#endif
