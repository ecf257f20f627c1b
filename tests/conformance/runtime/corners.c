/* SPDX-License-Identifier: MIT */
/*
 * corners.c - where two rules meet: forks and cancelling, priorities and other
 * runtimes, the end of memory and everything else.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "conformance/bound.h"

/* ---- forks and cancelling ------------------------------------------------ */

static atomic_int children_run;

static void fork_after_cancel(void *arg)
{
	struct sley *rt = arg;
	struct sley_forked child;
	int i;

	sley_cancel_all(rt);
	for (i = 0; i < 50; i++) {
		int before = atomic_load(&children_run);
		uint64_t end_ns = in_ms(2);

		sley_fork(&child, count_task, &children_run);
		/* Time for a thief that knows that all is cancelled. */
		while (atomic_load(&children_run) == before &&
		       sley_now() < end_ns)
			;
		sley_fork_join(&child);
	}
}

TEST_WORKERS(fork_a_child_runs_although_everything_is_cancelled)
{
	struct sley *rt = start();

	run_task(fork_after_cancel, rt);
	CHECK_EQ(atomic_load(&children_run), 50);
	stop(rt);
}

TEST(fork_from_a_bound_thread_that_runs_tasks_leaves_no_memory_behind)
{
	struct sley *rt = start_single();
	struct sley_forked child[100];
	int i;

	for (i = 0; i < 100; i++)
		sley_fork(&child[i], count_task, &children_run);
	while (i--)
		sley_fork_join(&child[i]);
	CHECK_EQ(atomic_load(&children_run), 100);
	stop(rt);
	CHECK_EQ(test_allocated(), 0);
}

/* ---- what comes after all is cancelled ------------------------------------- */

TEST_WORKERS(cancel_all_reaches_what_a_later_thread_spawns)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	sley_cancel_all(rt);
	CHECK_EQ(sley_bind(rt), 0);
	sley_spawn(&group, &task, count_task, &ran);
	sley_join(&group);
	CHECK_EQ(sley_task_status(&task), -ECANCELED);
	CHECK_EQ(atomic_load(&ran), 0);
	stop(rt);
}

/* ---- priorities, set by strangers ------------------------------------------ */

struct queued {
	struct sley_task task[4];
	atomic_int runs[4];
	struct sley *other; /* the stranger binds to it, unless NULL */
};

static void *move_as_stranger(void *arg)
{
	struct queued *queued = arg;
	int i;

	if (queued->other)
		CHECK_EQ(sley_bind(queued->other), 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(sley_set_priority(&queued->task[i], 20 - i), 0);
	if (queued->other)
		sley_unbind(queued->other);
	return NULL;
}

/* Queued at one level, moved by a stranger, then by one who belongs here. */
static void move_twice(struct sley *rt, struct queued *queued)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct gate gate = { 0 };
	struct sley_task holder;
	int i;

	sley_spawn(&group, &holder, gate_task, &gate);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	for (i = 0; i < 4; i++)
		CHECK_EQ(sley_spawn_on(rt, &group, &queued->task[i], count_task,
				       &queued->runs[i],
				       SLEY_OPTIONS(.priority = 10)),
			 0);
	pthread_join(test_thread(move_as_stranger, queued), NULL);
	for (i = 0; i < 4; i++)
		CHECK_EQ(sley_set_priority(&queued->task[i], -5 + i), 0);
	gate_open(&gate);
	sley_join(&group);
	for (i = 0; i < 4; i++)
		CHECK_EQ(atomic_load(&queued->runs[i]), 1);
}

TEST(u03_a_thread_of_no_runtime_moves_a_queued_task_safely)
{
	struct sley_config config = config_of(1);
	struct queued queued = { .other = NULL };
	struct sley *rt = start_with(&config);

	move_twice(rt, &queued);
	stop(rt);
}

TEST(u03_a_thread_of_another_runtime_moves_a_queued_task_safely)
{
	struct sley_config config = config_of(1);
	struct queued queued = { .other = NULL };
	struct sley *rt = start_with(&config);

	CHECK_EQ(sley_create(&queued.other, &config), 0);
	move_twice(rt, &queued);
	stop(rt);
	CHECK_EQ(sley_destroy(queued.other), 0);
}

/* ---- reports --------------------------------------------------------------- */

static struct sley *reported;
static int nr_lines;

