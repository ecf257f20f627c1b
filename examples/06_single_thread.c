/* SPDX-License-Identifier: MIT */
/*
 * 06_single_thread.c - no worker threads: this thread runs its own tasks.
 *
 * The tasks run whenever the thread blocks in sley, or step by step by
 * sley_run_one().  The order is the same every time, which is good for tests.
 *
 *   cc 06_single_thread.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static void count_to_three(void *arg)
{
	int i;

	for (i = 1; i <= 3; i++) {
		printf("  %s %d\n", (char *)arg, i);
		sley_yield();
	}
}

int main(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task a, b;
	struct sley *rt;
	int steps = 0;

	if (sley_create(&rt, SLEY_CONFIG(.workers = SLEY_SINGLE, .seed = 1)) ||
	    sley_bind(rt))
		return 1;
	sley_spawn(&group, &a, count_to_three, "warp");
	sley_spawn(&group, &b, count_to_three, "weft");
	printf("nothing has run yet\n");
	while (sley_run_one(rt) > 0)
		printf("step %d\n", ++steps);
	/* Or run all tasks at once: */
	sley_spawn(&group, &a, count_to_three, "beat");
	sley_join(&group);
	sley_unbind(rt);
	/* Two tasks yield three times each, and then run once more, to the end. */
	return sley_destroy(rt) != 0 || steps != 8;
}
