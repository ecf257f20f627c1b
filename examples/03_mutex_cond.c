/* SPDX-License-Identifier: MIT */
/*
 * 03_mutex_cond.c - a mutex and a condition variable that suspend tasks.
 *
 * Ten tasks take turns: each task waits until its number comes up.
 *
 *   cc 03_mutex_cond.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

#define NR_TASKS 10

static struct sley_mutex mutex = SLEY_MUTEX_INIT;
static struct sley_cond changed = SLEY_COND_INIT;
static int turn; /* under mutex */

static void take_turn(void *arg)
{
	int number = *(int *)arg;

	sley_mutex_lock(&mutex);
	while (turn != number)
		sley_cond_wait(&changed, &mutex);
	printf("task %d, on worker %d\n", number, sley_worker());
	turn++;
	sley_cond_notify_all(&changed);
	sley_mutex_unlock(&mutex);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	int numbers[NR_TASKS], i;

	(void)arg;
	/* The last task comes first: the tasks must sort themselves. */
	for (i = NR_TASKS - 1; i >= 0; i--) {
		numbers[i] = i;
		sley_spawn(&group, &tasks[i], take_turn, &numbers[i]);
	}
	sley_join(&group);
}

int main(void)
{
	int err = sley_run(NULL, root, NULL);

	return err || turn != NR_TASKS;
}
