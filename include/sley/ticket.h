/* SPDX-License-Identifier: MIT */
/*
 * sley/ticket.h - tickets: work in any order, results in one.
 *
 * The tickets of a queue are *called* in the order in which they were taken,
 * one at a time: the first is called when it is taken, every other one when all
 * before it are *done*.  So tasks may compute side by side and still print,
 * write or send in order.
 *
 *	sley_ticket_take(&queue, &line->ticket);  // in the order of the lines
 *	...
 *	compute(line);                            // in a task, any order
 *	sley_ticket_wait(&line->ticket);          // all earlier ones are done
 *	print(line);
 *	sley_ticket_done(&line->ticket);          // calls the next
 *
 * Queues and tickets live in memory of the caller, need no clean-up, and work
 * between tasks and plain threads alike.  A ticket may be forgotten when the
 * call that made it done has returned, and no other call for it is under way:
 * one that waits with a deadline, or can be cancelled, may still have to leave.
 * A queue may be forgotten when all its tickets may be.
 */
#ifndef SLEY_TICKET_H
#define SLEY_TICKET_H

#include <sley/compiler.h>
#include <sley/runtime.h>
#include <sley/task.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

/* Zeroed memory is an empty queue.  The fields are private. */
struct sley_ticket_queue {
	struct sley_waitq q; /* its lock is the queue's; its list is not used */
	struct sley_ticket *first; /* the one that is called             */
	struct sley_ticket *last;
};

#define SLEY_TICKET_QUEUE_INIT { SLEY_WAITQ_INIT, NULL, NULL }

/* A place in a queue.  The fields are private; needs no initialisation. */
struct sley_ticket {
	struct sley_waitq q; /* who waits; the word has references and state */
	struct sley_ticket_queue *queue;
	struct sley_ticket *prev, *next; /* those before and behind it       */
	struct sley_task *first_call;    /* to be queued when it is called   */
	struct sley_task *last_call;
};

/*
 * sley_ticket_take - take the next ticket of a queue.
 *
 * It has one reference, the caller's.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @ticket is borrowed until it is done.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_take(struct sley_ticket_queue *queue, struct sley_ticket *ticket);

/*
 * sley_ticket_take_n - take @n tickets that follow each other.
 *
 * Nobody else's ticket comes between them.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_ticket_take(), each of them
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_take_n(struct sley_ticket_queue *queue, struct sley_ticket *tickets,
		   size_t n);

/*
 * sley_ticket_wait - wait until a ticket is called.
 *
 * Several may wait for one ticket.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    what was before each earlier ticket was done happens before the
 *           return.
 * Errors:   -ECANCELED   the caller was cancelled, or @ticket is done and was
 *                        never called
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_ticket_wait(struct sley_ticket *ticket);

/*
 * sley_ticket_wait_until - sley_ticket_wait() with a deadline.
 *
 * A ticket that is called wins over a deadline that has passed.  On failure
 * nothing has changed: the ticket keeps its place.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_ticket_wait(), on success
 * Errors:   -ETIMEDOUT, -ECANCELED as sley_ticket_wait()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_ticket_wait_until(struct sley_ticket *ticket, uint64_t deadline_ns);

/*
 * sley_ticket_is_called - has a ticket been called?
 *
 * It stays so when the ticket is done.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_ticket_wait(), if it has
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_ticket_is_called(const struct sley_ticket *ticket);

/*
 * sley_ticket_done - end the turn of a ticket, and let the next one go.
 *
 * If it was called, the next ticket in the queue is called now.  If not, it
 * leaves the queue without ever having been called: nothing of it may then
 * happen out of order, so who waits for it gets -ECANCELED, and the tasks that
 * sley_ticket_on_call() hung on it end as cancelled ones, without running.
 *
 * A second call changes nothing, from whatever thread and for whatever reason
 * it was done, as long as the memory of the ticket is still there.  If two
 * threads do it at once, the ticket may be forgotten when both have returned.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before it happens before the waits for every later
 *           ticket return, and before the tasks hung on it run.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_done(struct sley_ticket *ticket);

/*
 * sley_ticket_ref - add a reference to a ticket.
 *
 * One more who must drop it before the ticket is done by itself.
 *
 * Context:  any thread that may use a reference
 * Blocks:   never
 * Errors:   none; a ticket without references cannot get new ones: misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_ref(struct sley_ticket *ticket);

/*
 * sley_ticket_unref - drop a reference to a ticket; the last makes it done.
 *
 * True if it was the last: nobody else knows the ticket, and its memory may be
 * freed.  Dropping more than there are is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_ticket_done(), for each who dropped one
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_ticket_unref(struct sley_ticket *ticket);

/*
 * sley_ticket_on_call - spawn @fn(@arg) into @group when @ticket is called.
 *
 * As sley_spawn() at the moment of the call, at once if it has been called
 * already, but into the runtime of who hangs it on now, and @group and that
 * runtime wait for it from now on.  Several that were hung on the same ticket
 * before its call run one after the other, in the order given.  They may wait,
 * take tickets, make this one done and hang on more.  None of them is done by
 * itself: call sley_ticket_done() where the work of the ticket ends, and see to
 * it that somebody does if a cancel keeps the task from running.
 *
 * sley_cancel() and sley_set_priority() work as on a task that is queued; a
 * cancelled one ends when its turn would have come.
 *
 * Context:  a task or a bound thread; elsewhere it is misuse
 * Blocks:   never
 * Owner:    @task and @group are borrowed until sley_join(@group) returns.
 * Order:    everything before this call, and what is before each earlier ticket
 *           was done, happens before @fn.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_on_call(struct sley_ticket *ticket, struct sley_group *group,
		    struct sley_task *task, sley_fn *fn, void *arg);

SLEY_END_DECLS
#endif
