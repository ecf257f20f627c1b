/* SPDX-License-Identifier: MIT */
/*
 * 09_blocking.c - calls that block a whole thread, from tasks on a single worker.
 *
 * usleep() stands for a slow disk, or for a library with waits of its own.  Ten
 * tasks call usleep(), and no task delays another: .blocking_max allows it.
 *   cc 09_blocking.c $(pkg-config --cflags --libs sley)
 */
#define _DEFAULT_SOURCE
#include <sley/sley.h>
#include <stdio.h>
#include <unistd.h>

#define NR 10

static void look_up(void *arg)
{
	*(int *)arg = usleep(100000) + 1;
}

/* As a function that runs elsewhere, */
static void by_call(void *arg)
{
	if (sley_blocking_call(look_up, arg))
		*(int *)arg = -1;
}

/* or in place. */
static void in_region(void *arg)
{
	sley_blocking_begin();
	*(int *)arg = usleep(100000) + 1;
	sley_blocking_end();
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR];
	int found[NR] = { 0 };
	uint64_t start = sley_now();

	for (int i = 0; i < NR; i++)
		sley_spawn(&group, &task[i], i % 2 ? by_call : in_region,
			   &found[i]);
	sley_join(&group);
	for (int i = 0; i < NR; i++)
		*(int *)arg += found[i];
	printf("%d look-ups of 100 ms took %d ms\n", *(int *)arg,
	       (int)((sley_now() - start) / SLEY_MSEC));
}

int main(void)
{
	int found = 0;

	return sley_run(SLEY_CONFIG(.workers = 1, .blocking_max = NR), root,
			&found) ||
	       found != NR;
}
