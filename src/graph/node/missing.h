/* SPDX-License-Identifier: MIT */
/*
 * missing.h - how many predecessors of a node are missing.
 *
 * A predecessor counts itself off when it has ended.  A predecessor that has not
 * succeeded passes its failure on before that (failure.h).
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

/* By a predecessor that has ended.  True: it was the last; the count may stay 1. */
static inline bool missing_count_off(uint32_t *nr_missing)
{
	/* No other predecessor is left to count. */
	if (load_acquire(nr_missing) == 1) /* MI1 */
		return true;
	return sub_acq_rel(nr_missing, 1) == 1; /* MI1 */
}

#endif
