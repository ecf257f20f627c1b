/* SPDX-License-Identifier: MIT */
/*
 * relations.c - links and monitors: what there is no memory for is not there, and
 * what is there is told.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <sley/error.h>

#define NR_TARGETS 3
#define NR_MONITORS 50 /* more than a chunk has room for */

static struct sley_event over;

static enum sley_step wait_for_more(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)nr;
	(void)out;
	return SLEY_WAIT;
}

static const struct sley_behaviour target = { .name = "target",
					      .step = wait_for_more };

/* How many messages come of it. */
static int relate_with(sley_pid pid)
{
	uint64_t number;
	int due = 0;

	for (int i = 0; i < NR_MONITORS; i++)
		due += TRY(sley_monitor(pid, &number), -ENOMEM);
	due += TRY(sley_link(pid), -ENOMEM);
	return due;
}

static int relate(void *arg)
{
	sley_pid pid[NR_TARGETS] = { SLEY_NO_PID };
	struct sley_msg *msg;
	uint64_t number;
	int due = 0;

	(void)arg;
	for (int i = 0; i < NR_TARGETS; i++) {
		if (!TRY(sley_process_spawn(&pid[i], &target, NULL, 0, NULL),
			 -ENOMEM))
			continue;
		due += relate_with(pid[i]);
		CHECK_EQ(sley_process_kill(pid[i]), 0);
	}
	if (TRY(sley_process_spawn(&pid[0], &target, NULL, 0,
				   SLEY_PROCESS_OPTIONS(.link = true,
							.monitor = &number)),
		-ENOMEM)) {
		CHECK_EQ(sley_process_kill(pid[0]), 0);
		due += 2;
	}
	while (due--)
		CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	/* Else it is told that the runtime stops, or not if there is no memory. */
	(void)sley_process_trap(false);
	sley_event_set(&over);
	return 0;
}

SCENARIO(links_and_monitors)
{
	struct sley *rt = trial_start(2);

	if (!rt)
		return;
	trial_mark();
	over = (struct sley_event)SLEY_EVENT_INIT;
	if (TRY(sley_actor_spawn(NULL, relate, NULL,
				 SLEY_PROCESS_OPTIONS(.runtime = rt,
						      .traps = true)),
		-ENOMEM))
		CHECK_EQ(sley_event_wait(&over), 0);
	trial_stop(rt);
}
