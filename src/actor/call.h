/* SPDX-License-Identifier: MIT */
/*
 * call.h - somebody, process or not, waits for one reply.
 *
 * Who calls gets a pid of its own for the time of the call, that of a port: a
 * place in the table without a process; PID_PORT in the pid says so.  Whoever
 * replies sends to it; so a reply that is late finds nobody, as with any process.
 */
#ifndef SLEY_ACTOR_CALL_H
#define SLEY_ACTOR_CALL_H

#include "actor/process.h"

/*
 * In place of the inbox, for mail_send() and relations: @msg is for the port @pid
 * at @port.  0, or -ESRCH: nobody waits (any more), and @msg was freed.
 */
int port_deliver(struct process *port, sley_pid pid, struct sley_msg *msg);

#endif
