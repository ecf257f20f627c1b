/* SPDX-License-Identifier: MIT */
/*
 * stop.c - see stop.h.
 *
 * Edges:
 *
 *   Z1  the runtime is marked, then the table is walked <-> a process enters the
 *       table, then looks for the mark: the lock of its place decides.  A walker
 *       that locks the place later finds the process there.  A walker that locked
 *       it earlier has published the mark.  The lock of the table decides in the
 *       same way whether the place exists at all: a process in a place that the
 *       walker did not know has taken that lock since
 */
#include "actor/process/stop.h"

#include "actor/name/name.h"
#include "core/trace/report.h"

/* Locked. */
static void ask(struct process *process)
{
	if (!(process->signals & SIGNAL_SUPERVISED))
		process_order(process, SIGNAL_STOPPED);
}

static bool concerns(const struct process *process, const struct sley *rt,
		     const struct worker *worker)
{
	return process->home->rt == rt && (!worker || process->home == worker);
}

static void look_at(struct process *process, const struct sley *rt,
		    const struct worker *worker)
{
	spin_lock(&process->lock);
	if (process_pid(process) && !(process_pid(process) & PID_PORT) &&
	    concerns(process, rt, worker))
		ask(process);
	spin_unlock(&process->lock);
}

void actors_stop(struct sley *rt, struct worker *worker)
{
	uint32_t length;

	if (worker)
		worker->stopping = true;
	else
		/* relaxed: Z1. */
		store_relaxed(&rt->stopping, 1);
	length = process_table_length();
	for (uint32_t i = 0; i < length; i++) {
		struct process *process = process_table_at(i);

		if (process)
			look_at(process, rt, worker);
	}
}

/* Locked. */
static void ask_if_stopping(struct process *process)
{
	/* relaxed: Z1. */
	if (load_relaxed(&process_runtime(process)->stopping) ||
	    process->home->stopping)
		ask(process);
}

void stop_newcomer(struct process *process)
{
	spin_lock(&process->lock);
	ask_if_stopping(process);
	spin_unlock(&process->lock);
}

void stop_orphan(sley_pid pid)
{
	struct process *process = process_lock(pid);

	if (!process)
		return;
	process->signals &= (uint16_t)~SIGNAL_SUPERVISED;
	ask_if_stopping(process);
	process_unlock(process);
}

/* ---- processes that are left ---------------------------------------------------- */

/*
 * Locked.  Is it a step process between two turns?  Only a waker has access to
 * it.
 */
static bool is_stackless(const struct process *process)
{
	/* relaxed: a hint. */
	return !(process->signals & SIGNAL_ACTOR) &&
	       load_relaxed(&process->inbox.word) == INBOX_IDLE;
}

/*
 * The pid and the label of a stackless process of @rt; SLEY_NO_PID: @process is
 * no such process.
 */
static sley_pid survivor(struct process *process, const struct sley *rt,
			 const char **label)
{
	sley_pid pid;

	*label = NULL;
	if (!process)
		return SLEY_NO_PID;
	spin_lock(&process->lock);
	pid = process_pid(process);
	if (pid && (pid & PID_PORT || !concerns(process, rt, NULL) ||
		    !is_stackless(process)))
		pid = SLEY_NO_PID;
	if (pid)
		*label = process->task.name;
	spin_unlock(&process->lock);
	return pid;
}

/* Reports without the lock: the user's function may take any time. */
uint64_t actors_report(struct sley *rt)
{
	uint32_t length = process_table_length();
	uint64_t nr = 0;

	for (uint32_t i = 0; i < length; i++) {
		char text[SLEY_PID_TEXT], name[SLEY_NAME_MAX + 1];
		const char *label;
		sley_pid pid = survivor(process_table_at(i), rt, &label);

		if (!pid)
			continue;
		nr++;
		sley_pid_format(pid, text);
		name_of(pid, name);
		report(rt,
		       "the runtime still waits for process %s %s (idle, no "
		       "message has come)",
		       text, label ? label : name);
	}
	return nr;
}
