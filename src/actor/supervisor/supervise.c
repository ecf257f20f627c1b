/* SPDX-License-Identifier: MIT */
/*
 * supervise.c - <sley/supervisor.h>: checks the input of the user, and calls the
 * supervisor.
 */
#include <sley/supervisor.h>

#include "actor/process/process.h"
#include "actor/supervisor/supervisor.h"
#include "base/options.h"

#include <errno.h>
#include <string.h>

static int check_child(const struct sley_child *child)
{
	int kinds = !!child->fn + !!child->behaviour +
		    (child->children || child->supervisor);

	if (kinds != 1 || child->restart > SLEY_TEMPORARY ||
	    (child->nr_children && !child->children))
		return -EINVAL;
	return options_are_clear(child->reserved) ? 0 : -E2BIG;
}

static int check(const struct sley_supervisor_options *given,
		 struct sley_supervisor_options *options,
		 const struct sley_child *children, size_t nr)
{
	int err = options_take(options, given);

	if (!err && (options->strategy > SLEY_REST_FOR_ONE ||
		     nr > UINT32_MAX / sizeof(*children)))
		err = -EINVAL;
	for (size_t i = 0; i < nr && !err; i++)
		err = check_child(&children[i]);
	return err;
}

/*
 * The children cannot be started, or the caller does not want to wait any longer.
 */
static void abandon(sley_pid pid, const struct sley_process_options *process)
{
	if (process->link)
		sley_unlink(pid);
	if (process->monitor)
		sley_unmonitor(*process->monitor);
	if (sley_process_cancel(pid, -ECANCELED) == -ENOMEM)
		(void)sley_process_kill(pid);
}

int sley_supervise_until(sley_pid *pid,
			 const struct sley_supervisor_options *options,
			 const struct sley_child *children, size_t nr,
			 uint64_t deadline_ns)
{
	struct supervisor_input input = { .parent = SLEY_NO_PID };
	struct sley_process_options process;
	int err = check(options, &input.options, children, nr);
	sley_pid own;

	if (!pid)
		pid = &own;
	*pid = SLEY_NO_PID;
	if (!err)
		err = options_take(&process, input.options.process);
	if (err)
		return err;
	process.size = sizeof(process);
	process.mailbox = 0;
	process.traps = true;
	if (process.link)
		input.parent = sley_self();
	err = sley_process_spawn(pid, &sley__supervisor, &input, sizeof(input),
				 &process);
	if (err)
		return err;
	err = sley_call_until(*pid, SUPERVISOR_START, children,
			      nr * sizeof(*children), NULL, deadline_ns);
	if (err) {
		abandon(*pid, &process);
		*pid = SLEY_NO_PID;
	}
	return err;
}

int sley_supervise(sley_pid *pid, const struct sley_supervisor_options *options,
		   const struct sley_child *children, size_t nr)
{
	return sley_supervise_until(pid, options, children, nr, SLEY_FOREVER);
}

/* ---- calls ----------------------------------------------------------------------- */

/* A process that is no supervisor would never answer. */
static int check_supervisor(sley_pid pid)
{
	struct process *process = process_lock(pid);
	bool is_one;

	if (!process)
		return -ESRCH;
	is_one = process->behaviour == &sley__supervisor;
	process_unlock(process);
	return is_one ? 0 : -EINVAL;
}

static int ask(sley_pid supervisor, uint64_t tag, const void *data, size_t size,
	       sley_pid *pid, uint64_t deadline_ns)
{
	struct supervisor_answer answer;
	struct sley_msg *reply;
	int err = check_supervisor(supervisor);

	if (!err)
		err = sley_call_until(supervisor, tag, data, size, &reply,
				      deadline_ns);
	if (err)
		return err;
	memcpy(&answer, reply->data, sizeof(answer));
	sley_msg_free(reply);
	if (pid)
		*pid = answer.pid;
	return answer.error;
}

int sley_supervisor_add_until(sley_pid supervisor,
			      const struct sley_child *child, sley_pid *pid,
			      uint64_t deadline_ns)
{
	int err = child->count > 1 ? -EINVAL : check_child(child);

	return err ? err
		   : ask(supervisor, SUPERVISOR_ADD, child, sizeof(*child), pid,
			 deadline_ns);
}

int sley_supervisor_add(sley_pid supervisor, const struct sley_child *child,
			sley_pid *pid)
{
	return sley_supervisor_add_until(supervisor, child, pid, SLEY_FOREVER);
}

int sley_supervisor_remove_until(sley_pid supervisor, sley_pid child,
				 uint64_t deadline_ns)
{
	return ask(supervisor, SUPERVISOR_REMOVE, &child, sizeof(child), NULL,
		   deadline_ns);
}

int sley_supervisor_remove(sley_pid supervisor, sley_pid child)
{
	return sley_supervisor_remove_until(supervisor, child, SLEY_FOREVER);
}
