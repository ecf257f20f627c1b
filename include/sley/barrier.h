/* SPDX-License-Identifier: MIT */
/*
 * sley/barrier.h - a place where a fixed number of parties wait for each other.
 *
 * A barrier lives in memory of the caller, needs no clean-up, and works between
 * tasks and plain threads alike.  It may be used again at once, also by a party
 * that has passed while other parties are still on their way out.
 */
#ifndef SLEY_BARRIER_H
#define SLEY_BARRIER_H

#include <sley/compiler.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

struct sley_barrier {
	struct sley_waitq q;
	uint32_t parties;
	uint32_t arrived; /* parties that wait now */
};

/* For @n parties, at least one. */
#define SLEY_BARRIER_INIT(n) { SLEY_WAITQ_INIT, (uint32_t)(n), 0 }

/*
 * sley_barrier_init - set up a barrier for @parties, at least one.
 *
 * Zero parties is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_barrier_init(struct sley_barrier *barrier, uint32_t parties);

/*
 * sley_barrier_wait - wait at a barrier until all parties have come.
 *
 * Returns 1 to the party that came last, and 0 to the others.  A party that
 * returns with an error has left, and does not count: the others go on waiting
 * for another party in its place.  If all parties have come before the caller
 * could leave, the caller passes, too: the call returns 0, and a cancel shows
 * in the next wait.  A barrier for zero parties is misuse.
 *
 * The barrier may be forgotten when all parties that came have returned.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the call of each party happens before the return
 *           of every other party.
 * Errors:   -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_barrier_wait(struct sley_barrier *barrier);

/*
 * sley_barrier_wait_until - sley_barrier_wait() with a deadline.
 *
 * The party that comes last passes even if its deadline has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_barrier_wait(), on success
 * Errors:   -ETIMEDOUT, -ECANCELED; the caller does not count as a party then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_barrier_wait_until(struct sley_barrier *barrier, uint64_t deadline_ns);

SLEY_END_DECLS
#endif
