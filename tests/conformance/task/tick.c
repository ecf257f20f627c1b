/* SPDX-License-Identifier: MIT */
/*
 * tick.c - a deadline on a busy worker is noticed a tick late at most, and nothing
 * ticks where no deadline is near: .tick_us of sley_config.
 */
#include "conformance/bound.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 21 };

/* ---- how late --------------------------------------------------------------------- */

/*
 * In tasks, and not in time, so that a worker that the kernel has stopped counts
 * nothing meanwhile.  A task is TASK_US of CPU time.
 */
enum { TASK_US = 200 };

struct busy {
	struct sley *rt;
	atomic_bool over;
	uint64_t deadline_ns; /* of the sleeper; 0: none */
	int nr_late;          /* tasks that began behind the deadline */
	int late[ROUNDS];
	int priority; /* of the tasks that keep the worker busy */
};

static void be_busy(void *arg)
{
	struct busy *busy = arg;

	if (busy->deadline_ns && sley_now() > busy->deadline_ns)
		busy->nr_late++;
	test_use_cpu_ns(TASK_US * SLEY_USEC);
	if (!atomic_load(&busy->over))
		CHECK_EQ(sley_schedule_on(busy->rt, be_busy, busy,
					  SLEY_OPTIONS(.priority =
							       busy->priority)),
			 0);
}

static int by_size(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Waits for an event that never comes: the object is locked during the pick. */
static void wait_in_rounds(void *arg)
{
	struct sley_event never = SLEY_EVENT_INIT;
	struct busy *busy = arg;

	for (int i = 0; i < ROUNDS; i++) {
		busy->nr_late = 0;
		busy->deadline_ns = sley_after(3 * SLEY_MSEC);
		CHECK_EQ(sley_event_wait_until(&never, busy->deadline_ns),
			 -ETIMEDOUT);
		busy->late[i] = busy->nr_late;
	}
	atomic_store(&busy->over, true);
}

/* The median of the tasks that ran between a deadline and the task that slept. */
static int late_with(uint32_t tick_us, int priority)
{
	struct sley_config config = config_of(1);
	static struct busy busy;
	struct sley_task task[3];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt;

	busy = (struct busy){ .over = false, .priority = priority };
	config.tick_us = tick_us;
	busy.rt = rt = start_with(&config);
	sley_spawn(&group, &task[0], wait_in_rounds, &busy);
	for (int i = 1; i < 3; i++)
		CHECK_EQ(sley_spawn_with(&group, &task[i], be_busy, &busy,
					 SLEY_OPTIONS(.priority = priority)),
			 0);
	sley_join(&group);
	stop(rt);
	qsort(busy.late, ROUNDS, sizeof(busy.late[0]), by_size);
	return busy.late[ROUNDS / 2];
}

/* A fair pick, which looks at the timers anyway, comes after 61 tasks: 12 ms. */
TEST(t17_a_deadline_on_a_busy_worker_is_noticed_after_a_tick)
{
	CHECK_LT(late_with(0, 0), 12);
	CHECK_LT(late_with(100, 0), 12);
}

/* Tasks that a worker finds only when it has looked everywhere else. */
TEST(t17_a_deadline_beside_tasks_of_low_priority_is_noticed_after_a_tick)
{
	CHECK_LT(late_with(0, SLEY_PRIORITY_MAX), 12);
}

/* ---- how often -------------------------------------------------------------------- */

/* How many times the monitor has slept so far. */
static long monitor_sleeps(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	long sleeps = -1;

	CHECK(threads != NULL);
	while ((thread = readdir(threads))) {
		char path[300], line[200], name[100] = "";
		long nr = -1;
		FILE *status;

		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			       thread->d_name);
		status = fopen(path, "r");
		while (status && fgets(line, sizeof(line), status)) {
			(void)sscanf(line, "Name: %99s", name);
			(void)sscanf(line, "voluntary_ctxt_switches: %ld", &nr);
		}
		if (status)
			(void)fclose(status);
		if (strcmp(name, "sley-monitor") == 0)
			sleeps = nr;
	}
	(void)closedir(threads);
	return sleeps;
}

struct quiet {
	bool sleeps; /* a task waits for a deadline that is far away */
	struct sley_event never;
};

static void wait_for_an_hour(void *arg)
{
	struct quiet *quiet = arg;

	CHECK_EQ(sley_event_wait_until(&quiet->never,
				       sley_after(3600 * SLEY_SEC)),
		 0);
}

/* Every ten milliseconds, and once more for each of two reasons at most. */
static void count_looks(void *arg)
{
	struct quiet *quiet = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t start_ns;
	long before;

	if (quiet->sleeps)
		CHECK_EQ(sley_spawn_with(&group, &task, wait_for_an_hour, quiet,
					 SLEY_OPTIONS(.pinned = true)),
			 0);
	sley_yield();
	before = monitor_sleeps();
	if (before < 0)
		test_skip("no names or counts of threads in /proc");
	start_ns = sley_now();
	while (sley_now() - start_ns < 300 * SLEY_MSEC)
		test_use_cpu_ns(SLEY_MSEC);
	CHECK_LE(monitor_sleeps() - before, 2 + ms_since(start_ns) / 10);
	sley_event_set(&quiet->never);
	sley_join(&group);
}

static void check_quiet(bool sleeps)
{
	struct sley_config config = config_of(1);
	struct quiet quiet = { .sleeps = sleeps, .never = SLEY_EVENT_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt = start_with(&config);

	sley_spawn(&group, &task, count_looks, &quiet);
	sley_join(&group);
	stop(rt);
}

TEST(nothing_ticks_without_a_deadline)
{
	check_quiet(false);
}

TEST(nothing_ticks_for_a_deadline_that_is_far_away)
{
	check_quiet(true);
}
