/* SPDX-License-Identifier: MIT */
/*
 * inspect.c - the view of processes from outside.
 *
 * A process is inspected under its lock, where its pid is certain.  So nothing of
 * an earlier or a later tenant of the place gets into the answer.  The process
 * itself changes some numbers while it runs: each of these is read at once, and
 * may be a moment old.
 *
 * Ports (actor/mail/call.h) are in the table, but are not processes.
 */
#include "actor/mail/bounded.h"
#include "actor/command/command.h"
#include "actor/name/name.h"
#include "actor/process/process.h"
#include "actor/relation/relation.h"
#include "base/label.h"
#include "os/symbol.h"

#include <errno.h>
#include <stdio.h>

bool sley_process_alive(sley_pid pid)
{
	return !(pid & PID_PORT) && process_find(pid);
}

/* ---- one process --------------------------------------------------------------- */

static bool is_actor(const struct process *process)
{
	return process->signals & SIGNAL_ACTOR;
}

/* Has @process parked, to wait for its inbox? */
static bool is_resting(const struct process *process)
{
	/* relaxed: a hint. */
	return load_relaxed(&process->inbox.word) == INBOX_IDLE;
}

static enum sley_process_state state_of(const struct process *process,
					uint32_t nr_yields)
{
	switch (task_state_of(task_load(&process->task))) {
	case TASK_RUNNING:
		return SLEY_PROCESS_RUNNING;
	case TASK_BLOCKED:
		return is_resting(process) && !nr_yields ? SLEY_PROCESS_IDLE
							 : SLEY_PROCESS_BLOCKED;
	default: /* before its first turn as well */
		return SLEY_PROCESS_READY;
	}
}

static uint32_t mailbox_of(const struct process *process, uint64_t *dropped)
{
	/* relaxed: a statistic. */
	uint32_t nr = load_relaxed(&process->nr_user);

	/* Messages in the inbox cannot be counted: at least one is there. */
	if (!inbox_quiet(&process->inbox))
		nr++;
	/* relaxed: constant while locked. */
	if (load_relaxed(&process->bound))
		nr += bound_length(process, dropped);
	return nr;
}

/* Locked. */
static void look_at(const struct process *process,
		    struct sley_process_info *info)
{
	info->parent = process->parent;
	info->label = label_name(process->task.name);
	info->start_ns = process->start_ns;
	info->actor = is_actor(process);
	if (!info->actor)
		info->yields = yields_count(process, &info->command);
	info->state = state_of(process, info->yields);
	info->mailbox = mailbox_of(process, &info->dropped);
	relations_count(process, &info->links, &info->monitors);
	/* relaxed: a statistic. */
	info->handled = load_relaxed(&process->handled);
	/* relaxed: a statistic. */
	info->steps = load_relaxed(&process->steps);
	/* relaxed: a statistic. */
	info->stray = load_relaxed(&process->stray);
}

int sley_process_inspect(sley_pid pid, struct sley_process_info *info)
{
	struct process *process;

	*info = (struct sley_process_info){ .pid = pid };
	if (pid & PID_PORT)
		return -ESRCH;
	name_of(pid, info->name);
	process = process_lock(pid);
	if (!process)
		return -ESRCH;
	look_at(process, info);
	process_unlock(process);
	return 0;
}

/* The caller is @process: no lock is needed. */
void process_misuse(const struct process *process, const char *rule)
{
	const char *label = label_name(process->task.name);
	char pid[SLEY_PID_TEXT], code[64], line[320];

	sley_pid_format(process_pid(process), pid);
	if (is_actor(process))
		os_symbol(code, sizeof(code),
			  (const void *)(uintptr_t)process->fn);
	else
		os_symbol(code, sizeof(code),
			  (const void *)(uintptr_t)process->behaviour->step);
	(void)snprintf(line, sizeof(line), "process %s %s (function %s): %s",
		       pid, label ? label : "without a label", code, rule);
	sley__misuse(__func__, line);
}

/* ---- all processes --------------------------------------------------------------- */

/* The process in the place of @index; SLEY_NO_PID: no process. */
static sley_pid pid_at(uint32_t index)
{
	const struct process *process = process_table_at(index);
	/* A hint; the user of the pid looks again. */
	sley_pid pid = process ? process_pid(process) : SLEY_NO_PID;

	return pid & PID_PORT ? SLEY_NO_PID : pid;
}

sley_pid sley_process_next(sley_pid pid)
{
	uint32_t index = pid ? pid_index(pid) + 1 : 0;
	uint32_t length = process_table_length();

	for (pid = SLEY_NO_PID; !pid && index < length; index++)
		pid = pid_at(index);
	return pid;
}

uint64_t sley_process_count(void)
{
	return process_table_nr();
}
