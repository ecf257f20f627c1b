/* SPDX-License-Identifier: MIT */
/*
 * command_timeout.h - a command that is not complete in time fails by itself.
 *
 * An alarm (core/wait/timer.h) of the worker that gave the command to its handler.  It
 * has the message that was made for the case, and sends it when it rings; that the
 * command is complete by then, or the process gone, is found out as with any
 * completion.  It is made before the handler is called, so that a command for which
 * there is no memory is not under way.
 *
 * A command that is complete stops its alarm, so that none is left behind.  If it
 * has not rung, the process frees it, with the message.  Otherwise two may still
 * need it, the process and whoever lets it ring: each of them leaves it, and the
 * second one frees it.
 *
 * Edges:
 *
 *   C1  one leaves it -> the other one leaves it and finds that : it may be freed
 */
#ifndef SLEY_ACTOR_COMMAND_COMMAND_TIMEOUT_H
#define SLEY_ACTOR_COMMAND_COMMAND_TIMEOUT_H

#include "actor/process/process.h"

struct command_timeout;

/* For who is going to need one; NULL: no memory. */
must_check struct command_timeout *command_timeout_create(void);
void command_timeout_free(struct command_timeout *timeout);

/*
 * By a worker: @done, which is the timeout's from now on, is sent to @pid after
 * @timeout_ns.
 */
void command_timeout_start(struct command_timeout *timeout, sley_pid pid,
			   struct sley_msg *done, uint64_t timeout_ns);

/* The caller does not need it, or what it was given, any more. */
void command_timeout_stop(struct command_timeout *timeout);

#endif
