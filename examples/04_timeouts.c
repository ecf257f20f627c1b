/* SPDX-License-Identifier: MIT */
/*
 * 04_timeouts.c - deadlines and cancellation.
 *
 * Every call that waits has a twin that ends in _until and takes a deadline.
 * The wait of a cancelled task returns -ECANCELED.
 *
 *   cc 04_timeouts.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>

static int mistakes;

static void expect(const char *what, int got, int wanted)
{
	printf("%-38s %s\n", what, got ? sley_strerror(got) : "success");
	mistakes += got != wanted;
}

static void sleep_for_ever(void *arg)
{
	*(int *)arg = sley_sleep(SLEY_FOREVER);
}

static void root(void *arg)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t soon = sley_after(20 * SLEY_MSEC);
	int sleeper = 0;

	(void)arg;
	expect("an event that nobody sets", sley_event_wait_until(&event, soon),
	       -ETIMEDOUT);
	sley_event_set(&event);
	expect("one that is set, after its deadline",
	       sley_event_wait_until(&event, soon), 0);
	sley_spawn(&group, &task, sleep_for_ever, &sleeper);
	expect("a task that does not end",
	       sley_join_until(&group, sley_after(20 * SLEY_MSEC)), -ETIMEDOUT);
	sley_cancel(&task);
	sley_join(&group);
	expect("what the cancelled task saw", sleeper, -ECANCELED);
}

int main(void)
{
	int err = sley_run(NULL, root, NULL);

	return err || mistakes;
}
