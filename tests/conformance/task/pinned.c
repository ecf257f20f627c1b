/* SPDX-License-Identifier: MIT */
/*
 * pinned.c - tasks that stay where they were spawned: M10, T20.
 */
#include "conformance/bound.h"

struct stay {
	struct sley_group group;
	struct sley_task tasks[40];
	struct gate gate;
	pid_t tid;
	int worker;
	atomic_int ran, free_ran;
};

static void run_pinned(void *arg)
{
	struct stay *s = arg;

	CHECK_EQ(gettid(), s->tid);
	CHECK_EQ(sley_worker(), s->worker);
	sley_yield();
	CHECK_EQ(gettid(), s->tid);
	CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
	CHECK_EQ(gettid(), s->tid);
	atomic_fetch_add(&s->ran, 1);
}

static void spawn_pinned(void *arg)
{
	struct stay *s = arg;
	int i;

	s->tid = gettid();
	s->worker = sley_worker();
	for (i = 0; i < 40; i++)
		CHECK_EQ(sley_spawn_with(&s->group, &s->tasks[i], run_pinned, s,
					 SLEY_OPTIONS(.pinned = true)),
			 0);
	/* Keep the worker, so that the others have time to try to steal. */
	test_nap_ms(5);
	sley_join(&s->group);
}

static void run_pinned_tests(struct sley_config *config)
{
	static struct stay stays[8];
	struct sley_task tasks[8];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(config);
	int i;

	for (i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], spawn_pinned, &stays[i]);
	sley_join(&group);
	for (i = 0; i < 8; i++)
		CHECK_EQ(stays[i].ran, 40);
	stop(rt);
}

TEST_WORKERS(t20_a_pinned_task_runs_where_it_was_spawned_and_nowhere_else)
{
	struct sley_config config = *test_config();

	run_pinned_tests(&config);
}

/*
 * marl keeps pinned and other tasks in one queue: 4 of 8 stayed behind a
 * pinned one, next to an idle worker.
 */
static void mix_and_hold(void *arg)
{
	struct stay *s = arg;
	int i;

	s->tid = gettid();
	s->worker = sley_worker();
	for (i = 0; i < 20; i++) {
		if (i % 2)
			sley_spawn(&s->group, &s->tasks[i], count_task,
				   &s->free_ran);
		else
			CHECK_EQ(sley_spawn_with(&s->group, &s->tasks[i],
						 run_pinned, s,
						 SLEY_OPTIONS(.pinned = true)),
				 0);
	}
	/* Goes on only when the others have stolen all they may. */
	gate_hold(&s->gate);
	CHECK_EQ(s->ran, 0);
	sley_join(&s->group);
	CHECK_EQ(s->ran, 10);
}

TEST_WORKERS(t20_pinned_tasks_do_not_keep_others_from_being_stolen)
{
	struct stay s = { .ran = 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;

	if (nr_runners() < 2)
		test_skip("needs a thief");
	sley_spawn(&group, &task, mix_and_hold, &s);
	CHECK_EVENTUALLY(atomic_load(&s.free_ran) == 10);
	gate_open(&s.gate);
	sley_join(&group);
	stop(rt);
}

/* marl: a null pointer. */
TEST_WORKERS(t20_pinning_from_a_thread_that_runs_no_tasks_is_an_error)
{
	const struct sley_options *pinned = SLEY_OPTIONS(.pinned = true);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;
	atomic_int ran = 0;

	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran, pinned),
		 SLEY_ENORUNTIME);
	rt = start();
	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran, pinned),
		 is_single() ? 0 : SLEY_ENOWORKER);
	sley_join(&group);
	CHECK_EQ(ran, is_single() ? 1 : 0);
	sley_unbind(rt);
	CHECK_EQ(sley_spawn_on(rt, &group, &task, count_task, &ran, pinned),
		 SLEY_ENOWORKER);
	sley_join(&group);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(ran, is_single() ? 1 : 0);
}

TEST_WORKERS(t20_a_pinned_task_stays_also_in_a_migratable_runtime)
{
	struct sley_config config = *test_config();

	config.migratable = true;
	run_pinned_tests(&config);
}

/* Pinned, and something else at the same time. */
static void spawn_every_kind(void *arg)
{
	const struct sley_options options[] = {
		{ .size = sizeof(options[0]), .pinned = true },
		{ .size = sizeof(options[0]), .pinned = true, .priority = -9 },
		{ .size = sizeof(options[0]), .pinned = true, .priority = 9 },
		{ .size = sizeof(options[0]), .pinned = true, .stack_kib = 512 },
	};
	struct stay *s = arg;
	int i;

	s->tid = gettid();
	s->worker = sley_worker();
	for (i = 0; i < 40; i++) {
		const struct sley_options *o = &options[i % 4];

		if (i < 20)
			CHECK_EQ(sley_spawn_with(&s->group, &s->tasks[i],
						 run_pinned, s, o),
				 0);
		else
			CHECK_EQ(sley_schedule_on(sley_current(), run_pinned, s,
						  o),
				 0);
	}
	test_nap_ms(5); /* the others try to steal */
	sley_join(&s->group);
}

TEST_WORKERS(m10_pinned_tasks_of_every_kind_stay)
{
	static struct stay stays[8];
	struct sley_task tasks[8];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	int i;

	for (i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], spawn_every_kind, &stays[i]);
	sley_join(&group);
	stop(rt); /* waits for those that were scheduled */
	for (i = 0; i < 8; i++)
		CHECK_EQ(stays[i].ran, 40);
}
