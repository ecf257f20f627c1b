/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - parties that wait for each other.
 *
 *   word:  round << 1 | lock of the list
 *
 * Everything changes under the lock.  A party that comes counts itself and waits.
 * The party that completes the count begins the next round and wakes all others.
 *
 * A deadline or a cancel may have decided the wait of a party that has not yet
 * taken the lock to leave.  Such a party is still counted.  If the round is
 * completed meanwhile, the others have passed because of this party, so it has
 * passed, too: it finds a later round than its own, and returns 0.  A party that
 * leaves earlier finds its own round and takes itself out of the count.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h
 *
 * Rejected: not counting the parties whose wait was decided otherwise.  The
 * others would have been woken by then, and no wake-up can be taken back.
 */
#include "core/sched/place.h"
#include "core/wait/wait.h"

#include <sley/barrier.h>

#define NEXT_ROUND 2ull

void sley_barrier_init(struct sley_barrier *barrier, uint32_t parties)
{
	sley_check(parties > 0, "a barrier has at least one party");
	*barrier = (struct sley_barrier)SLEY_BARRIER_INIT(parties);
}

/* The lock is ours, and the last party is here. */
static void complete(struct sley_barrier *barrier, uint64_t round)
{
	struct sley_task *chain = waitq_wake_all(&barrier->q);

	barrier->arrived = 0;
	waitq_unlock_as(&barrier->q, round + NEXT_ROUND); /* W1 */
	task_enqueue_chain(chain);
}

int sley_barrier_wait_until(struct sley_barrier *barrier, uint64_t deadline_ns)
{
	struct sley_waiter node;
	uint64_t round;
	int err;

	sley_check(barrier->parties > 0, "a barrier has at least one party");
	round = waitq_lock(&barrier->q);
	if (barrier->arrived + 1 == barrier->parties) {
		complete(barrier, round);
		return 1;
	}
	barrier->arrived++;
	err = waitq_wait(&barrier->q, &node, deadline_ns, 0);
	if (!err)
		return 0;
	/* relaxed: under the lock. */
	if ((load_relaxed(&barrier->q.word) & ~WAITQ_LOCK) == round)
		barrier->arrived--;
	else
		err = 0;
	waitq_unlock(&barrier->q);
	return err;
}

int sley_barrier_wait(struct sley_barrier *barrier)
{
	return sley_barrier_wait_until(barrier, UINT64_MAX);
}
