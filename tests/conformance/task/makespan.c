/* SPDX-License-Identifier: MIT */
/*
 * makespan.c - k tasks of equal length on k workers take the time of one task: T7.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"

#define MAX_THREADS 128

/* k tasks, each of which holds its worker for @ms, until all k have begun. */
struct crew {
	struct sley_group group;
	struct sley_task tasks[64];
	atomic_int begun;
	_Atomic uint64_t longest_ns; /* of the naps */
	int k;
	unsigned int ms;
};

static void hold_until_all_have_begun(void *arg)
{
	struct crew *crew = arg;
	uint64_t ns = sley_now(), longest_ns;

	atomic_fetch_add(&crew->begun, 1);
	test_nap_ms(crew->ms);
	ns = sley_now() - ns;
	longest_ns = atomic_load(&crew->longest_ns);
	while (longest_ns < ns && !atomic_compare_exchange_weak(
					  &crew->longest_ns, &longest_ns, ns))
		;
	CHECK_EVENTUALLY(atomic_load(&crew->begun) == crew->k);
}

/* Returns how long the crew took; *@longest_ns: the longest of its tasks. */
static uint64_t run_crew(unsigned int ms, uint64_t *longest_ns)
{
	struct crew crew = { .k = nr_runners(), .ms = ms };
	uint64_t begin = sley_now();

	for (int i = 0; i < crew.k; i++)
		sley_spawn(&crew.group, &crew.tasks[i],
			   hold_until_all_have_begun, &crew);
	sley_join(&crew.group);
	begin = sley_now() - begin;
	*longest_ns = crew.longest_ns;
	return begin;
}

/* No worker runs two of the tasks: a second one would never begin. */
TEST_WORKERS(t07_k_tasks_are_on_k_workers_at_once)
{
	struct sley *rt = start();
	uint64_t ns;

	need_workers(1);
	for (int round = 0; round < 100; round++) {
		(void)run_crew(0, &ns);
		test_nap_ms((unsigned int)(round % 3));
	}
	stop(rt);
}

/* How long a thread was ready and got no CPU. */
struct ready {
	int tid;
	uint64_t ns;
};

static uint64_t ready_ns(int tid)
{
	char path[64];
	FILE *file;
	uint64_t ns = 0;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "r");
	if (!file)
		test_skip("the kernel does not say how long a thread is ready");
	CHECK_EQ(fscanf(file, "%*u %" SCNu64, &ns), 1);
	(void)fclose(file);
	return ns;
}

/* All threads but this one; returns how many. */
static int list_threads(struct ready threads[static MAX_THREADS])
{
	DIR *directory = opendir("/proc/self/task");
	const struct dirent *entry;
	int nr = 0;

	CHECK(directory != NULL);
	while ((entry = readdir(directory))) {
		int tid = atoi(entry->d_name);

		if (!tid || tid == getpid())
			continue;
		CHECK_LT(nr, MAX_THREADS);
		threads[nr++].tid = tid;
	}
	(void)closedir(directory);
	return nr;
}

/*
 * How long a crew takes, in percent of the time of its longest task.  The time in
 * which a thread is ready while the kernel gives the CPU to another program does
 * not count: for @least the time of all threads here; for @most the time of the
 * spawner, and of the two workers with the longest time, since one worker may wake
 * the other.
 */
struct span {
	int64_t least;
	int64_t most;
};

static struct span measure_crew(struct ready threads[static MAX_THREADS],
				int nr)
{
	uint64_t spawner = ready_ns(getpid()), all = 0, longest[2] = { 0 }, one;
	int64_t ns;

	for (int i = 0; i < nr; i++)
		threads[i].ns = ready_ns(threads[i].tid);
	ns = (int64_t)run_crew(10, &one);
	CHECK_GE(one, 10 * SLEY_MSEC);
	CHECK_GE(ns, one);
	for (int i = 0; i < nr; i++) {
		uint64_t ready = ready_ns(threads[i].tid) - threads[i].ns;

		all += ready;
		if (ready > longest[0]) {
			longest[1] = longest[0];
			longest[0] = ready;
		} else if (ready > longest[1]) {
			longest[1] = ready;
		}
	}
	ns -= (int64_t)(ready_ns(getpid()) - spawner);
	return (struct span){ (ns - (int64_t)all) * 100 / (int64_t)one,
			      (ns - (int64_t)(longest[0] + longest[1])) * 100 /
				      (int64_t)one };
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Each task holds its worker without using the CPU, so a task takes 10 ms on any
 * machine.  The kernel may keep a worker waiting, but no worker may sleep while a
 * task waits.  64 workers are together ready for more than 10 ms even on a quiet
 * machine, so each round says little of them, and the median says it.
 */
TEST_WORKERS(t07_k_tasks_on_k_workers_take_the_time_of_one)
{
	struct ready threads[MAX_THREADS];
	int64_t most[41];
	struct sley *rt;
	int nr;

	need_workers(1);
	if (test_sanitizer() && nr_runners() > 8)
		test_skip("a sanitizer takes longer to wake so many");
	if (test_is_chaotic())
		test_skip("how long a search takes is up to chaos");
	rt = start();
	nr = list_threads(threads);
	for (size_t i = 0; i < ARRAY_SIZE(most); i++) {
		struct span span = measure_crew(threads, nr);

		CHECK_LE(span.least, 120);
		most[i] = span.most;
		test_nap_ms((unsigned int)(i % 3));
	}
	qsort(most, ARRAY_SIZE(most), sizeof(most[0]), compare_numbers);
	CHECK_LE(most[ARRAY_SIZE(most) / 2], 120);
	stop(rt);
}
