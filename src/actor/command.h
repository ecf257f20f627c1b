/* SPDX-License-Identifier: MIT */
/*
 * command.h - commands that a step process has yielded, and their handlers.
 */
#ifndef SLEY_ACTOR_COMMAND_H
#define SLEY_ACTOR_COMMAND_H

#include "actor/process.h"

/* What a step says.  Lives in the frame of the turn. */
struct sley_out {
	struct process *process;
	int reason;                      /* of sley_out_done()               */
	const struct sley_behaviour *to; /* of sley_out_upgrade()            */
	const void *input;
	size_t input_size;
};

/* Hand what the step yielded to the handlers, in order. */
void yields_dispatch(struct process *process);

/*
 * A SLEY_DONE has come for @tag.  False: nothing of that tag is under way; counted
 * in process->stray by the caller.
 */
must_check bool yields_complete(struct process *process, uint64_t tag);

/* Forget all that is under way. */
void yields_drop(struct process *process);

/* How many are under way, and the command of the oldest.  Any thread: a hint. */
uint32_t yields_count(const struct process *process, uint32_t *command);

#endif
