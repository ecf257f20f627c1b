/* SPDX-License-Identifier: MIT */
/*
 * supervisors.c - supervisors: children that cannot be had, or not again.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <string.h>

static int obey(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0)
		;
	return -ECANCELED;
}

static enum sley_step wait_for_more(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	(void)self;
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_CANCEL)
			return sley_out_done(out, -ECANCELED);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour waiter = {
	.name = "waiter",
	.size = 8,
	.step = wait_for_more,
};

static const struct sley_child inner[] = {
	{ .fn = obey, .restart = SLEY_PERMANENT },
};

/* More than fit into the first table of children. */
static const struct sley_child children[] = {
	{ "named", obey, .restart = SLEY_PERMANENT, .shutdown_ns = SLEY_SEC },
	{ .behaviour = &waiter, .count = 4 },
	{ .children = inner,
	  .nr_children = 1,
	  .supervisor = SLEY_SUPERVISOR_OPTIONS(.intensity = 1000) },
};

/*
 * Each of them once; what becomes of them is the supervisors' business.  Not those:
 * one that is killed while it starts cannot be started, which is reported.
 */
static void kill_children(void)
{
	struct sley_process_info info;
	sley_pid pid = SLEY_NO_PID;

	while ((pid = sley_process_next(pid))) {
		if (sley_process_inspect(pid, &info) == 0 &&
		    (info.actor || strcmp(info.label, "waiter") == 0))
			(void)sley_process_kill(pid);
	}
	(void)sley_sleep(SLEY_MSEC);
}

static void use_supervisor(enum sley_strategy strategy)
{
	sley_pid pid, child;

	if (!TRY(sley_supervise(&pid,
				SLEY_SUPERVISOR_OPTIONS(.strategy = strategy,
							.intensity = 1000),
				children, 3),
		 -ENOMEM))
		return;
	if (TRY(sley_supervisor_add(pid, inner, &child), -ENOMEM))
		(void)TRY(sley_supervisor_remove(pid, child), -ENOMEM);
	for (int i = 0; i < 3; i++)
		kill_children();
	if (sley_process_cancel(pid, -ECANCELED))
		(void)sley_process_kill(pid);
}

static void with_runtime(enum sley_strategy strategy)
{
	struct sley *rt = trial_start(1);

	if (!rt)
		return;
	if (TRY(sley_bind(rt), -ENOMEM)) {
		trial_mark();
		use_supervisor(strategy);
		sley_unbind(rt);
	}
	trial_stop(rt);
}

SCENARIO(supervisors_of_single_children)
{
	with_runtime(SLEY_ONE_FOR_ONE);
}

SCENARIO(supervisors_of_groups)
{
	with_runtime(SLEY_ONE_FOR_ALL);
}
