/* SPDX-License-Identifier: MIT */
/*
 * future.c - an event with a result.
 *
 * The completer that finds the event unset writes the result, under the lock of
 * the event.  The store that sets the event and unlocks it publishes the result.
 * So a reader that sees the event set may read the result without a lock, and may
 * free the future: the completer does not touch it any more.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; a reader that sees SET sees the result
 */
#include "core/wait/wait.h"
#include "sync/event.h"

#include <sley/future.h>

#include <errno.h>

_Static_assert(offsetof(struct sley_future, done) == 0,
	       "futures are handed on as events");

static int complete(struct sley_future *future, void *value, int status)
{
	uint64_t word = waitq_lock(&future->done.q);

	if (word & SLEY_EVENT_SET) {
		waitq_unlock_as(&future->done.q, word);
		return -EALREADY;
	}
	future->value = value;
	future->status = status;
	event_set_locked(&future->done, word);
	return 0;
}

int sley_future_set(struct sley_future *future, void *value)
{
	return complete(future, value, 0);
}

int sley_future_fail(struct sley_future *future, int err)
{
	sley_check(err < 0, "a future must fail with a negative error");
	return complete(future, NULL, err);
}

int sley_future_get(const struct sley_future *future, void **value)
{
	if (!sley_future_is_done(future))
		return -EINPROGRESS;
	if (value && future->status == 0)
		*value = future->value;
	return future->status;
}

/* Done, and no completer that came too late has the lock. */
static bool is_settled(const struct sley_future *future)
{
	return load_acquire(&future->done.q.word) == SLEY_EVENT_SET; /* W1 */
}

int sley_future_wait_until(struct sley_future *future, uint64_t deadline_ns)
{
	if (is_settled(future))
		return 0;
	return sley_event_wait_until(&future->done, deadline_ns);
}

/* ---- several ---------------------------------------------------------------- */

int sley_future_wait_any_until(struct sley_future *const *futures, size_t nr,
			       uint64_t deadline_ns)
{
	if (nr == 0 || nr > SLEY_FUTURE_ANY_MAX)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		if (is_settled(futures[i]))
			return (int)i;
	}
	return sley_event_wait_any_until((struct sley_event *const *)futures,
					 nr, deadline_ns);
}

int sley_future_wait_any(struct sley_future *const *futures, size_t nr)
{
	return sley_future_wait_any_until(futures, nr, UINT64_MAX);
}

int sley_future_wait_all_until(struct sley_future *const *futures, size_t nr,
			       uint64_t deadline_ns)
{
	if (nr == 0)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		int err = sley_future_wait_until(futures[i], deadline_ns);

		if (err)
			return err;
	}
	return 0;
}

int sley_future_wait_all(struct sley_future *const *futures, size_t nr)
{
	return sley_future_wait_all_until(futures, nr, UINT64_MAX);
}
