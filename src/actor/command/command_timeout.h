/* SPDX-License-Identifier: MIT */
/*
 * command_timeout.h - a command that is not complete in time fails by itself.
 *
 * A timeout is an alarm (core/wait/timer.h) of the worker that gave the command
 * to its handler.  The alarm has the message that was made for the failure, and
 * sends it when it rings.  If the command is complete by then, or the process
 * gone, this is found out as with any completion.  The timeout is made before the
 * handler is called, so that a command for which there is no memory is not under
 * way.
 *
 * When a command completes, the process stops the alarm, so that no alarm is left
 * behind.  If the alarm has not rung, the process frees the timeout, with the
 * message.  Otherwise two parties may still need the timeout, the process and the
 * thread that lets the alarm ring: each of them leaves the timeout, and the
 * second frees it.
 *
 * Edges:
 *
 *   CT1  the first party leaves -> the second party leaves and finds that : the
 *       timeout may be freed
 */
#ifndef SLEY_ACTOR_COMMAND_COMMAND_TIMEOUT_H
#define SLEY_ACTOR_COMMAND_COMMAND_TIMEOUT_H

#include "actor/process/process.h"

struct command_timeout;

/* For a command that is about to be given to its handler; NULL: no memory. */
must_check struct command_timeout *command_timeout_create(void);
void command_timeout_free(struct command_timeout *timeout);

/*
 * By a worker: send @done, which belongs to the timeout from now on, to @pid
 * after @timeout_ns.
 */
void command_timeout_start(struct command_timeout *timeout, sley_pid pid,
			   struct sley_msg *done, uint64_t timeout_ns);

/* The process does not need @timeout, or its message, any more. */
void command_timeout_stop(struct command_timeout *timeout);

#endif
