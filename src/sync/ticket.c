/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - tickets are called in the order in which they were taken.
 *
 * A queue is a list of the tickets that are not done, in the order in which they
 * were taken.  The first ticket, and no other, is called.  So done means: the
 * ticket leaves the list, and if there is a new first ticket, it is called.  Done
 * out of order takes a ticket from the middle, and calls no ticket.
 *
 *   ticket->q.word:  references << 3 | DONE | CALLED | unused
 *
 * The list, the waiters of each ticket and the tasks hung on the ticket are under
 * the lock bit of the queue.  CALLED is set under the lock, too.  DONE is set
 * before the lock is taken, by the caller that makes the ticket done.  A second
 * caller sees DONE and does not touch the queue, which may be gone.
 *
 * A call sets waiters and tasks free.  They are taken from the ticket under the
 * lock, and queued without the lock.  A waiter may make its ticket done at once,
 * and free both the ticket and the queue.  For that it takes the lock: so the
 * thread that called the ticket has released the lock, and the tasks that are
 * still to be queued are in the hands of that thread.
 *
 * Tasks hung on a ticket are continuations of each other (core/task/then.h): the
 * call queues only the first.
 *
 * Edges:
 *
 *   TK1  done sets CALLED of the next -> a reader sees it called : all that came
 *       before each earlier ticket was done, since each done locked the queue
 *       before
 *   TK2  done sets DONE, unref drops a reference -> a reader sees it given up, the
 *       last unref : all that the earlier caller did before.  Done itself need not
 *       acquire: it looks at the word again under the lock, and a second caller is
 *       told nothing
 *   W1  see core/wait/waitq.h
 *
 * Rejected: an event and a shared record for each ticket, counted.  Two
 * allocations per ticket, and a lock for each event.  A counter of called
 * tickets, with tickets as numbers: no ticket can leave out of order.
 */
#include "base/label.h"
#include "core/sched/place.h"
#include "core/task/then.h"
#include "core/life/after_fork.h"
#include "core/task/spawn.h"
#include "core/wait/wait.h"

#include <sley/ticket.h>

#include <errno.h>

#define CALLED 2ull
#define DONE 4ull
#define REFERENCE 8ull

#define WOKEN_BY_GIVING_UP 1

/* The tasks to be queued after the unlock. */
struct released {
	struct sley_task *waiters; /* a chain                      */
	struct sley_task *call;    /* the first task hung on it     */
};

static void release(const struct released *released)
{
	task_enqueue_chain(released->waiters);
	if (released->call)
		place_accepted(released->call);
}

enum fate {
	PENDING,
	WAS_CALLED, /* may be done by now         */
	GIVEN_UP,   /* done, without being called */
};

static enum fate fate_of(const struct sley_ticket *ticket)
{
	uint64_t word = load_acquire(&ticket->q.word); /* TK1 TK2 */

	if (word & CALLED)
		return WAS_CALLED;
	return word & DONE ? GIVEN_UP : PENDING;
}

/* ---- under the lock ------------------------------------------------------- */

static void append(struct sley_ticket_queue *queue, struct sley_ticket *ticket)
{
	struct sley_ticket *last = queue->last;

	*ticket = (struct sley_ticket){ .queue = queue, .prev = last };
	/* relaxed: no other thread knows the ticket yet. */
	store_relaxed(&ticket->q.word, REFERENCE | (last ? 0 : CALLED));
	if (last)
		last->next = ticket;
	else
		queue->first = ticket;
	queue->last = ticket;
}

static void remove_ticket(struct sley_ticket *ticket)
{
	struct sley_ticket_queue *queue = ticket->queue;

	if (ticket->prev)
		ticket->prev->next = ticket->next;
	else
		queue->first = ticket->next;
	if (ticket->next)
		ticket->next->prev = ticket->prev;
	else
		queue->last = ticket->prev;
}

static struct released take_released(struct sley_ticket *ticket)
{
	struct released released = {
		.waiters = waitq_wake_all(&ticket->q),
		.call = ticket->first_call,
	};

	ticket->first_call = NULL;
	return released;
}

static struct released call(struct sley_ticket *ticket)
{
	(void)or_release(&ticket->q.word, CALLED); /* TK1 */
	return take_released(ticket);
}

/* @ticket will never be called: its tasks end without running. */
static struct released give_up(struct sley_ticket *ticket)
{
	struct sley_task *task = ticket->first_call;

	for (; task; task = continuation_of(task->group))
		task_cancel_unqueued(task);
	waitq_mark_all(&ticket->q, WOKEN_BY_GIVING_UP);
	return take_released(ticket);
}

/* ---- the calls ---------------------------------------------------------------- */

