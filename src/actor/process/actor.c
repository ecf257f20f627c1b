/* SPDX-License-Identifier: MIT */
/*
 * actor.c - actors, processes that are functions: beginning and end.
 *
 * The task of an actor has a single turn, the whole life of the actor, and may
 * block in it.
 */
#include "actor/process/process.h"
#include "base/options.h"

#include <errno.h>
#include <setjmp.h>
#include <sley/actor.h>
#include <sley/error.h>

/* Where sley_actor_exit() jumps to, in the frame of the turn. */
struct exit_place {
	jmp_buf jump;
	int reason;
};

static int run(struct process *process)
{
	struct exit_place place;

	process->place = &place;
	/* relaxed: read by reports; turn() would say nothing there. */
	store_relaxed(&strand_current()->fiber.code,
		      (const void *)(uintptr_t)process->fn);
	if (!_setjmp(place.jump))
		place.reason = process->fn(process_self(process));
	process->place = NULL;
	return place.reason;
}

static void turn(void *arg)
{
	struct process *process = arg;
	int reason = 0;

	mail_sort(process);
	if (!(process->flags & PROCESS_ENDING))
		reason = run(process);
	if (unlikely(reason > 0))
		process_misuse(process,
			       "an actor must end with 0 or a negative error");
	mail_sort(process);
	if (process->flags & PROCESS_ENDING)
		reason = process->reason;
	process_end(process, reason);
}

void sley_actor_exit(int reason)
{
	struct process *process = process_current();
	struct exit_place *place;

	sley_check(
		process && (process->flags & PROCESS_ACTOR),
		"only an actor may call it; a step process ends by returning "
		"sley_out_done()");
	sley_check(!(process->flags & PROCESS_ASKS),
		   "called inside the @wants function of "
		   "sley_receive_where_until(), which must not exit");
	place = process->place;
	sley_check(place, "the actor exits already");
	place->reason = reason;
	_longjmp(place->jump, 1);
}

static int check(struct sley_process_options *options, sley_actor_fn *fn,
		 const struct sley_process_options *given)
{
	int err = options_take(options, given);

	if (err)
		return err;
	if (!fn)
		return -EINVAL;
	if (options->stack_kib && !options_stack_fits(options->stack_kib))
		return SLEY_ESTACK;
	return 0;
}

int sley_actor_spawn(sley_pid *pid, sley_actor_fn *fn, void *arg,
		     const struct sley_process_options *given)
{
	struct sley_process_options options;
	struct process *process;
	int err = check(&options, fn, given)
			  ?: process_create(&process, &options);

	if (pid)
		*pid = SLEY_NO_PID;
	if (err)
		return err;
	process->fn = fn;
	process->left = process->budget;
	process->task.arg = arg;
	process->flags |= PROCESS_ACTOR;
	process->signals |= SIGNAL_ACTOR;
	err = process_start(process, turn, &options, pid);
	if (err)
		process_forget(process);
	return err;
}
