/* SPDX-License-Identifier: MIT */
/*
 * missing.h - how many a node still waits for, and whether one of them has failed.
 *
 * Each of them counts itself off when it has ended; before, if it has failed, it
 * says so.  The first one to say so is the cause.
 *
 * Edges:
 *
 *   F1  who ends counts itself off -> the one that counts to 0 : what all of them
 *       did, and that they have failed
 */
#ifndef SLEY_GRAPH_NODE_MISSING_H
#define SLEY_GRAPH_NODE_MISSING_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* By one that has ended.  True: it was the last one; the count may still say 1. */
static inline bool missing_count_off(uint32_t *nr_missing)
{
	/* Nobody else is left to count. */
	if (load_acquire(nr_missing) == 1) /* F1 */
		return true;
	return sub_acq_rel(nr_missing, 1) == 1; /* F1 */
}

/* By one that has failed, before: true, if it is the first one. */
static inline bool missing_blame(uint32_t *cause, uint32_t who)
{
	uint32_t none = 0;

	/* relaxed: F1 publishes it; the first one is as good as any. */
	return cas_relaxed(cause, &none, who);
}

#endif
