/* SPDX-License-Identifier: MIT */
/*
 * event.c - set for all waiters, or for a single waiter.
 *
 *   word:  AUTO | SET | lock of the list
 *
 * All bits change under the lock only.  A look without the lock must see SET and
 * no lock: then no other caller is inside any more, and the caller may free the
 * event.
 *
 * A wait for any of several events links a node in each event.  The first event
 * that is set decides.  An automatic event that is set and finds a decided waiter
 * goes on to the next waiter.  If there is no next waiter the event stays set, so
 * nothing is consumed in vain.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h
 */
#include "sync/event.h"

#include "core/sched/place.h"
#include "core/wait/loan.h"
#include "core/wait/wait.h"

#include <errno.h>

void sley_event_init(struct sley_event *event, bool automatic, bool set)
{
	event->q = (struct sley_waitq){
		.word = (automatic ? SLEY_EVENT_AUTO : 0) |
			(set ? SLEY_EVENT_SET : 0),
	};
}

void event_set_locked(struct sley_event *event, uint64_t word)
{
	struct sley_task *chain;

	if (word & SLEY_EVENT_AUTO) {
		struct waitq_woken woken = waitq_wake_first(&event->q);

		chain = woken.task;
		if (chain)
			chain->next = NULL;
		if (!woken.any)
			word |= SLEY_EVENT_SET;
	} else {
		chain = waitq_wake_all(&event->q);
		word |= SLEY_EVENT_SET;
	}
	waitq_unlock_as(&event->q, word); /* W1 */
	task_enqueue_chain(chain);
}

void sley_event_set(struct sley_event *event)
{
	event_set_locked(event, waitq_lock(&event->q));
}

void sley_event_clear(struct sley_event *event)
{
	uint64_t word = waitq_lock(&event->q);

	waitq_unlock_as(&event->q, word & ~(uint64_t)SLEY_EVENT_SET);
}

bool sley_event_is_set(const struct sley_event *event)
{
	return load_acquire(&event->q.word) & SLEY_EVENT_SET; /* W1 */
}

/* Under the lock: pass if the event is set.  *@word is the word to unlock with. */
static bool pass(uint64_t *word)
{
	if (!(*word & SLEY_EVENT_SET))
		return false;
	if (*word & SLEY_EVENT_AUTO)
		*word &= ~(uint64_t)SLEY_EVENT_SET;
	return true;
}

bool sley_event_try(struct sley_event *event)
{
	uint64_t word = waitq_lock(&event->q);
	bool passed = pass(&word);

	waitq_unlock_as(&event->q, word);
	return passed;
}

/* As event_wait(), where a task was spawned to set some event: this one, perhaps. */
static noinline int wait_lending(struct sley_event *event, uint64_t deadline_ns,
				 enum wait_flags flags)
{
	struct sley_waiter node;
	uint64_t word = waitq_lock(&event->q);
	struct loan loan;
	int err;

	if (pass(&word)) {
		waitq_unlock_as(&event->q, word);
		return 0;
	}
	(void)loan_begin(&loan, event, NULL, NULL);
	/* Not inline: event_wait() has the code of the usual wait for itself. */
	err = waitq_wait_slow(&event->q, &event->q, &node, deadline_ns, flags);
	if (err)
		waitq_unlock(&event->q);
	loan_free(loan_end(&loan));
	return err;
}

int event_wait(struct sley_event *event, uint64_t deadline_ns,
	       enum wait_flags flags)
{
	struct sley_waiter node;
	uint64_t word;
	int err;

	if (unlikely(loans_are_promised()))
		return wait_lending(event, deadline_ns, flags);
	word = waitq_lock(&event->q);
	if (pass(&word)) {
		waitq_unlock_as(&event->q, word);
		return 0;
	}
	err = waitq_wait(&event->q, &node, deadline_ns, flags);
	if (err)
		waitq_unlock(&event->q);
	return err;
}

int sley_event_wait_until(struct sley_event *event, uint64_t deadline_ns)
{
	return event_wait(event, deadline_ns, 0);
}

int sley_event_wait(struct sley_event *event)
{
	return sley_event_wait_until(event, UINT64_MAX);
}

/* ---- any of several ------------------------------------------------------- */

/*
 * Link @node, unless @event is set: then @event decides the wait, and the nodes
 * that were linked before are unlinked.  But an earlier event may have been set
 * meanwhile and have decided the wait.  That must not be lost, so the wait goes
 * on and finds it.
 */
static bool link_or_pass(struct sley_event *event, struct sley_waiter *node,
			 struct sley_task *task, unsigned int index)
{
	uint64_t word = waitq_lock(&event->q);

	*node = (struct sley_waiter){ .task = task,
				      .q = &event->q,
				      .index = index };
	if ((word & SLEY_EVENT_SET) &&
	    task_decide(task, VERDICT_WOKEN, index) == DECIDED_EARLY) {
		(void)pass(&word);
		waitq_unlock_as(&event->q, word);
		return true;
	}
	waitq_link(&event->q, node);
	waitq_unlock_as(&event->q, word);
	return false;
}

int sley_event_wait_any_until(struct sley_event *const *events, size_t nr,
			      uint64_t deadline_ns)
{
	struct sley_waiter node[SLEY_EVENT_ANY_MAX];
	struct sley_task thread, *task;
	unsigned int i;
	int err;

	if (nr == 0 || nr > SLEY_EVENT_ANY_MAX)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (sley_event_try(events[i]))
			return (int)i;
	}
	err = wait_refused(deadline_ns);
	if (err)
		return err;
	task = wait_task(&thread);
	task_announce_wait(task);
	for (i = 0; i < nr; i++) {
		if (link_or_pass(events[i], &node[i], task, i)) {
			i++;
			break;
		}
	}
	return waitq_wait_any(node, i, deadline_ns);
}

int sley_event_wait_any(struct sley_event *const *events, size_t nr)
{
	return sley_event_wait_any_until(events, nr, UINT64_MAX);
}
