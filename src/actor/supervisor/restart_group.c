/* SPDX-License-Identifier: MIT */
/*
 * restart_group.c - a supervisor ends several children, the last child first, and
 * may start them again, the first child first; see supervisor.h.
 */
#include "actor/supervisor/supervisor.h"

#include "core/sched/worker.h"
#include "os/clock.h"

void supervisor_restart_group(struct supervisor *supervisor,
			      struct child *failed, uint64_t pause_ns)
{
	struct children *children = &supervisor->children;
	uint64_t due_ns = os_now() + pause_ns;
	struct child *child;

	/* A group that pauses already may have to pause longer, but never less. */
	if (supervisor->phase == SUPERVISOR_UP || supervisor->due_ns < due_ns)
		supervisor->due_ns = due_ns;
	reminder_clear(&supervisor->reminder);
	supervisor->first = supervisor->strategy == SLEY_ONE_FOR_ALL
				    ? children_first(children)
				    : failed;
	for (child = supervisor->first; child;
	     child = children_next(children, child))
		child->restarts_in_group = true;
	supervisor->cursor = children_last(children);
	supervisor->phase = SUPERVISOR_ENDS;
}

void supervisor_forget(struct supervisor *supervisor, struct child *child)
{
	struct children *children = &supervisor->children;

	if (supervisor->cursor == child)
		supervisor->cursor =
			child == supervisor->first
				? NULL
				: children_previous(children, child);
	if (supervisor->first == child)
		supervisor->first = children_next(children, child);
	children_forget(children, child, &supervisor->rt->mem);
}

/* False: there is a child to wait for. */
static bool end_all(struct supervisor *supervisor)
{
	struct child *child;

	while ((child = supervisor->cursor)) {
		if (child->state == CHILD_ALIVE)
			supervisor_end_child(supervisor, child);
		if (child_lives(child))
			return false;
		if (supervisor->phase == SUPERVISOR_STOPS ||
		    child->spec.restart == SLEY_TEMPORARY) {
			supervisor_forget(supervisor, child);
			continue;
		}
		reminder_clear(&child->reminder);
		child->state = CHILD_IDLE;
		supervisor->cursor =
			child == supervisor->first
				? NULL
				: children_previous(&supervisor->children,
						    child);
	}
	return true;
}

void supervisor_start_again(struct supervisor *supervisor)
{
	struct child *child = supervisor->first;

	supervisor->phase = SUPERVISOR_UP;
	supervisor->first = NULL;
	while (child && supervisor->phase == SUPERVISOR_UP) {
		child->restarts_in_group = false;
		supervisor_start_child(supervisor, child);
		child = children_next(&supervisor->children, child);
	}
	if (supervisor->phase == SUPERVISOR_UP)
		supervisor_serve_adds(supervisor);
}

void supervisor_proceed(struct supervisor *supervisor)
{
	while (supervisor->phase == SUPERVISOR_ENDS ||
	       supervisor->phase == SUPERVISOR_STOPS) {
		if (!end_all(supervisor))
			return;
		if (supervisor->phase == SUPERVISOR_STOPS) {
			supervisor->phase = SUPERVISOR_OVER;
		} else if (os_now() < supervisor->due_ns) {
			supervisor->phase = SUPERVISOR_PAUSES;
			reminder_set(&supervisor->reminder, REMINDER_REGROUP,
				     supervisor->due_ns, &supervisor->late);
		} else {
			supervisor_start_again(supervisor);
		}
	}
}
