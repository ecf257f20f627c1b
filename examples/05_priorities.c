/* SPDX-License-Identifier: MIT */
/*
 * 05_priorities.c - urgent tasks first: -32 is most urgent, 31 least.
 *
 * With one worker the order shows: ready tasks run by priority, whatever the order
 * in which they were spawned.
 *
 *   cc 05_priorities.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

struct job {
	struct sley_task task;
	const char *name;
	int priority;
};

static char order[8];
static int nr;

static void run(void *arg)
{
	struct job *job = arg;

	printf("%-10s (%d)\n", job->name, job->priority);
	order[nr++] = job->name[1];
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct job jobs[] = {
		{ .name = "sweep", .priority = 31 },
		{ .name = "work", .priority = 0 },
		{ .name = "answer", .priority = -10 },
		{ .name = "alarm", .priority = -32 },
	};
	int i;

	for (i = 0; i < 4; i++)
		if (sley_spawn_with(&group, &jobs[i].task, run, &jobs[i],
				    SLEY_OPTIONS(.priority = jobs[i].priority)))
			order[nr++] = '?';
	/* No task has run yet: the only worker runs root() until the join. */
	sley_join(&group);
	(void)arg;
}

int main(void)
{
	int err = sley_run(SLEY_CONFIG(.workers = 1), root, NULL);

	return err || strcmp(order, "lnow") != 0;
}
