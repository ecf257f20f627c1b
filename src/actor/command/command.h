/* SPDX-License-Identifier: MIT */
/*
 * command.h - how a command that a step yields is handled and completed.
 *
 *   sley_out_yield()     in the step: the command is noted, by its tag
 *                        (actor/command/yield.h), with a message that reports its
 *                        failure, if it fails
 *   yields_dispatch()    after the step: the handler of the command is called
 *                        (actor/command/handler.h)
 *   SLEY_DONE            comes into the inbox, from sley_command_complete().  If
 *                        there is no handler, or the handler refuses, or time is up
 *                        (actor/command/command_timeout.h), it is the message that
 *                        sley_out_yield() has prepared to report a failure
 *   yields_complete()    the process takes SLEY_DONE out: if the tag is noted, the
 *                        command is complete, and the step is told; else SLEY_DONE
 *                        is a stray
 *
 * So all completions meet in one place, the inbox, and in one order: the first
 * completion counts, the others are strays.  A completion may come before the
 * handler has returned, during the step or after it: only the process decides,
 * between two steps.  A completion for a process that has ended does not arrive,
 * since it is sent by pid.
 *
 * A command that was noted completes even if there is no memory: each part that
 * can fail fails in sley_out_yield().
 */
#ifndef SLEY_ACTOR_COMMAND_COMMAND_H
#define SLEY_ACTOR_COMMAND_COMMAND_H

#include "actor/process/process.h"

/* The answer of a step.  Lives in the frame of the turn. */
struct sley_out {
	struct process *process;
	int reason;                      /* of sley_out_done()               */
	const struct sley_behaviour *to; /* of sley_out_upgrade()            */
	const void *input;
	size_t input_size;
	size_t taken; /* of sley_out_upgrade(): messages dealt with */
};

/*
 * Hand the commands that the step yielded to their handlers, in order.  By the
 * process, between two steps, on a worker.
 */
void yields_dispatch(struct process *process);

/*
 * A SLEY_DONE has come for @tag.  False: no command of that tag is under way; the
 * caller counts it in process->stray.
 */
must_check bool yields_complete(struct process *process, uint64_t tag);

/* Forget all commands under way, and the completions that the step has not seen. */
void yields_drop(struct process *process);

/* How many commands are under way, and the oldest of them.  @process is locked. */
uint32_t yields_count(const struct process *process, uint32_t *command);

#endif