static void look_while_reporting(void *self, const char *line)
{
	struct sley_stats stats;

	(void)self;
	CHECK(line != NULL);
	sley_get_stats(reported, &stats);
	CHECK_GT(stats.fibers, 0);
	nr_lines++;
}

static void wait_for_event(void *arg)
{
	(void)!sley_event_wait(arg);
}

static void set_event(void *arg)
{
	sley_event_set(arg);
}

TEST_WORKERS(t09_a_report_may_ask_the_runtime_for_its_counters)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_config config = *test_config();
	struct sley *rt;

	if (is_single())
		return; /* its tasks end before its threads are unbound */
	config.report = look_while_reporting;
	CHECK_EQ(sley_create(&rt, &config), 0);
	reported = rt;
	CHECK_EQ(sley_schedule_on(rt, wait_for_event, &event, NULL), 0);
	test_nap_ms(20);
	CHECK_EQ(sley_destroy_until(rt, in_ms(20)), -ETIMEDOUT);
	CHECK_EQ(nr_lines, 1);
	sley_event_set(&event);
	CHECK_EQ(sley_destroy(rt), 0);
}

static char last_line[256];

static void keep_last_line(void *self, const char *line)
{
	(void)self;
	strncpy(last_line, line, sizeof(last_line) - 1);
}

TEST(t09_a_report_counts_the_tasks_that_have_not_started)
{
	struct sley_config config = config_of(1);
	atomic_int ran = 0;
	struct gate gate = { 0 };
	struct sley *rt;
	int i;

	config.report = keep_last_line;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_schedule_on(rt, gate_task, &gate, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	for (i = 0; i < 3; i++)
		CHECK_EQ(sley_schedule_on(rt, count_task, &ran, NULL), 0);
	CHECK_EQ(sley_destroy_until(rt, in_ms(10)), -ETIMEDOUT);
	CHECK_STR(
		last_line,
		"the runtime still waits for 3 task(s) that have not started");
	gate_open(&gate);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(atomic_load(&ran), 3);
}

/* ---- no more stacks ---------------------------------------------------------- */

enum { MANY = 3000 }; /* more than one mapping of stacks */

static struct sley_task many[MANY];

/* From now on the process gets no more memory from the kernel. */
static void no_more_memory(void)
{
	struct rlimit limit;
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (test_emulated())
		test_skip("qemu-user ignores RLIMIT_AS");
	CHECK(file && fscanf(file, "%ld", &pages) == 1);
	fclose(file);
	CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

static struct sley *start_short_of_stacks(bool migratable)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	if (test_sanitizer())
		test_skip("sanitizers need their address space");
	config.migratable = migratable;
	rt = start_with(&config);
	no_more_memory();
	return rt;
}

static void block_many(struct sley *rt, struct sley_group *group,
		       struct sley_event *event)
{
	struct sley_stats stats;
	int i;

	for (i = 0; i < MANY; i++)
		sley_spawn(group, &many[i], wait_for_event, event);
	if (is_single())
		(void)!sley_sleep(50 * SLEY_MSEC);
	else
		test_nap_ms(50);
	sley_get_stats(rt, &stats);
	CHECK_LT(stats.fibers, MANY);
}

static void wake_on_the_last_stacks(bool migratable)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley *rt = start_short_of_stacks(migratable);

	block_many(rt, &group, &event);
	sley_event_set(&event);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(t30_tasks_blocked_on_the_last_stacks_can_be_woken)
{
	wake_on_the_last_stacks(false);
}

TEST_WORKERS(t30_movable_tasks_blocked_on_the_last_stacks_can_be_woken)
{
	wake_on_the_last_stacks(true);
}

TEST_WORKERS(t30_tasks_blocked_on_the_last_stacks_can_be_cancelled)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley *rt = start_short_of_stacks(false);

	block_many(rt, &group, &event);
	sley_cancel_all(rt);
	sley_join(&group);
	stop(rt);
}

TEST(t30_a_task_with_a_stack_of_its_own_starts_when_there_are_no_others)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_config config = config_of(1);
	struct gate gate = { 0 };
	struct sley_task holder, setter;
	struct sley *rt;
	int i;

	if (test_sanitizer())
		test_skip("sanitizers need their address space");
	rt = start_with(&config);
	sley_spawn(&group, &holder, gate_task, &gate);
	for (i = 0; i < MANY; i++)
		sley_spawn(&group, &many[i], wait_for_event, &event);
	CHECK_EQ(sley_spawn_with(&group, &setter, set_event, &event,
				 SLEY_OPTIONS(.stack_kib = 64)),
		 0);
	no_more_memory();
	gate_open(&gate);
	sley_join(&group);
	stop(rt);
}

