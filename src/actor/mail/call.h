/* SPDX-License-Identifier: MIT */
/*
 * call.h - a request to a process, and the wait for its reply.  The caller may be a
 * process, another task or a plain thread.
 *
 * For the time of the call the caller gets a pid of its own, the pid of a port: a
 * place in the table without a process, marked by PID_PORT in the pid.  The
 * request says that its sender is the port, and so the reply goes to the port.  A
 * late reply finds no port, as a late message finds no process.
 *
 *   pid     the pid of the port while the port is open (lock)
 *   call    the call, in the frame of the caller, while the port is open (lock)
 *
 *   caller                         replier, or the end of the callee
 *   opens the port                 locks it; is it open, and has that pid?
 *   watches the callee, sends      writes the outcome of the call, closes the
 *   locks it; closed already?      port, decides the wait of the caller
 *   no: waits from now on          unlocks it, queues the task
 *   gave up: closes it
 *
 * So a call has a single outcome, the first: the party that closes the port
 * decides.  A caller that gave up and finds the port closed takes the outcome
 * that is there.  A caller that was woken need not lock the port again: after the
 * decision the other party does not touch the call any more, only the lock, and
 * the lock belongs to the place.
 *
 * The lock is the lock of the place, which outlives the port: a late replier may
 * hold the lock when the place has a new tenant.
 *
 * A watch tells of the end of the callee (actor/relation/relation.h).  Requests
 * that the callee forwards are not followed: if the callee ends, the call is
 * over, though the reply would come.
 *
 * Edges: L1 of lf/spin.h, T1 and T5 of core/task/task_state.h.
 *
 * Rejected: a reply in the mailbox of the caller, to be picked out there (threads
 * and tasks that call would need a different way, and the reply would have to be
 * searched for among the messages there); a list of waiters in the place
 * (core/wait/waitq.h: room in each of a million places for a single caller, and a
 * second lock).
 */
#ifndef SLEY_ACTOR_MAIL_CALL_H
#define SLEY_ACTOR_MAIL_CALL_H

#include "actor/process/process.h"

/*
 * Instead of an inbox: @msg is the reply for the port @pid at @port.  0, or
 * -ESRCH: no caller waits (any more), and @msg was freed.
 */
int port_deliver(struct process *port, sley_pid pid, struct sley_msg *msg);

#endif
