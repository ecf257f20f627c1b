/* SPDX-License-Identifier: MIT */
/*
 * failure.h - how a node of a graph, or a step of a plan, has ended, and why.
 *
 * There are three outcomes.  The function has returned 0 or more: success.  It has
 * returned a negative code: failure.  Or the function was not called: skipped, since
 * a predecessor has not succeeded, or since the node was cancelled.
 *
 * A predecessor that has not succeeded passes its code on to each successor that
 * needs its success, before it counts itself off (missing.h).  The first predecessor
 * that does so is the cause.  A node with a cause is skipped.
 *
 * Each scope of a graph, and each run of a plan, remembers its first failure, for
 * the thread that waits.  Skipped nodes are not failures in this sense.
 *
 * Edges:
 *
 *   MI1  see graph/node/missing.h
 *   FA2  see graph/node/failures.h
 */
#ifndef SLEY_GRAPH_NODE_FAILURE_H
#define SLEY_GRAPH_NODE_FAILURE_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <errno.h>
#include <sley/graph.h>
#include <stdbool.h>
#include <stdint.h>

struct failure {
	int32_t code;     /* the function's result, or the code of the cause */
	uint32_t cause;   /* the index of the failed predecessor, or 0       */
	uint32_t outcome; /* enum sley_outcome, after the end                */
};

/* No predecessor has failed so far.  No other thread may use @failure. */
static inline void failure_clear(struct failure *failure)
{
	/* relaxed: the thread that submits or starts the node publishes it. */
	store_relaxed(&failure->cause, 0);
}

/* By the thread that runs the node: is there a cause? */
static inline bool failure_has_cause(const struct failure *failure)
{
	/* relaxed: MI1 has published it. */
	return load_relaxed(&failure->cause);
}

/* The function of the node has returned @code. */
static inline void failure_set_result(struct failure *failure, int code)
{
	failure->code = code;
	failure->outcome = unlikely(code < 0) ? SLEY_OUTCOME_FAILURE
					      : SLEY_OUTCOME_SUCCESS;
}

/* The function of the node was not called.  The code of a cause stays. */
static inline void failure_set_skipped(struct failure *failure)
{
	failure->outcome = SLEY_OUTCOME_SKIPPED;
	if (!failure_has_cause(failure))
		failure->code = -ECANCELED;
}

/* After the end: has the node succeeded? */
static inline bool failure_is_success(const struct failure *failure)
{
	return likely(failure->outcome == SLEY_OUTCOME_SUCCESS);
}

/*
 * By a predecessor that has not succeeded, @from with the number @index, before it
 * counts itself off.  True: the predecessor is the cause, and its code was copied.
 */
static inline bool failure_pass_on(struct failure *failure,
				   const struct failure *from, uint32_t index)
{
	uint32_t none = 0;

	/* relaxed: MI1 publishes the cause; any of the failures may be the first. */
	if (!cas_relaxed(&failure->cause, &none, index))
		return false;
	failure->code = from->code;
	return true;
}

/*
 * By the worker that has ended the node with the number @index, which has not
 * succeeded, before any other thread can see the outcome: so a failure that was seen
 * is noted before the failures that came later.  *@first is 0, or the number of the
 * first node that failed.
 */
static inline void failure_note_first(const struct failure *failure,
				      uint32_t *first, uint32_t index)
{
	uint32_t none = 0;

	if (failure->outcome != SLEY_OUTCOME_SKIPPED)
		(void)cas_release(first, &none, index); /* FA2 */
}

#endif
