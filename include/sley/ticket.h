/* SPDX-License-Identifier: MIT */
/*
 * sley/ticket.h - tickets: work in any order, results in one.
 *
 * The tickets of a queue are *called* in the order in which they were taken, one
 * at a time: the first ticket is called when it is taken, every other ticket
 * when all tickets before it are *done*.  So tasks may compute side by side and
 * still print, write or send in order.
 *
 *	sley_ticket_take(&queue, &line->ticket);  // in the order of the lines
 *	...
 *	compute(line);                            // in a task, any order
 *	sley_ticket_wait(&line->ticket);          // all earlier ones are done
 *	print(line);
 *	sley_ticket_done(&line->ticket);          // calls the next
 *
 * Queues and tickets live in memory of the caller, need no clean-up, and work
 * between tasks and plain threads alike.  The memory of a ticket may be freed or
 * reused when the call that made the ticket done has returned and no other call
 * for the ticket is under way.  A wait with a deadline, or a wait that was
 * cancelled, may still be under way then.  The memory of a queue may be reused
 * when the memory of all its tickets may be.
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
	struct sley_waitq q; /* its lock is for the queue; its list is not used */
	struct sley_ticket *first; /* the called ticket                  */
	struct sley_ticket *last;
};

#define SLEY_TICKET_QUEUE_INIT { SLEY_WAITQ_INIT, NULL, NULL }

/* A place in a queue.  The fields are private; needs no initialisation. */
struct sley_ticket {
	struct sley_waitq q; /* the waiters; the word has references and state */
	struct sley_ticket_queue *queue;
	struct sley_ticket *prev, *next; /* its neighbours in the queue      */
	struct sley_task *first_call;    /* tasks to queue at the call       */
	struct sley_task *last_call;
};

/*
 * sley_ticket_take - take the next ticket of a queue.
 *
 * The ticket has one reference, which belongs to the caller.
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
 * No other ticket comes between them.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_ticket_take(), for each ticket
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_take_n(struct sley_ticket_queue *queue, struct sley_ticket *tickets,
		   size_t n);

/*
 * sley_ticket_wait - wait until a ticket is called.
 *
 * Several tasks and threads may wait for the same ticket.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before each earlier ticket was done happens before the
 *           return.
 * Errors:   -ECANCELED  the caller was cancelled, or @ticket is done and was
 *                       never called
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
 * A called ticket stays called when it is done.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_ticket_wait(), if it has
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_ticket_is_called(const struct sley_ticket *ticket);

/*
 * sley_ticket_done - end the turn of a ticket, and call the next one.
 *
 * If the ticket was called, the next ticket in the queue is called now.  If not,
 * the ticket leaves the queue without ever being called.  Its work must not
 * happen out of order, so its waiters get -ECANCELED, and its tasks of
 * sley_ticket_on_call() end as cancelled, without running.
 *
 * A second call for the same ticket changes nothing, from any thread, as long as
 * the memory of the ticket is valid.  If two threads call at once, this memory
 * may be reused when both calls have returned.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the waits for every later
 *           ticket return, and before the tasks of later tickets run.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_done(struct sley_ticket *ticket);

/*
 * sley_ticket_ref - add a reference to a ticket.
 *
 * The ticket becomes done by itself only when each reference has been dropped.
 *
 * Context:  any thread that may use an existing reference
 * Blocks:   never
 * Errors:   none; a ticket without references cannot get new ones: misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_ref(struct sley_ticket *ticket);

/*
 * sley_ticket_unref - drop a reference to a ticket; the last one makes it done.
 *
 * Returns true if the reference was the last: no other thread uses the ticket,
 * and its memory may be freed.  A call without a reference is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_ticket_done(), for each dropped reference
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_ticket_unref(struct sley_ticket *ticket);

/*
 * sley_ticket_on_call - spawn @fn(@arg) into @group when @ticket is called.
 *
 * Like sley_spawn() at the moment when the ticket is called, or now if it was
 * called before.  The task runs in the runtime of the caller of
 * sley_ticket_on_call(), and @group and that runtime wait for the task from now
 * on.  Tasks that were added to the same ticket before its call run one after
 * the other, in the order in which they were added.  They may wait, take
 * tickets, make this ticket done and add more tasks.  No task makes the ticket
 * done by itself: call sley_ticket_done() where the work of the ticket ends, and
 * make sure of that call even if a cancel keeps the task from running.
 *
 * sley_cancel() and sley_set_priority() work as on a queued task; a cancelled
 * task ends when its turn would have come.
 *
 * Context:  a task or a bound thread; elsewhere it is misuse
 * Blocks:   never
 * Owner:    @task and @group are borrowed until sley_join(@group) returns.
 * Order:    everything before this call, and everything before each earlier
 *           ticket was done, happens before @fn.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_ticket_on_call(struct sley_ticket *ticket, struct sley_group *group,
		    struct sley_task *task, sley_fn *fn, void *arg);

SLEY_END_DECLS
#endif
