/* SPDX-License-Identifier: MIT */
/*
 * countdown.c - see countdown.h.
 */
#include "core/sched/place.h"
#include "core/task/countdown.h"
#include "core/wait/wait.h"

/* The count is zero, the lock is ours, and there are waiters. */
static noinline void wake_waiters(struct sley_waitq *q)
{
	struct sley_task *chain = waitq_wake_all(q);

	/* Not a store: the word may be counted up again already. */
	waitq_unlock_counted(q);
	task_enqueue_chain(chain);
}

enum countdown_result countdown_sub_slow(struct sley_waitq *q, uint64_t n)
{
	/* relaxed: the CAS checks it. */
	uint64_t word = load_relaxed(&q->word);

	for (unsigned int tries = 0;; tries++) {
		uint64_t less = word - n * COUNTDOWN_ONE;
		bool wakes = word & COUNTDOWN_WAITERS && !countdown_of(less);

		if (unlikely(countdown_of(word) < n))
			return COUNTDOWN_BAD;
		if (unlikely(wakes && (word & WAITQ_LOCK))) {
			spin_hint(&q->word);
			spin_wait(&q->word, waitq_is_locked, tries);
			/* relaxed: as above. */
			word = load_relaxed(&q->word);
			continue;
		}
		if (wakes)
			less = WAITQ_LOCK;
		if (cas_acq_rel(&q->word, &word, less)) { /* C1 W1 */
			if (wakes)
				wake_waiters(q);
			return countdown_of(less) ? COUNTDOWN_MORE
						  : COUNTDOWN_LAST;
		}
	}
}

int countdown_wait_slow(struct sley_waitq *q, uint64_t deadline_ns,
			enum wait_flags flags)
{
	struct sley_waiter node;
	uint64_t word = waitq_lock(q);
	int err;

	/* A thread that counts to zero from here on finds WAITERS. */
	do {
		if (!countdown_of(word)) {
			waitq_unlock_counted(q);
			return 0;
		}
		word |= WAITQ_LOCK;
	} while (!cas_acq_rel_acquire(&q->word, &word, /* C1 */
				      word | COUNTDOWN_WAITERS));
	err = waitq_wait(q, &node, deadline_ns, flags | WAIT_COUNTED);
	if (err) {
		if (!q->first)
			/* relaxed: under the lock. */
			(void)and_relaxed(&q->word, ~COUNTDOWN_WAITERS);
		waitq_unlock_counted(q);
	}
	return err;
}
