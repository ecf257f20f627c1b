/* SPDX-License-Identifier: MIT */
/*
 * toward.c - tasks that are sent toward a worker (.toward): a preference, and no
 * promise; no task waits for a busy worker while another worker has nothing to do.
 */
#include "conformance/bound.h"

#define TASKS 200

static atomic_int ran;

static void count_run(void *arg)
{
	(void)arg;
	atomic_fetch_add(&ran, 1);
}

static void send_round(void *rt)
{
	for (int i = 0; i < TASKS; i++) {
		uint32_t toward = SLEY_ON_WORKER(i % nr_runners());

		CHECK_EQ(sley_schedule_on(
				 rt, count_run, NULL,
				 SLEY_OPTIONS(.priority = i % 5 ? 0 : i % 7 - 3,
					      .toward = toward)),
			 0);
	}
}

static void *send_round_in_thread(void *rt)
{
	send_round(rt);
	return NULL;
}

TEST_WORKERS(each_task_that_is_sent_toward_a_worker_runs_once)
{
	struct sley *rt = start();

	for (int i = 0; i < 5; i++) {
		run_task(send_round, rt);
		send_round(rt);
		if (is_single()) /* no other thread may spawn */
			send_round(rt);
		else
			run_threads(1, send_round_in_thread, rt);
	}
	CHECK_SOON(atomic_load(&ran) == 15 * TASKS);
	stop(rt);
	CHECK_EQ(ran, 15 * TASKS);
}

/* Neither the holder nor its worker moves until the task has run elsewhere. */
static void check_stolen(int priority)
{
	struct sley_config config = config_of(2);
	struct gate gate = { 0 };
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	atomic_store(&ran, 0);
	for (int i = 0; i < 2; i++) {
		/* One of the two workers is held, and the other is not. */
		uint32_t toward = SLEY_ON_WORKER(i);

		atomic_store(&gate.held, 0);
		atomic_store(&gate.open, false);
		sley_spawn(&group, &task[0], gate_task, &gate);
		CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
		CHECK_EQ(sley_spawn_with(&group, &task[1], count_run, NULL,
					 SLEY_OPTIONS(.priority = priority,
						      .toward = toward)),
			 0);
		CHECK_EVENTUALLY(atomic_load(&ran) == i + 1);
		gate_open(&gate);
		sley_join(&group);
	}
	stop(rt);
}

TEST(a_task_does_not_wait_for_the_worker_it_was_sent_toward)
{
	check_stolen(0);
	check_stolen(SLEY_PRIORITY_MIN);
	check_stolen(SLEY_PRIORITY_MAX);
}

static void note_worker(void *arg)
{
	*(int *)arg = sley_worker();
}

/*
 * All workers sleep for some time, so only the preferred worker is woken.  On a
 * noisy machine another worker may still be about to sleep, and find the task.
 */
TEST(a_worker_that_sleeps_is_woken_for_what_is_sent_toward_it)
{
	struct sley_config config = config_of(4);
	struct sley *rt = start_with(&config);
	int nr_there = 0;

	if (test_is_chaotic())
		test_skip("chaos moves tasks about");
	for (int i = 0; i < 40; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;
		int worker = -1;

		test_nap_ms(5);
		CHECK_EQ(sley_spawn_with(
				 &group, &task, note_worker, &worker,
				 SLEY_OPTIONS(.toward = SLEY_ON_WORKER(i % 4))),
			 0);
		sley_join(&group);
		nr_there += worker == i % 4;
	}
	/* A worker that is chosen without the preference: ten of forty. */
	CHECK_GT(nr_there, 25);
	stop(rt);
}

TEST_WORKERS(a_worker_that_does_not_exist_is_an_error)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint32_t bad[] = { SLEY_ON_WORKER(nr_runners()), UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(sley_spawn_with(&group, &task, count_run, NULL,
					 SLEY_OPTIONS(.toward = bad[i])),
			 SLEY_EAFFINITY);
	CHECK_EQ(sley_spawn_with(&group, &task, count_run, NULL,
				 SLEY_OPTIONS(.toward = SLEY_ON_WORKER(0),
					      .pinned = true)),
		 -EINVAL);
	sley_join(&group);
	CHECK_EQ(ran, 0);
	stop(rt);
}
