/* SPDX-License-Identifier: MIT */
/*
 * 36_group_go.c - as many tasks as there is work, in memory of the library.
 *
 * A tree of folders is walked by a task for each folder; the number of folders is
 * not known beforehand.  All tasks are in one group, and root() joins the group.
 *
 *   cc 36_group_go.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct folder {
	int depth;
};

static struct sley_group walk = SLEY_GROUP_INIT;
static atomic_int seen, failed;

static void look(void *arg);

static void enter(int depth)
{
	struct folder *folder = malloc(sizeof(*folder));

	if (!folder) {
		atomic_fetch_add(&failed, 1);
		return;
	}
	folder->depth = depth;
	if (sley_group_go(&walk, look, folder)) {
		free(folder);
		atomic_fetch_add(&failed, 1);
	}
}

static void look(void *arg)
{
	struct folder *folder = arg;

	atomic_fetch_add(&seen, 1);
	for (int i = 0; i < folder->depth; i++)
		enter(folder->depth - 1 - i);
	free(folder); /* the argument is ours; the task is the library's */
}

static void root(void *arg)
{
	(void)arg;
	enter(8);
	sley_join(&walk);
	printf("%d folders, %d could not be entered\n", seen, failed);
}

int main(void)
{
	return sley_run(NULL, root, NULL) || seen != 256 || failed;
}
