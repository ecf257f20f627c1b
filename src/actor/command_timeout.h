/* SPDX-License-Identifier: MIT */
/*
 * command_timeout.h - a command that is not complete in time fails by itself.
 *
 * An alarm (core/timer.h) of the worker that gave the command to its handler.  It
 * has the message that was made for the case, and sends it when it rings; that the
 * command is complete by then, or the process gone, is found out as with any
 * completion.  It is made before the handler is called, so that a command for which
 * there is no memory is not under way.
 *
 * A command that is complete stops its alarm, so that none is left behind.  Either
 * it had not rung: then the process frees it; or it rings at this moment: then who
 * lets it ring does.  The lock of the timers decides which, and orders `rings`.
 */
#ifndef SLEY_ACTOR_COMMAND_TIMEOUT_H
#define SLEY_ACTOR_COMMAND_TIMEOUT_H

#include "actor/process.h"

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

/* Nobody needs it, or what it was given, any more: the end of both. */
void command_timeout_stop(struct command_timeout *timeout);

#endif
