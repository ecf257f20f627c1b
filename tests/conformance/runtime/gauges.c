/* SPDX-License-Identifier: MIT */
/*
 * gauges.c - the counters, queue lengths and load of one worker.
 */
#include "conformance/bound.h"

static struct sley_worker_stats stats_at(struct sley *rt, int worker)
{
	struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;

	CHECK_EQ(sley_get_worker_stats(rt, worker, &stats), 0);
	CHECK_EQ(stats.size, sizeof(stats));
	CHECK_EQ(stats.ready,
		 stats.ring + stats.lane + stats.next + stats.own + stats.home);
	return stats;
}

TEST_WORKERS(a_worker_that_does_not_exist_has_no_figures)
{
	struct sley *rt = start();
	struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;
	int bad[] = { -1, sley_nr_workers(rt), INT32_MIN, INT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(sley_get_worker_stats(rt, bad[i], &stats), -EINVAL);
	for (int i = 0; i < sley_nr_workers(rt); i++)
		(void)stats_at(rt, i);
	stop(rt);
}

TEST(figures_of_a_shorter_or_longer_struct_are_given)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct {
		struct sley_worker_stats stats;
		uint64_t later;
	} longer = { .later = 7 };

	CHECK_EQ(sley_get_worker_stats(rt, 0, &longer.stats), -EINVAL);
	longer.stats.size = sizeof(longer);
	CHECK_EQ(sley_get_worker_stats(rt, 0, &longer.stats), 0);
	CHECK_EQ(longer.stats.size, sizeof(longer));
	CHECK_EQ(longer.later, 0);
	longer.stats.size = offsetof(struct sley_worker_stats, ready);
	longer.stats.ready = longer.stats.timers = 77;
	CHECK_EQ(sley_get_worker_stats(rt, 0, &longer.stats), 0);
	CHECK_EQ(longer.stats.ready, 77);
	CHECK_EQ(longer.stats.timers, 77);
	stop(rt);
}

TEST_WORKERS(the_counters_of_the_workers_are_the_counters_of_the_runtime)
{
	struct sley *rt = start();
	uint64_t finished = 0;
	atomic_int ran = 0;

	run_tasks(300, count_task, &ran);
	CHECK_EVENTUALLY(stats_of(rt).finished == 300);
	for (int i = 0; i < sley_nr_workers(rt); i++)
		finished += stats_at(rt, i).finished;
	CHECK_EQ(finished, is_single() ? 0 : 300);
	stop(rt);
}

static void sleep_and_yield(void *arg)
{
	CHECK_EQ(sley_sleep(SLEY_USEC * 50), 0);
	sley_yield();
	count_task(arg);
}

static bool all_asleep(struct sley *rt)
{
	for (int i = 0; i < sley_nr_workers(rt); i++)
		if (!stats_at(rt, i).asleep)
			return false;
	return true;
}

/* A worker that is held makes tasks, so that the other worker steals. */
static void queue_for_thieves(void *arg)
{
	atomic_int *ran = arg;

	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_schedule(sleep_and_yield, ran), 0);
	while (atomic_load(ran) < 20)
		test_nap_ms(1);
}

TEST(each_counter_of_the_runtime_is_the_sum_over_the_workers)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct sley_worker_stats sum = { .size = 0 };
	struct sley_stats stats;
	atomic_int ran = 0;

	CHECK_EQ(sley_schedule(queue_for_thieves, &ran), 0);
	CHECK_EVENTUALLY(stats_of(rt).finished == 21);
	/* Nobody wakes them: the counters stay. */
	CHECK_EVENTUALLY(all_asleep(rt));
	stats = stats_of(rt);
	for (int i = 0; i < 2; i++) {
		struct sley_worker_stats one = stats_at(rt, i);

		sum.finished += one.finished;
		sum.switches += one.switches;
		sum.steals += one.steals;
		sum.parks += one.parks;
	}
	CHECK_EQ(sum.finished, stats.finished);
	CHECK_EQ(sum.switches, stats.switches);
	CHECK_EQ(sum.steals, stats.steals);
	CHECK_EQ(sum.parks, stats.parks);
	CHECK_GE(sum.switches, 1);
	CHECK_GE(sum.steals, 1);
	CHECK_GE(sum.parks, 2);
	stop(rt);
}

