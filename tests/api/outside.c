/* SPDX-License-Identifier: MIT */
/*
 * outside.c - a program that knows the installed tree only.
 */
#include <stdio.h>
#include <string.h>

#include <sley/sley.h>

/* Names the library has inside, too: they must not collide. */
int os_now(void);

int os_now(void)
{
	return 7;
}

static void count(void *arg)
{
	++*(int *)arg;
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, count, arg);
	sley_join(&group);
}

int main(void)
{
	int nr = 0;
	int err = sley_run(NULL, root, &nr);

	if (err) {
		fprintf(stderr, "sley_run: %s\n", sley_strerror(err));
		return 1;
	}
	printf("%s %d %d\n", sley_version(), nr, os_now());
	return nr != 1 || strcmp(sley_version(), SLEY_VERSION) != 0;
}
