/* SPDX-License-Identifier: MIT */
/*
 * 16_tasks_in_tasks.c - a task spawns tasks and waits for them.
 *
 * While a task waits for its children, the worker runs other tasks.
 *
 *   cc 16_tasks_in_tasks.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

#define NR 3

struct node {
	struct sley_task task;
	int outer, inner, sum;
};

static void inner_task(void *arg)
{
	struct node *n = arg;

	printf("task %d.%d on worker %d\n", n->outer, n->inner, sley_worker());
	n->sum = 10 * n->outer + n->inner;
}

static void outer_task(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct node *n = arg, child[NR]; /* on our stack until the join */

	for (int i = 0; i < NR; i++) {
		child[i] = (struct node){ .outer = n->outer, .inner = i + 1 };
		sley_spawn(&group, &child[i].task, inner_task, &child[i]);
	}
	sley_join(&group);
	for (int i = 0; i < NR; i++)
		n->sum += child[i].sum;
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct node child[NR];

	for (int i = 0; i < NR; i++) {
		child[i] = (struct node){ .outer = i + 1 };
		sley_spawn(&group, &child[i].task, outer_task, &child[i]);
	}
	sley_join(&group);
	for (int i = 0; i < NR; i++)
		*(int *)arg += child[i].sum;
}

int main(void)
{
	int sum = 0;

	return sley_run(NULL, root, &sum) != 0 || sum != 198;
}
