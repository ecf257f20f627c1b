/* SPDX-License-Identifier: MIT */
/*
 * deep.c - a program for gdb.py to stop in: one task waits deep down, another
 * one comes to stop_here().
 */
#include <sley/sley.h>
#include <stdio.h>

void stop_here(struct sley_task *waiting);
int inner(int depth);

static struct sley_event event = SLEY_EVENT_INIT;
static struct sley_event there = SLEY_EVENT_INIT;

__attribute__((noinline)) void stop_here(struct sley_task *waiting)
{
	__asm__ volatile("" : : "r"(waiting) : "memory");
}

__attribute__((noinline)) int inner(int depth)
{
	volatile int sum = depth;

	if (depth)
		return inner(depth - 1) + sum;
	sley_event_set(&there);
	return sley_event_wait(&event);
}

static void wait_deep_down(void *arg)
{
	*(int *)arg = inner(5);
}

static void stop(void *arg)
{
	if (sley_event_wait(&there))
		return;
	sley_yield();
	stop_here(arg);
	sley_event_set(&event);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task waiting, stopping;

	sley_spawn(&group, &waiting, wait_deep_down, arg);
	sley_spawn(&group, &stopping, stop, &waiting);
	sley_join(&group);
}

int main(void)
{
	int sum = -1;

	if (sley_run(SLEY_CONFIG(.workers = 1), root, &sum) || sum != 15)
		return 1;
	puts("done");
	return 0;
}
