/* SPDX-License-Identifier: MIT */
/*
 * bounded.h - the mailbox of a process that takes so many messages and no more.
 *
 * What users send to such a process does not go into its inbox but here:
 *
 *      senders that wait ──► fifo ──► put aside ──► delivered
 *      (in order)            `─ these count ─'
 *
 * All of it is under the lock of the list of senders.  The process is told that
 * there is something by a message of its own, the marker, in its inbox; one at a
 * time: `told` from the moment it is put in until the process, which has taken it
 * out since (PROCESS_NEWS), has found the fifo empty.  With news, a process does not
 * park.
 *
 * What a selective receive did not want is put aside in process->user, and belongs
 * to the process.  If the oldest of these has to be dropped, the process owes that,
 * and does it when it looks for more; or has delivered it meanwhile.
 *
 * Who waits to send has its message in its frame.  Whoever makes room, which is the
 * process alone, moves the message of the first that waits into the fifo, and wakes
 * that one: it has nothing left to do.  So nobody who comes later gets ahead, and
 * who gives up, cancelled or late, has sent nothing.
 *
 * Several messages may be sent as one: all fit, or none is taken.  That never waits:
 * so where there is room for one, nobody waits, and who waits needs room for one.
 *
 * A bound is from a pool that gives nothing back, and its lock outlives its owner:
 * a sender may come when the process has ended, and look at the bound of another
 * one.  It compares owner and pid under the lock.
 *
 * Edges: W1 of core/wait/waitq.h, those of lf/inbox.h, and
 *
 *   B1  a process gets its bound -> a sender reads the address : the bound is
 *       mapped.  The pid does not say so: the place may have a new process since
 *       the sender compared it, with a bound the sender knows nothing of.
 *
 * Rejected: to count what is in the inbox (what is there belongs to the process:
 * nobody else can drop the oldest); a limit that holds about (a counter without the
 * lock lets as many in at once as there are senders).
 */
#ifndef SLEY_ACTOR_MAIL_BOUNDED_H
#define SLEY_ACTOR_MAIL_BOUNDED_H

#include "actor/process/process.h"

/* For a new process, which nobody knows yet.  0 or -ENOMEM. */
must_check int bound_create(struct process *process, uint32_t limit,
			    unsigned int overflow);

/*
 * Instead of mail_send(), for what users send to @to, a process with a limit.
 * @process is where process_find() found it: it may be another one by now.
 * @deadline_ns is for SLEY_BLOCK, as that of send_message().  After an error @msg
 * was freed.
 */
must_check int bound_send(struct process *process, sley_pid to,
			  struct sley_msg *msg, uint64_t deadline_ns);

/* Several messages that are sent as one, linked, the oldest first. */
struct bundle {
	struct sley_msg *first, *last;
	uint32_t nr;
};

/*
 * The same for all of a bundle, or none.  It never waits.  -EMSGSIZE: there are more
 * than the limit.
 */
must_check int bound_send_bundle(struct process *process, sley_pid to,
				 const struct bundle *bundle);

/* ---- the owner ---------------------------------------------------------------- */

/* The next message, or NULL; makes room. */
struct sley_msg *bound_take(struct process *process);

/*
 * The next message, or NULL, to be put aside: MAIL_COUNTED, it still counts.  The
 * caller drops *@owed of those it has put aside, the oldest.
 */
struct sley_msg *bound_take_aside(struct process *process, uint32_t *owed);

/* One that was put aside is delivered: there is room for another one. */
void bound_delivered(struct process *process, struct sley_msg *msg);

/*
 * The process ends, its inbox is closed and empty: those that wait to send get
 * -ESRCH.  Also if it has no limit.
 */
void bound_close(struct process *process);

/* ---- others --------------------------------------------------------------------- */

/*
 * How many wait in the fifo, and were dropped or refused.  Any thread: a hint.  0 if
 * it has no limit.
 */
uint32_t bound_length(const struct process *process, uint64_t *dropped);

#endif
