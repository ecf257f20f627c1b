/* SPDX-License-Identifier: MIT */
/*
 * exit_signal.c - ask a process to end, or make it end.
 *
 * A signal ends a process that does not trap; a process that traps is told.  The
 * sender of the signal decides which, under the lock of the process, and the
 * process changes its choice only under that lock.  So a process that has begun
 * to trap is not ended by a later signal, and a process that has stopped trapping
 * is not told.
 *
 * A signal that ends a process goes through the inbox like every message, and
 * takes effect when the process takes it out.  An actor may be blocked elsewhere:
 * the present wait is cut short, and so are later waits.
 */
#include "actor/process/process.h"
#include "core/sched/place.h"
#include "core/life/scope.h"

#include <errno.h>
#include <sley/error.h>

/* Locked.  If it is an actor, it does not wait any more. */
static void interrupt(struct process *process)
{
	struct sley_task *task = &process->task;
	bool woken;

	if (!(process->signals & SIGNAL_ACTOR))
		return;
	woken = task_cancel(task);
	scope_cancel_task(task);
	if (woken)
		task_enqueue(task);
}

/* Locked, and alive: the inbox is open. */
static void put(struct process *process, struct push_node *node)
{
	int err = mail_put(process, node);

	sley_assert(!err);
	(void)err;
}

void process_signal(struct process *process, struct sley_msg *msg)
{
	bool traps = process->signals & SIGNAL_TRAPS;

	msg->data = (const void *)(uintptr_t)process_pid(process);
	if (!traps)
		msg->flags |= MAIL_ENDS;
	put(process, mail_node(msg));
	if (!traps)
		interrupt(process);
}

/* Locked. */
static void put_order(struct process *process)
{
	if (process->signals & SIGNAL_ORDER)
		return;
	process->signals |= SIGNAL_ORDER;
	put(process, &process->order);
}

/* If the place has a new tenant, the tenant is woken in vain. */
void process_poke(struct sley_task *task)
{
	struct process *process = container_of(task, struct process, task);

	spin_lock(&process->lock);
	if (process_pid(process) && (process->signals & SIGNAL_ACTOR))
		put_order(process);
	spin_unlock(&process->lock);
}

void process_order(struct process *process, unsigned int signal)
{
	bool traps = process->signals & SIGNAL_TRAPS;
	bool kill = signal == SIGNAL_KILLED;

	if (process->signals & signal)
		return;
	process->signals |= (uint16_t)signal;
	if (!kill)
		process->signals |= SIGNAL_STOP;
	if (!traps)
		process->signals |= SIGNAL_ENDS;
	put_order(process);
	if (kill || !traps)
		interrupt(process);
}

void process_condemn(struct process *process, int reason)
{
	if (process->flags & PROCESS_ENDING)
		return;
	process->flags |= PROCESS_ENDING;
	process->reason = reason;
	if (process->flags & PROCESS_ACTOR)
		(void)task_mark_cancelled(&process->task, TASK_CANCEL);
}

int sley_process_cancel(sley_pid pid, int reason)
{
	struct sley_msg *msg = mail_create(SLEY_CANCEL, 0);
	struct process *process;

	if (!msg)
		return -ENOMEM;
	msg->from = sley_self();
	process = process_lock(pid);
	if (!process) {
		mail_free(msg);
		return -ESRCH;
	}
	msg->error = process->signals & SIGNAL_TRAPS ? reason : -ECANCELED;
	process_signal(process, msg);
	process_unlock(process);
	return 0;
}

int sley_process_kill(sley_pid pid)
{
	struct process *process = process_lock(pid);

	if (!process)
		return -ESRCH;
	process_order(process, SIGNAL_KILLED);
	process_unlock(process);
	return 0;
}

bool sley_process_trap(bool trap)
{
	struct process *process = process_current();
	bool before;

	sley_check(process, "only a process can trap exit signals");
	spin_lock(&process->lock);
	before = process->signals & SIGNAL_TRAPS;
	process->signals &= (uint16_t)~SIGNAL_TRAPS;
	if (trap)
		process->signals |= SIGNAL_TRAPS;
	spin_unlock(&process->lock);
	return before;
}
