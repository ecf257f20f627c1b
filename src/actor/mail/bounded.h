/* SPDX-License-Identifier: MIT */
/*
 * bounded.h - a mailbox that takes a limited number of messages.
 *
 * Messages of users to such a process do not go into its inbox but here:
 *
 *      senders that wait ──► fifo ──► put aside ──► delivered
 *      (in order)            `─ these count ─'
 *
 * All of this is under the lock of the list of senders.  A message in the inbox,
 * the marker, tells the process that there are messages here.  There is a single
 * marker: `told` is set from the moment the marker is put in until the process
 * has taken the marker out (PROCESS_NEWS) and has found the fifo empty.  With
 * PROCESS_NEWS, a process does not park.
 *
 * Messages that a selective receive did not want are put aside in process->user,
 * and belong to the process.  If the oldest of these messages has to be dropped,
 * the process owes this drop.  It drops the message when it looks for more,
 * unless it has delivered the message meanwhile.
 *
 * A sender that waits has its message in its frame.  Only the process makes room.
 * It moves the message of the first waiting sender into the fifo, and wakes the
 * sender, which has nothing left to do.  So no later sender gets ahead, and a
 * sender that gives up, cancelled or late, has sent nothing.
 *
 * Several messages may be sent together: all of them fit, or all are refused.
 * This never waits.  So while there is room for a message no sender waits, and
 * each waiting sender needs room for a single message.
 *
 * A bound comes from a pool that gives nothing back, and its lock outlives its
 * owner.  A sender may come when the process has ended, and look at the bound of
 * a different process: so the sender compares owner and pid under the lock.
 *
 * Edges: W1 of core/wait/waitq.h, the edges of lf/inbox.h, and
 *
 *   BD1  a process gets its bound -> a sender reads the address : the bound is
 *       mapped.  The pid does not say so: since the sender compared the pid, the
 *       place may have got a new process, with a bound unknown to the sender.
 *
 * Rejected: to count the messages in the inbox (messages there belong to the
 * process: no sender can drop the oldest); an approximate limit (a counter
 * without the lock lets as many messages in at once as there are senders).
 */
#ifndef SLEY_ACTOR_MAIL_BOUNDED_H
#define SLEY_ACTOR_MAIL_BOUNDED_H

#include "actor/process/process.h"

/* For a new process, which no other thread knows yet.  0 or -ENOMEM. */
must_check int bound_create(struct process *process, uint32_t limit,
			    unsigned int overflow);

/*
 * Instead of mail_send(), for messages of users to @to, a process with a limit.
 * @process is the place where process_find() found @to; it may have a new tenant
 * by now.  @deadline_ns is for SLEY_BLOCK, as in send_message().  After an error
 * @msg was freed.
 */
must_check int bound_send(struct process *process, sley_pid to,
			  struct sley_msg *msg, uint64_t deadline_ns);

/* Several messages that are sent together, linked, the oldest first. */
struct batch {
	struct sley_msg *first, *last;
	uint32_t nr;
};

/*
 * The same for all messages of @batch, or for no message.  Never waits.
 * -EMSGSIZE: there are more messages than the limit.
 */
must_check int bound_send_batch(struct process *process, sley_pid to,
				const struct batch *batch);

/* ---- the owner ---------------------------------------------------------------- */

/* The next message, or NULL; makes room. */
struct sley_msg *bound_take(struct process *process);

/*
 * The next message, or NULL, to be put aside: it still counts, and is marked
 * MAIL_COUNTED.  The caller drops *@owed of the messages put aside, the oldest.
 */
struct sley_msg *bound_take_aside(struct process *process, uint32_t *owed);

/* A message that was put aside is delivered: there is room for a new message. */
void bound_delivered(struct process *process, struct sley_msg *msg);

/*
 * The process ends, its inbox is closed and empty: senders that wait get -ESRCH.
 * Also for a process without a limit.
 */
void bound_close(struct process *process);

/* ---- others --------------------------------------------------------------------- */

/*
 * How many messages wait in the fifo; and in *@dropped, how many were dropped or
 * refused.  Any thread: a hint.  0 for a process without a limit.
 */
uint32_t bound_length(const struct process *process, uint64_t *dropped);

#endif
