/* SPDX-License-Identifier: MIT */
/*
 * call.h - somebody, process or not, waits for one reply.
 *
 * Who calls gets a pid of its own for the time of the call, that of a port: a place
 * in the table without a process; PID_PORT in the pid says so.  The request says
 * that it is from there, and so the reply goes there; a reply that is late finds
 * nobody, as with any process.
 *
 *   pid     that of the port while it is open (lock)
 *   call    the call, in the frame of the caller, as long as it is open (lock)
 *
 *   caller                         replier, or the end of who was called
 *   opens the port                 locks it; is it open, and that pid's?
 *   watches, sends                 says what came of the call, closes it,
 *   locks it; closed already?      decides the wait of who waits
 *   no: it waits from now on       unlocks it, queues the task
 *   gave up: closes it
 *
 * So a call has one outcome, the first: whoever closes the port says which.  One
 * that gave up and finds the port closed takes what it was closed with.  Who is
 * woken need not lock it again: the decision is the last that anybody does with the
 * call, and what is left, the lock, belongs to the place.
 *
 * The lock is that of the place, which outlives the port: a replier that is late may
 * hold it when the place has another tenant.
 *
 * The end of who was called is told by its watch (actor/relation/relation.h).  Requests that
 * were sent on are not followed: if the first one ends, the call is over, though the
 * reply would come.
 *
 * Edges: L1 of lf/spin.h, T1 and T5 of core/task/task_state.h.
 *
 * Rejected: a reply in the mailbox of the caller, to be picked out there (threads and
 * tasks that call would need another way; and it would be searched for among what
 * waits there); a list of waiters in the place (core/wait/waitq.h: room in each of a
 * million places for the one caller, and a second lock).
 */
#ifndef SLEY_ACTOR_MAIL_CALL_H
#define SLEY_ACTOR_MAIL_CALL_H

#include "actor/process/process.h"

/*
 * In place of the inbox: @msg is the reply for the port @pid at @port.  0, or
 * -ESRCH: nobody waits (any more), and @msg was freed.
 */
int port_deliver(struct process *port, sley_pid pid, struct sley_msg *msg);

#endif
