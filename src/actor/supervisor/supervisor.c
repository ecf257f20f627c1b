/* SPDX-License-Identifier: MIT */
/*
 * supervisor.c - the process that is a supervisor: its messages; see
 * supervisor.h.
 */
#include "actor/supervisor/supervisor.h"

#include "actor/process/process.h"
#include "actor/process/stop.h"
#include "base/assert.h"
#include "core/trace/report.h"
#include "core/sched/worker.h"
#include "os/clock.h"

#include <errno.h>

#include <sley/time.h>

#define INTENSITY 3
#define WITHIN_NS (5 * SLEY_SEC)
#define NAP_NS SLEY_MSEC /* until there is memory */

static int supervisor_init(void *self, const char *method, const void *input,
			   size_t size)
{
	struct supervisor *supervisor = self;
	const struct supervisor_input *in = input;
	const struct sley_supervisor_options *options = &in->options;

	(void)method;
	sley_assert(size == sizeof(*in));
	(void)size;
	supervisor->strategy = (enum sley_strategy)options->strategy;
	supervisor->intensity = options->intensity ? options->intensity
						   : INTENSITY;
	if (options->never)
		supervisor->intensity = 0;
	supervisor->within_ns = options->within_ns ? options->within_ns
						   : WITHIN_NS;
	supervisor->parent = in->parent;
	children_init(&supervisor->children);
	list_init(&supervisor->late);
	reminder_init(&supervisor->reminder);
	rand_seed(&supervisor->rand, os_now());
	return 0;
}

static void supervisor_close(void *self, int reason)
{
	struct supervisor *supervisor = self;
	struct mem *mem;

	(void)reason;
	if (!supervisor->rt)
		return; /* killed before the first step */
	mem = &supervisor->rt->mem;
	for (struct child *child = children_first(&supervisor->children); child;
	     child = children_next(&supervisor->children, child)) {
		if (child_lives(child))
			stop_orphan(child->pid);
	}
	children_fini(&supervisor->children, mem);
	intensity_fini(&supervisor->restarts, mem);
	mail_free_all(&supervisor->adds);
}

/* ---- messages ----------------------------------------------------------------------- */

static void child_is_down(struct supervisor *supervisor,
			  const struct sley_msg *msg)
{
	struct child *child = children_find(&supervisor->children, msg->from);

	if (!child || !child_lives(child) || child->monitor != msg->tag)
		return;
	child_ended(child);
	if (child->removed)
		supervisor_removed(supervisor, child);
	else if (child->restarts_in_group ||
		 supervisor->phase == SUPERVISOR_STOPS)
		; /* supervisor_proceed() */
	else if (child_wants_restart(child, msg->error))
		supervisor_failed(supervisor, child, msg->error, true);
	else if (child->spec.restart == SLEY_TEMPORARY ||
		 supervisor->strategy == SLEY_ONE_FOR_ONE)
		supervisor_forget(supervisor, child);
}

static void reminded(struct supervisor *supervisor, struct reminder *reminder)
{
	enum reminder_kind kind = reminder_come(reminder);
	struct child *child;

	if (reminder == &supervisor->reminder) {
		if (kind == REMINDER_REGROUP)
			supervisor_start_again(supervisor);
		return;
	}
	child = container_of(reminder, struct child, reminder);
	if (child->gone)
		children_sweep(child, &supervisor->rt->mem);
	else if (kind == REMINDER_START && supervisor->phase < SUPERVISOR_STOPS)
		supervisor_start_child(supervisor, child);
	else if (kind == REMINDER_KILL)
		child_kill(child);
}

static void called(struct supervisor *supervisor, struct sley_msg *msg)
{
	if (supervisor->phase >= SUPERVISOR_STOPS)
		return; /* the caller is told of the end */
	if (!(msg->from & PID_PORT))
		return; /* no call: a message with that tag by chance */
	if (msg->tag == SUPERVISOR_START)
		supervisor_start(supervisor, msg);
	else if (msg->tag == SUPERVISOR_ADD)
		supervisor_add(supervisor, msg);
	else if (msg->tag == SUPERVISOR_REMOVE)
		supervisor_remove(supervisor, msg);
}

static void told(struct supervisor *supervisor, struct sley_msg *msg)
{
	struct reminder *reminder = reminder_of(msg);

	if (reminder)
		reminded(supervisor, reminder);
	else if (msg->kind == SLEY_DOWN)
		child_is_down(supervisor, msg);
	else if (msg->kind == SLEY_CANCEL)
		supervisor_stop(supervisor, -ECANCELED);
	else if (msg->kind == SLEY_EXIT && msg->from == supervisor->parent)
		supervisor_stop(supervisor, msg->error);
	else if (msg->kind == SLEY_MESSAGE)
		called(supervisor, msg);
}

/* False: there is no memory for reminders yet. */
static bool remind_late(struct supervisor *supervisor)
{
	char pid[SLEY_PID_TEXT];

	if (list_empty(&supervisor->late)) {
		supervisor->short_of_memory = false;
		return true;
	}
	if (!supervisor->short_of_memory) {
		supervisor->short_of_memory = true;
		sley_pid_format(sley_self(), pid);
		report(supervisor->rt,
		       "supervisor %s has no memory for a deadline, and tries "
		       "again",
		       pid);
	}
	if (reminders_retry(&supervisor->late))
		return true;
	(void)sley_sleep(NAP_NS);
	return false;
}

static void begin(struct supervisor *supervisor, struct process *process)
{
	supervisor->rt = process_runtime(process);
	process->flags |= PROCESS_SUPERVISES;
}

static enum sley_step supervisor_step(void *self, struct sley_msg *const *msg,
				      size_t nr, struct sley_out *out)
{
	struct supervisor *supervisor = self;

	if (!supervisor->rt)
		begin(supervisor, process_current());
	for (size_t i = 0; i < nr; i++) {
		told(supervisor, msg[i]);
		supervisor_proceed(supervisor);
	}
	if (supervisor->phase == SUPERVISOR_OVER) {
		/* The parent is told by an error of the start, not by this end. */
		if (supervisor->unstarted && supervisor->parent)
			sley_unlink(supervisor->parent);
		return sley_out_done(out, supervisor->reason);
	}
	return remind_late(supervisor) ? SLEY_WAIT : SLEY_CONTINUE;
}

const struct sley_behaviour sley__supervisor = {
	.name = "supervisor",
	.size = sizeof(struct supervisor),
	.init = supervisor_init,
	.step = supervisor_step,
	.close = supervisor_close,
};
