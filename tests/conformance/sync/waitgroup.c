/* SPDX-License-Identifier: MIT */
/*
 * waitgroup.c - a counter that can be waited for: M27.
 */
#include "conformance/bound.h"

TEST(m27_done_says_when_the_counter_reaches_zero)
{
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;

	CHECK_EQ(sley_waitgroup_wait(&wg), 0);
	sley_waitgroup_add(&wg, 2);
	sley_waitgroup_add(&wg, 1);
	CHECK(!sley_waitgroup_done(&wg));
	CHECK(!sley_waitgroup_done(&wg));
	CHECK_EQ(sley_waitgroup_wait_until(&wg, in_ms(2)), -ETIMEDOUT);
	CHECK(sley_waitgroup_done(&wg));
	CHECK_EQ(sley_waitgroup_wait(&wg), 0);
	/* And once more. */
	sley_waitgroup_add(&wg, 1);
	CHECK_EQ(sley_waitgroup_wait_until(&wg, 0), -ETIMEDOUT);
	CHECK(sley_waitgroup_done(&wg));
	CHECK_EQ(sley_waitgroup_wait_until(&wg, SLEY_FOREVER), 0);
}

TEST(m27_adding_nothing_changes_nothing)
{
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;

	sley_waitgroup_add(&wg, 0);
	CHECK_EQ(sley_waitgroup_wait(&wg), 0);
}

/* marl wraps around in its release build. */
TEST_ABORTS(m27_one_done_too_many_aborts,
	    "sley: misuse in sley_waitgroup_done: called more often than "
	    "sley_waitgroup_add() allowed")
{
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;

	sley_waitgroup_add(&wg, 1);
	sley_waitgroup_done(&wg);
	sley_waitgroup_done(&wg);
}

static void *done_in_thread(void *wg)
{
	test_nap_ms(1);
	sley_waitgroup_done(wg);
	return NULL;
}

TEST(m27_plain_threads_wait_without_any_runtime)
{
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;
	pthread_t threads[8];
	int i;

	sley_waitgroup_add(&wg, 8);
	for (i = 0; i < 8; i++)
		threads[i] = test_thread(done_in_thread, &wg);
	CHECK_EQ(sley_waitgroup_wait(&wg), 0);
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

struct work {
	struct sley_waitgroup wg;
	atomic_int zeroes, before, after;
};

static void work_and_done(void *arg)
{
	struct work *w = arg;

	if (test_random(4) == 0)
		sley_yield();
	atomic_fetch_add(&w->before, 1);
	if (sley_waitgroup_done(&w->wg))
		atomic_fetch_add(&w->zeroes, 1);
}

static void wait_for_work(void *arg)
{
	struct work *w = arg;

	CHECK_EQ(sley_waitgroup_wait(&w->wg), 0);
	CHECK_EQ(w->before, 500);
	atomic_fetch_add(&w->after, 1);
}

TEST_WORKERS(m27_many_tasks_one_of_them_is_the_last_and_all_waiters_pass)
{
	static struct sley_task tasks[520];
	struct work w = { SLEY_WAITGROUP_INIT, 0, 0, 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int round, i;

	for (round = 0; round < test_scale(16); round++) {
		w.zeroes = w.before = w.after = 0;
		sley_waitgroup_add(&w.wg, 500);
		for (i = 0; i < 520; i++)
			sley_spawn(&group, &tasks[i],
				   i % 26 ? work_and_done : wait_for_work, &w);
		CHECK_EQ(sley_waitgroup_wait(&w.wg), 0);
		CHECK_EQ(w.before, 500);
		sley_join(&group);
		CHECK_EQ(w.zeroes, 1);
		CHECK_EQ(w.after, 20);
	}
	stop(rt);
}

static void done_only(void *wg)
{
	sley_waitgroup_done(wg);
}

__attribute__((noinline)) static void wait_on_a_short_lived_group(void)
{
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;

	sley_waitgroup_add(&wg, 1);
	CHECK_EQ(sley_schedule(done_only, &wg), 0);
	CHECK_EQ(sley_waitgroup_wait(&wg), 0);
	/* The last done() may touch nothing from here on. */
	spoil(&wg, sizeof(wg));
}

TEST_WORKERS(m27_a_wait_group_may_stand_on_a_stack_that_returns)
{
	struct sley *rt = start();
	int i;

	for (i = 0; i < test_scale(5000); i++)
		wait_on_a_short_lived_group();
	stop(rt);
}