/* ---- lengths, while the worker is held --------------------------------------------------- */

#define NR 30

struct held {
	struct sley *rt;
	struct gate gate;
	struct sley_group group;
	struct sley_task tasks[NR], pinned[NR], low[NR], home[NR];
	struct sley_event event;
	atomic_int waiting;
	int ran;
};

static void count_plain(void *arg)
{
	((struct held *)arg)->ran++; /* there is one worker */
}

static void wait_for_event(void *arg)
{
	struct held *held = arg;

	atomic_fetch_add(&held->waiting, 1);
	CHECK_EQ(sley_event_wait(&held->event), 0);
	held->ran++;
}

/* New tasks go to the ring, pinned ones to the worker's own, low ones are shared. */
static void queue_and_hold(void *arg)
{
	struct held *held = arg;

	for (int i = 0; i < NR; i++) {
		sley_spawn(&held->group, &held->tasks[i], count_plain, held);
		CHECK_EQ(sley_spawn_with(&held->group, &held->pinned[i],
					 count_plain, held,
					 SLEY_OPTIONS(.pinned = true,
						      .priority = i % 2)),
			 0);
		CHECK_EQ(sley_spawn_with(&held->group, &held->low[i],
					 count_plain, held,
					 SLEY_OPTIONS(.priority = 1 + i % 3)),
			 0);
	}
	gate_hold(&held->gate);
}

TEST(tasks_behind_a_held_worker_are_counted)
{
	struct sley_config config = config_of(1);
	static struct held held;
	struct sley_group waiters = SLEY_GROUP_INIT;
	struct sley_worker_stats stats;
	struct sley_task holder;
	struct sley *rt;

	if (test_is_chaotic())
		test_skip("chaos moves tasks about");
	rt = held.rt = start_with(&config);
	held.group = (struct sley_group)SLEY_GROUP_INIT;
	held.event = (struct sley_event)SLEY_EVENT_INIT;
	for (int i = 0; i < NR; i++)
		sley_spawn(&waiters, &held.home[i], wait_for_event, &held);
	CHECK_EVENTUALLY(atomic_load(&held.waiting) == NR);
	sley_spawn(&held.group, &holder, queue_and_hold, &held);
	CHECK_EVENTUALLY(atomic_load(&held.gate.held) == 1);
	stats = stats_at(rt, 0);
	CHECK_EQ(stats.ring, NR);
	CHECK_EQ(stats.own, NR);
	CHECK_EQ(stats.home, 0);
	CHECK_EQ(stats.lane, 0);
	CHECK_EQ(stats.asleep, 0);
	CHECK_EQ(stats_of(rt).shared_queued, NR);
	/* From this thread: to the home list of the held worker. */
	sley_event_set(&held.event);
	CHECK_EQ(stats_at(rt, 0).home, NR);
	CHECK_EQ(stats_at(rt, 0).ready, 3 * NR);
	gate_open(&held.gate);
	sley_join(&held.group);
	sley_join(&waiters);
	CHECK_EQ(held.ran, 4 * NR);
	CHECK_EVENTUALLY(stats_at(rt, 0).asleep);
	CHECK_EQ(stats_at(rt, 0).ready, 0);
	CHECK_EQ(stats_of(rt).shared_queued, 0);
	stop(rt);
}

static void wake_and_hold(void *arg)
{
	struct held *held = arg;

	sley_event_set(&held->event);
	gate_hold(&held->gate);
}

