/* SPDX-License-Identifier: MIT */
/*
 * command.h - what becomes of the commands that a step yields.
 *
 *   sley_out_yield()     in the step: it is noted, by its tag (actor/command/yield.h), with
 *                        the message that will say that it failed, if it does
 *   yields_dispatch()    after the step: its handler is called (actor/command/handler.h)
 *   SLEY_DONE            comes into the inbox: from sley_command_complete(); or the message
 *                        that was made, because there is no handler, or it said no,
 *                        or time is up (actor/command/command_timeout.h)
 *   yields_complete()    the process takes it out: if the tag is noted, the command
 *                        is complete, and the step is told; else it is a stray
 *
 * So all completions meet in one place, the inbox, and in one order: the first one
 * counts, the others are strays.  It does not matter whether they come before the
 * handler has returned, during the step or after it, since nobody but the process
 * itself, between two steps, decides.  One for a process that has ended does not get
 * there, since it is sent by pid.
 *
 * A command that was noted completes even if there is no memory: what can fail
 * fails in sley_out_yield().
 */
#ifndef SLEY_ACTOR_COMMAND_COMMAND_H
#define SLEY_ACTOR_COMMAND_COMMAND_H

#include "actor/process/process.h"

/* What a step says.  Lives in the frame of the turn. */
struct sley_out {
	struct process *process;
	int reason;                      /* of sley_out_done()               */
	const struct sley_behaviour *to; /* of sley_out_upgrade()            */
	const void *input;
	size_t input_size;
	size_t taken; /* of sley_out_upgrade(): the rest is the new one's */
};

/*
 * Hand what the step yielded to the handlers, in order.  By the process, between
 * two steps, on a worker.
 */
void yields_dispatch(struct process *process);

/*
 * A SLEY_DONE has come for @tag.  False: nothing of that tag is under way; counted
 * in process->stray by the caller.
 */
must_check bool yields_complete(struct process *process, uint64_t tag);

/* Forget all that is under way, and what the step has not been told. */
void yields_drop(struct process *process);

/* How many are under way, and the command of the oldest.  @process is locked. */
uint32_t yields_count(const struct process *process, uint32_t *command);

#endif
