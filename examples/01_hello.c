/* SPDX-License-Identifier: MIT */
/*
 * 01_hello.c - start a runtime, spawn tasks, join them, stop.
 *
 *   cc 01_hello.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static void greet(void *arg)
{
	printf("hello from worker %d, %s\n", sley_worker(), (char *)arg);
}

int main(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[8];
	struct sley *rt;
	int err, i;

	err = sley_create(&rt, SLEY_CONFIG(.workers = 4));
	if (!err)
		err = sley_bind(rt);
	if (err) {
		fprintf(stderr, "sley: %s\n", sley_strerror(err));
		return 1;
	}
	/* The tasks live in our memory, so spawning them cannot fail. */
	for (i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], greet, "sley");
	sley_join(&group);
	sley_unbind(rt);
	return sley_destroy(rt) != 0;
}