TEST(a_task_that_a_held_worker_has_woken_is_counted)
{
	struct sley_config config = config_of(1);
	static struct held held;
	struct sley *rt;

	if (test_is_chaotic())
		test_skip("chaos moves tasks about");
	config.migratable = true; /* or the task would be the worker's own */
	rt = start_with(&config);
	held.group = (struct sley_group)SLEY_GROUP_INIT;
	held.event = (struct sley_event)SLEY_EVENT_INIT;
	sley_spawn(&held.group, &held.home[0], wait_for_event, &held);
	CHECK_EVENTUALLY(atomic_load(&held.waiting) == 1 &&
			 stats_at(rt, 0).asleep);
	CHECK_EQ(stats_at(rt, 0).next, 0);
	sley_spawn(&held.group, &held.tasks[0], wake_and_hold, &held);
	CHECK_EVENTUALLY(atomic_load(&held.gate.held) == 1);
	CHECK_EQ(stats_at(rt, 0).next, 1);
	CHECK_EQ(stats_at(rt, 0).ready, 1);
	gate_open(&held.gate);
	sley_join(&held.group);
	CHECK_EQ(stats_at(rt, 0).next, 0);
	stop(rt);
}

TEST(tasks_sent_toward_a_held_worker_are_counted)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct gate gate = { 0 };
	atomic_int ran = 0;

	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	for (int i = 0; i < NR; i++)
		CHECK_EQ(sley_schedule_on(
				 rt, count_task, &ran,
				 SLEY_OPTIONS(.toward = SLEY_ON_WORKER(0))),
			 0);
	CHECK_EQ(stats_at(rt, 0).lane, NR);
	gate_open(&gate);
	CHECK_EVENTUALLY(ran == NR);
	CHECK_EQ(stats_at(rt, 0).ready, 0);
	stop(rt);
}

/* Every queue is used, by all threads; in the end all lengths are zero. */
TEST_WORKERS(lengths_are_zero_when_all_tasks_have_ended)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 200; i++) {
			uint32_t toward =
				i % 3 ? SLEY_ON_WORKER(i % nr_runners()) : 0;

			CHECK_EQ(sley_schedule_on(
					 rt, sleep_and_yield, &ran,
					 SLEY_OPTIONS(.toward = toward,
						      .priority = i % 5 - 2)),
				 0);
		}
		CHECK_SOON(ran == 200 * (round + 1));
	}
	for (int i = 0; i < sley_nr_workers(rt); i++) {
		CHECK_SOON(stats_at(rt, i).asleep);
		CHECK_EQ(stats_at(rt, i).ready, 0);
		CHECK_EQ(stats_at(rt, i).timers, 0);
	}
	CHECK_EQ(stats_of(rt).shared_queued, 0);
	stop(rt);
}

static void wait_an_hour(void *arg)
{
	struct held *held = arg;

	CHECK_EQ(sley_event_wait_until(&held->event,
				       sley_after(3600 * SLEY_SEC)),
		 0);
}

TEST(deadlines_are_counted)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	static struct held held;

	held.event = (struct sley_event)SLEY_EVENT_INIT;
	for (int i = 0; i < NR; i++)
		sley_spawn(&group, &held.tasks[i], wait_an_hour, &held);
	CHECK_EVENTUALLY(stats_at(rt, 0).timers == NR);
	sley_event_set(&held.event);
	sley_join(&group);
	CHECK_EQ(stats_at(rt, 0).timers, 0);
	stop(rt);
}

/* ---- load ---------------------------------------------------------------------------------- */

TEST(the_load_of_a_busy_worker_is_full_and_of_an_idle_worker_none)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct gate gate = { 0 };
	uint64_t start_ns;
	int busy;

	if (test_is_chaotic())
		test_skip("chaos wakes workers");
	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	CHECK_EVENTUALLY(stats_at(rt, 0).asleep || stats_at(rt, 1).asleep);
	busy = stats_at(rt, 0).asleep;
	/*
	 * Five times the mean: what was before counts for less than a hundredth.
	 * A mean over all of the time would need minutes to fall again.
	 */
	start_ns = sley_now();
	CHECK_EVENTUALLY(stats_at(rt, busy).load > 980 &&
			 ms_since(start_ns) > 500);
	CHECK_EVENTUALLY(stats_at(rt, 1 - busy).load < 20);
	gate_open(&gate);
	/* The monitor sleeps, too: the reader goes by the clock. */
	CHECK_EVENTUALLY(stats_at(rt, 0).asleep && stats_at(rt, 1).asleep);
	CHECK_EVENTUALLY(stats_at(rt, busy).load < 20);
	stop(rt);
}
