/* SPDX-License-Identifier: MIT */
/*
 * handover.h - a request that may be complete before its submission has returned.
 *
 * The taker submits a request.  A short method runs at once, and the request is complete
 * when the submission returns; any other is completed by some worker, before or after
 * that.  The answers of the first kind go to the client together, when the taker has
 * submitted its batch.  So the one that comes last answers:
 *
 *   taker                                completion
 *   1. submits                           1. exchanges the word for DONE, and finds
 *   2. DONE: the taker answers, with        SUBMITTING: leaves the answer to the taker
 *      the rest of its batch                QUEUED:     answers
 *      else: SUBMITTING becomes QUEUED
 *
 * A canceller touches a request that is QUEUED only: before that its submission runs, and
 * afterwards it is complete.
 *
 * Edges:
 *
 *   HO1  the completion -> the taker finds DONE : code and answer of the request
 *   HO2  the taker, QUEUED -> a canceller : the request was submitted
 *
 * The completion acquires what the taker wrote with the request, as any worker does.
 */
#ifndef SLEY_IPC_HANDOVER_H
#define SLEY_IPC_HANDOVER_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

enum handover_state {
	HANDOVER_SUBMITTING,
	HANDOVER_QUEUED,
	HANDOVER_DONE,
};

struct handover {
	uint32_t word; /* enum handover_state */
};

/* The taker, before the submission. */
static inline void handover_begin(struct handover *handover)
{
	/* relaxed: the submission publishes it. */
	store_relaxed(&handover->word, HANDOVER_SUBMITTING);
}

/* The taker, after the submission.  True: the request is complete, answer it. */
static inline must_check bool handover_submitted(struct handover *handover)
{
	uint32_t word = load_acquire(&handover->word); /* HO1 */

	if (word == HANDOVER_DONE)
		return true;
	return !cas_acq_rel_acquire(&handover->word, &word, /* HO1 HO2 */
				    HANDOVER_QUEUED);
}

/* The completion.  True: answer it. */
static inline must_check bool handover_done(struct handover *handover)
{
	return xchg_release(&handover->word, HANDOVER_DONE) == /* HO1 */
	       HANDOVER_QUEUED;
}

/* Is the request submitted, and perhaps not complete? */
static inline must_check bool
handover_may_cancel(const struct handover *handover)
{
	return load_acquire(&handover->word) == HANDOVER_QUEUED; /* HO2 */
}

#endif
