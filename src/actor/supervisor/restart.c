/* SPDX-License-Identifier: MIT */
/*
 * restart.c - a child has failed: is it started again, and when?
 *
 * If the failure is fatal, or the failures are more than the restart intensity allows
 * (core/life/intensity.h), the supervisor gives up and stops.  Otherwise the child,
 * or the group of children that the strategy names, is started again: at once, or
 * after a pause that grows with each failure.  supervisor.h has the phases.
 */
#include "actor/supervisor/supervisor.h"

#include "core/trace/report.h"
#include "core/sched/worker.h"
#include "os/clock.h"

#include <errno.h>
#include <stdio.h>

#include <sley/error.h>
#include <sley/time.h>

void supervisor_stop(struct supervisor *supervisor, int reason)
{
	if (supervisor->phase >= SUPERVISOR_STOPS)
		return;
	supervisor->phase = SUPERVISOR_STOPS;
	supervisor->reason = reason;
	supervisor->first = NULL;
	supervisor->cursor = children_last(&supervisor->children);
	reminder_clear(&supervisor->reminder);
}

/* ---- restart intensity ------------------------------------------------------------ */

/* "supervisor <0.1.1> VERB CHILD WHAT" */
static void say(const struct supervisor *supervisor, const char *verb,
		const struct child *child, const char *what)
{
	const char *name = child->spec.name;
	char pid[SLEY_PID_TEXT];

	sley_pid_format(sley_self(), pid);
	if (!name && child->spec.behaviour)
		name = child->spec.behaviour->name;
	report(supervisor->rt, "supervisor %s %s %s%s", pid, verb,
	       name ? name : "a child", what);
}

static void give_up(struct supervisor *supervisor, const struct child *child,
		    int reason, const char *why)
{
	char what[160];

	(void)snprintf(what, sizeof(what), " %s; last: %s", why,
		       sley_strerror(reason));
	say(supervisor, "gives up:", child, what);
	supervisor_stop(supervisor, SLEY_ERESTARTS);
}

static void complain(const struct supervisor *supervisor, struct child *child,
		     int reason)
{
	char what[160];

	if (child->complained)
		return;
	child->complained = true;
	(void)snprintf(what, sizeof(what), ", and tries again: %s",
		       sley_strerror(reason));
	say(supervisor, "cannot start", child, what);
}

/* A child that ran has failed, and is started again: after a pause, or now. */
static void announce(const struct supervisor *supervisor,
		     const struct child *child, int reason, uint64_t pause_ns)
{
	char what[160];

	if (pause_ns)
		(void)snprintf(what, sizeof(what), " in %llu ms: it ended: %s",
			       (unsigned long long)(pause_ns / 1000000),
			       sley_strerror(reason));
	else
		(void)snprintf(what, sizeof(what), ": it ended: %s",
			       sley_strerror(reason));
	say(supervisor, "restarts", child, what);
}

/* False: this failure is fatal, or exceeds the restart intensity. */
static bool tolerates(struct supervisor *supervisor, struct child *child,
		      int reason, uint64_t now_ns)
{
	struct mem *mem = &supervisor->rt->mem;

	if (child->spec.fatal && reason == child->spec.fatal)
		give_up(supervisor, child, reason, "has failed for good");
	else if (child->spec.intensity &&
		 !intensity_take(&child->restarts, mem, child->spec.intensity,
				 supervisor->within_ns, now_ns))
		give_up(supervisor, child, reason, "has failed too often");
	else if (!intensity_take(&supervisor->restarts, mem,
				 supervisor->intensity, supervisor->within_ns,
				 now_ns))
		give_up(supervisor, child, reason, "was one failure too many");
	else
		return true;
	return false;
}

/* ---- restarting --------------------------------------------------------------------- */

/* Start @child after the pause, or now. */
static void start_later(struct supervisor *supervisor, struct child *child,
			uint64_t pause_ns, uint64_t now_ns)
{
	if (!pause_ns)
		supervisor_start_child(supervisor, child);
	else
		child_pause(child, now_ns + pause_ns, &supervisor->late);
}

void supervisor_failed(struct supervisor *supervisor, struct child *child,
		       int reason, bool started)
{
	/* A child that never ran restarts no other child, and does not count. */
	bool alone = child->spec.optional && !child->first;
	uint64_t now_ns = os_now();
	uint64_t pause_ns;

	if (reason == -ESHUTDOWN && !started) {
		supervisor_stop(supervisor, -ECANCELED);
		return;
	}
	if (!started)
		complain(supervisor, child, reason);
	if (!alone && !tolerates(supervisor, child, reason, now_ns))
		return;
	pause_ns = child_next_pause(child, started, now_ns,
				    supervisor->within_ns, &supervisor->rand);
	if (started)
		announce(supervisor, child, reason, pause_ns);
	if (alone || supervisor->strategy == SLEY_ONE_FOR_ONE)
		start_later(supervisor, child, pause_ns, now_ns);
	else
		supervisor_restart_group(supervisor, child, pause_ns);
}

void supervisor_start_child(struct supervisor *supervisor, struct child *child)
{
	int err = children_start(&supervisor->children, child,
				 &supervisor->rt->mem);

	if (err) {
		child->state = CHILD_IDLE;
		supervisor_failed(supervisor, child, err, false);
	} else {
		child->complained = false;
	}
}

void supervisor_end_child(struct supervisor *supervisor, struct child *child)
{
	if (!child_end(child, &supervisor->late))
		say(supervisor, "has no memory to ask", child,
		    " to end, and kills it");
}
