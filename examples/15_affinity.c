/* SPDX-License-Identifier: MIT */
/*
 * 15_affinity.c - each worker on a CPU of its own.
 *
 * Only CPUs that the program may use: try this under "taskset -c 1".  With more
 * than one thread per core, the first workers get cores of their own.
 *
 *   cc 15_affinity.c $(pkg-config --cflags --libs sley)
 */
#define _GNU_SOURCE /* sched_getcpu() */
#include <sched.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>

static struct sley_cpus usable;
static atomic_int nr_wrong;

static void announce(void *self, int worker)
{
	int cpu = sched_getcpu();

	(void)self;
	printf("  worker %d runs on CPU %d\n", worker, cpu);
	if (!sley_cpus_has(&usable, cpu))
		atomic_fetch_add(&nr_wrong, 1);
}

static void work(void *arg)
{
	int cpu = sched_getcpu();

	(void)sley_sleep(100 * SLEY_USEC); /* and stay on this CPU */
	if (sched_getcpu() != cpu)
		atomic_fetch_add((atomic_int *)arg, 1);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[100];

	for (int i = 0; i < 100; i++)
		sley_spawn(&group, &task[i], work, arg);
	sley_join(&group);
}

int main(void)
{
	int err;

	printf("%d CPU(s)\n", sley_cpus_usable(&usable));
	err = sley_run(SLEY_CONFIG(.placement = SLEY_PLACE_ONE_OF,
				   .cpus = &usable, .on_start = announce),
		       root, &nr_wrong);
	if (err)
		fprintf(stderr, "%s\n", sley_strerror(err));
	return err != 0 || nr_wrong != 0;
}