TEST(t30_a_step_without_a_stack_runs_nothing)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_config config = config_of(SLEY_SINGLE);
	int i, err, steps = 0;
	struct sley *rt;

	if (test_sanitizer())
		test_skip("sanitizers need their address space");
	rt = start_with(&config);
	no_more_memory();
	for (i = 0; i < MANY; i++)
		sley_spawn(&group, &many[i], wait_for_event, &event);
	while ((err = sley_run_one(rt)) > 0)
		steps++;
	CHECK_EQ(err, -ENOMEM);
	CHECK_GT(steps, 0);
	CHECK_LT(steps, MANY);
	sley_event_set(&event);
	sley_join(&group);
	stop(rt);
}

/* ---- failing allocations ------------------------------------------------------ */

static int bind_spawn_and_stop(struct sley *rt, int n)
{
	static atomic_int ran; /* the scheduled task may outlive the call */
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int err, all = 0;

	test_fail_allocation_after(n);
	err = sley_bind(rt);
	if (err) {
		CHECK_EQ(err, -ENOMEM);
		CHECK(sley_current() == NULL);
		return err;
	}
	sley_spawn(&group, &task, count_task, &ran);
	sley_join(&group);
	err = sley_spawn_with(&group, &task, count_task, &ran,
			      SLEY_OPTIONS(.stack_kib = 32));
	CHECK(err == 0 || err == -ENOMEM);
	all |= err;
	sley_join(&group);
	err = sley_schedule(count_task, &ran);
	CHECK(err == 0 || err == -ENOMEM);
	all |= err;
	sley_yield();
	sley_unbind(rt);
	return all;
}

TEST_WORKERS(t30_every_failing_allocation_of_binding_and_spawning_is_reported)
{
	int n, err = -ENOMEM;
	struct sley *rt;

	for (n = 0; err; n++) {
		CHECK_LT(n, 100);
		test_fail_allocation_after(-1);
		CHECK_EQ(sley_create(&rt, test_config()), 0);
		err = bind_spawn_and_stop(rt, n);
		test_fail_allocation_after(-1);
		CHECK_EQ(sley_destroy(rt), 0);
		CHECK_EQ(test_allocated(), 0);
	}
	CHECK_GT(n, 1); /* the first has failed */
}

static int fork_sum(int depth);

struct summand {
	int depth, sum;
};

static void sum_child(void *arg)
{
	struct summand *s = arg;

	s->sum = fork_sum(s->depth);
}

static int fork_sum(int depth)
{
	struct summand s = { .depth = depth - 1 };
	struct sley_forked child;
	int sum;

	if (depth == 0)
		return 1;
	sley_fork(&child, sum_child, &s);
	sum = fork_sum(depth - 1);
	sley_fork_join(&child);
	return sum + s.sum;
}

static void sum_root(void *arg)
{
	*(int *)arg = fork_sum(9);
}

TEST_WORKERS(t30_forks_are_right_whichever_allocation_fails)
{
	int n, sum;

	/* No memory comes while it joins: parents that wait must find a strand
	   in the slab's first chunk. */
	if (test_is_chaotic())
		test_skip("chaos has slabs of one object");
	for (n = 0; n < 12; n++) {
		struct sley *rt = start();

		test_fail_allocation_after(n);
		run_task(sum_root, &sum);
		test_fail_allocation_after(-1);
		CHECK_EQ(sum, 512);
		stop(rt);
	}
}

/* ---- locked memory -------------------------------------------------------------- */

TEST(t27_stacks_in_locked_memory_are_given_back)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_config config = config_of(1);
	struct sley *rt;
	int i;

	if (mlockall(MCL_FUTURE | MCL_ONFAULT))
		test_skip("memory cannot be locked here");
	config.stack_cache = 1;
	rt = start_with(&config);
	for (i = 0; i < 500; i++)
		sley_spawn(&group, &many[i], wait_for_event, &event);
	test_nap_ms(20);
	sley_event_set(&event);
	sley_join(&group);
	test_nap_ms(50); /* the monitor trims what is left */
	stop(rt);
}