void sley_ticket_take_n(struct sley_ticket_queue *queue,
			struct sley_ticket *tickets, size_t n)
{
	(void)waitq_lock(&queue->q);
	for (size_t i = 0; i < n; i++)
		append(queue, &tickets[i]);
	waitq_unlock_as(&queue->q, 0);
}

void sley_ticket_take(struct sley_ticket_queue *queue,
		      struct sley_ticket *ticket)
{
	sley_ticket_take_n(queue, ticket, 1);
}

bool sley_ticket_is_called(const struct sley_ticket *ticket)
{
	return fate_of(ticket) == WAS_CALLED;
}

int sley_ticket_wait_until(struct sley_ticket *ticket, uint64_t deadline_ns)
{
	struct sley_ticket_queue *queue = ticket->queue;
	enum fate fate = fate_of(ticket);
	struct sley_waiter node;
	int result;

	if (fate != PENDING)
		return fate == WAS_CALLED ? 0 : -ECANCELED;
	(void)waitq_lock(&queue->q);
	fate = fate_of(ticket);
	if (fate != PENDING) {
		waitq_unlock_as(&queue->q, 0);
		return fate == WAS_CALLED ? 0 : -ECANCELED;
	}
	result = waitq_wait_in(&queue->q, &ticket->q, &node, deadline_ns, 0);
	if (result < 0)
		waitq_unlock_as(&queue->q, 0);
	return result == WOKEN_BY_GIVING_UP ? -ECANCELED : result;
}

int sley_ticket_wait(struct sley_ticket *ticket)
{
	return sley_ticket_wait_until(ticket, UINT64_MAX);
}

void sley_ticket_done(struct sley_ticket *ticket)
{
	struct sley_ticket_queue *queue = ticket->queue;
	struct released released = { NULL, NULL };

	if (or_release(&ticket->q.word, DONE) & DONE) /* TK2 */
		return;
	(void)waitq_lock(&queue->q);
	remove_ticket(ticket);
	if (fate_of(ticket) == GIVEN_UP)
		released = give_up(ticket);
	else if (queue->first)
		released = call(queue->first);
	waitq_unlock_as(&queue->q, 0);
	release(&released);
}

void sley_ticket_ref(struct sley_ticket *ticket)
{
	/* relaxed: the caller may use the ticket, so there is a reference. */
	uint64_t word = add_relaxed(&ticket->q.word, REFERENCE);

	sley_check(
		word >= REFERENCE,
		"the ticket has no reference any more: take one while another "
		"is held");
}

bool sley_ticket_unref(struct sley_ticket *ticket)
{
	uint64_t word = sub_acq_rel(&ticket->q.word, REFERENCE); /* TK2 */

	sley_check(word >= REFERENCE,
		   "the ticket was dropped before: drop it once for each "
		   "reference");
	if (word >= 2 * REFERENCE)
		return false;
	sley_ticket_done(ticket);
	return true;
}

/* ---- tasks ---------------------------------------------------------------------- */

/* Under the lock. */
static void hang_on(struct sley_ticket *ticket, struct sley_task *task)
{
	if (ticket->first_call)
		then_add(ticket->last_call, task);
	else
		ticket->first_call = task;
	ticket->last_call = task;
}

/* PENDING: @task hangs on the ticket.  Otherwise @task is to be queued. */
static enum fate try_to_hang_on(struct sley_ticket *ticket,
				struct sley_task *task)
{
	struct sley_ticket_queue *queue = ticket->queue;
	enum fate fate = fate_of(ticket);

	if (fate != PENDING)
		return fate;
	(void)waitq_lock(&queue->q);
	fate = fate_of(ticket);
	if (fate == PENDING)
		hang_on(ticket, task);
	waitq_unlock_as(&queue->q, 0);
	return fate;
}

void sley_ticket_on_call(struct sley_ticket *ticket, struct sley_group *group,
			 struct sley_task *task, sley_fn *fn, void *arg)
{
	struct sley *rt = sley__self.bound;
	int err;

	sley_check_fn(fn);
	sley_check(rt,
		   after_fork_rule("call it from a task or a bound thread"));
	sley_check(group,
		   "the group is NULL: a task that a ticket starts needs a "
		   "group");
	task->fn = fn;
	task->arg = arg;
	task->name = label_of_place(__builtin_return_address(0));
	err = spawn_accept(rt, group, task);
	sley_check(!err, FORKED_RULE);
	switch (try_to_hang_on(ticket, task)) {
	case PENDING:
		return;
	case GIVEN_UP:
		task_cancel_unqueued(task);
		break;
	case WAS_CALLED:
		break;
	}
	place_accepted(task);
}
