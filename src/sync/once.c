/* SPDX-License-Identifier: MIT */
/*
 * once.c - the slow path; the fast path is inline in <sley/once.h>.
 *
 *   word:  RUNNING | DONE | lock of the list
 *
 * The word changes under the lock only: 0 -> RUNNING by the caller that calls the
 * function, RUNNING -> DONE when the function has returned.  DONE and the free
 * lock are one store, and the fast path looks for exactly that word: then no
 * other caller is inside any more, and the caller may free the object.
 *
 * The object knows its runner, so that a function that calls its own once is told
 * so, instead of waiting for itself.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; the inline path acquires the same word
 */
#include "core/sched/place.h"
#include "core/wait/holder.h"
#include "core/wait/wait.h"

#include <sley/once.h>

#define RUNNING 4ull

/* The lock is ours, and this is the first caller. */
static void run_and_unlock(struct sley_once_flag *once, sley_fn *fn, void *arg)
{
	struct sley_task *chain;

	once->runner = holder_current();
	waitq_unlock_as(&once->q, RUNNING);
	fn(arg);
	(void)waitq_lock(&once->q);
	once->runner = 0;
	chain = waitq_wake_all(&once->q);
	waitq_unlock_as(&once->q, SLEY_ONCE_DONE); /* W1 */
	task_enqueue_chain(chain);
}

static int once_until(struct sley_once_flag *once, sley_fn *fn, void *arg,
		      uint64_t deadline_ns, enum wait_flags flags)
{
	uint64_t word = waitq_lock(&once->q);
	struct sley_waiter node;
	int err;

	if (!word) {
		run_and_unlock(once, fn, arg);
		return 0;
	}
	if (word & SLEY_ONCE_DONE) {
		waitq_unlock_as(&once->q, word);
		return 0;
	}
	sley_check(once->runner != holder_current(),
		   "the function that runs once calls the same once again: it "
		   "would wait for itself");
	err = waitq_wait(&once->q, &node, deadline_ns, flags);
	if (!err)
		return 0;
	/* relaxed: under the lock. */
	if (load_relaxed(&once->q.word) & SLEY_ONCE_DONE)
		err = 0;
	waitq_unlock(&once->q);
	return err;
}

void sley_once_slow(struct sley_once_flag *once, sley_fn *fn, void *arg)
{
	sley_check_fn(fn);
	(void)!once_until(once, fn, arg, UINT64_MAX, WAIT_SHIELDED);
}

int sley_once_until_slow(struct sley_once_flag *once, sley_fn *fn, void *arg,
			 uint64_t deadline_ns)
{
	sley_check_fn(fn);
	return once_until(once, fn, arg, deadline_ns, 0);
}
