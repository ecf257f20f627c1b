/* SPDX-License-Identifier: MIT */
/*
 * futex.c - sleeping and waking.
 *
 * A wait is one step that compares memory and queues the thread, and one that
 * leaves the queue: when woken, or at any time if it has a deadline (virtual
 * time then moves to the deadline).  Which waiters a wake picks is explored.
 */
#include "engine.h"

/* The @n-th set of @size members out of @set. */
static uint32_t nth_subset(uint32_t set, int size, int n)
{
	for (uint32_t sub = set; sub; sub = (sub - 1) & set) {
		if (__builtin_popcount(sub) == size && n-- == 0)
			return sub;
	}
	return 0;
}

static int nr_subsets(uint32_t set, int size)
{
	int n = 0;

	while (nth_subset(set, size, n))
		n++;
	return n;
}

uint64_t futex_wake(const char *addr, uint64_t max)
{
	uint32_t waiters = 0;
	int nr = max > THREADS ? THREADS : (int)max;

	for (int i = 0; i < engine.nr_threads; i++) {
		if (engine.threads[i].queued &&
		    engine.threads[i].op.addr == addr)
			waiters |= 1u << i;
	}
	if (nr == 0)
		return 0;
	if (__builtin_popcount(waiters) > nr)
		waiters = nth_subset(waiters, nr,
				     machine_pick(nr_subsets(waiters, nr)));
	for (int i = 0; i < engine.nr_threads; i++) {
		struct thread *t = &engine.threads[i];

		if (!(waiters & 1u << i))
			continue;
		t->queued = false;
		t->woken = true;
		t->cause = engine.depth;
	}
	return (uint64_t)__builtin_popcount(waiters);
}

uint64_t futex_unblock(struct thread *t, struct effect *effect)
{
	bool timed_out = !t->woken;

	effect->flags &= (uint16_t)~TIME_WRITES;
	if (timed_out) {
		effect->flags |= TIME_WRITES;
		if (t->op.deadline > engine.now)
			engine.now = t->op.deadline;
	}
	t->queued = t->woken = false;
	return timed_out;
}
