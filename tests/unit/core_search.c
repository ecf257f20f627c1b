/* SPDX-License-Identifier: MIT */
/*
 * core_search.c - a worker that picks for a task that holds the lock of what it is
 * about to wait for takes what is at hand, and leaves the rest for later.  And how
 * often a worker without work looks for work before it sleeps.
 */
#include "harness/test.h"

#include "core/sched/place.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"

#include <sley/sley.h>
#include <stdatomic.h>

#define PICKS 200 /* each of them would be a fair one */
#define BELLS 200
#define FAIR 1000 /* so many picks later a pick is fair */

static atomic_bool started, spawned, ran;

static void run(void *arg)
{
	(void)arg;
	atomic_store(&ran, true);
}

/* As wait_leave() would, up to the switch. */
static struct sley_task *pick_for_wait(struct worker *worker,
				       struct sley_waitq *q)
{
	struct sley_task *task;

	worker->after.kind = AFTER_WAIT;
	worker->after.q = q;
	task = worker_pick(worker);
	worker->after.kind = AFTER_NOTHING;
	return task;
}

/* The tasks are at hand, in the ring; a fair pick may come first. */
static void take_both(struct worker *worker, struct sley_waitq *q)
{
	struct sley_task *task[2];

	for (int i = 0; i < 2; i++) {
		while (!(task[i] = pick_for_wait(worker, q)))
			;
	}
	place_spawned(worker, task[0]);
	place_spawned(worker, task[1]);
}

static void look(void *arg)
{
	struct sley_waitq q = SLEY_WAITQ_INIT;
	struct worker *worker = worker_current();
	struct sley_task *first, *second;

	(void)arg;
	atomic_store(&started, true);
	while (!atomic_load(&spawned))
		test_nap_ms(1);
	/* One task is taken, and the other one is not moved to the ring. */
	worker->tick = 0;
	first = pick_for_wait(worker, &q);
	CHECK(first);
	CHECK_EQ(ring_size(&worker->ring), 0u);
	/* Nothing else is done for a fair pick, and no such pick is made. */
	store_relaxed(&worker->poke, 1);
	for (int i = 0; i < PICKS; i++)
		CHECK(!pick_for_wait(worker, &q));
	/* With nothing locked the fair pick comes, and finds the other task. */
	second = pick_for_wait(worker, NULL);
	CHECK(second);
	place_spawned(worker, first);
	place_spawned(worker, second);
	take_both(worker, &q);
}

TEST(a_shared_queue_is_not_emptied_under_the_lock_of_a_list)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	if (test_is_chaotic())
		test_skip("chaos steals, and moves tasks about");
	config.workers = 1;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(sley_schedule(look, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&started));
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_schedule(run, NULL), 0);
	atomic_store(&spawned, true);
	CHECK_EVENTUALLY(atomic_load(&ran));
	sley_unbind(rt);
	sley_destroy(rt);
}

struct bell {
	struct alarm alarm;
	struct worker *worker;
	atomic_bool rung;
};

static void hold(struct alarm *alarm)
{
	(void)alarm;
}

/* The monitor may be the one that rings: it has no lock of the task. */
static void ring(struct alarm *alarm)
{
	struct bell *bell = container_of(alarm, struct bell, alarm);

	if (worker_current() == bell->worker)
		CHECK(!after_is_wait(&bell->worker->after));
	atomic_store(&bell->rung, true);
}

/* The bell is due at some time during one of these picks. */
static void pick_until_due(struct worker *worker)
{
	struct bell bell = { .alarm = { .hold = hold, .ring = ring },
			     .worker = worker };
	struct sley_waitq q = SLEY_WAITQ_INIT;
	uint64_t due_ns = sley_now() + test_random(5000);

	(void)alarm_start(&worker->timers, &bell.alarm, due_ns);
	while (sley_now() <= due_ns + 1000) {
		worker->tick = FAIR;
		CHECK(!pick_for_wait(worker, &q));
	}
	worker_fire_timers(worker);
	while (!atomic_load(&bell.rung))
		test_nap_ms(1);
}

static void pick_with_bells(void *arg)
{
	(void)arg;
	for (int i = 0; i < BELLS; i++)
		pick_until_due(worker_current());
}

TEST(no_alarm_rings_under_the_lock_of_a_list)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;

	if (test_is_chaotic())
		test_skip("chaos steals, and moves tasks about");
	config.workers = 1;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	sley_spawn(&group, &task, pick_with_bells, NULL);
	sley_join(&group);
	sley_unbind(rt);
	sley_destroy(rt);
}

/* ---- looks before a worker sleeps ---------------------------------------------------- */

static struct worker *sleeper;
static uint32_t nr_picks;
static atomic_int nr_ran;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

/* On the worker, in place of its loop: until a task comes.  Each look is a pick. */
static void search_in_vain(void *arg)
{
	struct sley_task *task;

	(void)arg;
	sleeper = worker_current();
	sleeper->tick = 0;
	atomic_store(&started, true);
	task = worker_search(sleeper);
	nr_picks = sleeper->tick;
	place_spawned(sleeper, task);
}

/* How often a worker that finds nothing looks, and once more when it is woken. */
static uint32_t picks_with(uint32_t spin_us, uint32_t floor_ns)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	config.workers = 1;
	config.spin_us = spin_us;
	atomic_store(&started, false);
	atomic_store(&nr_ran, 0);
	CHECK_EQ(sley_create(&rt, &config), 0);
	runtime_set_spin_floor(rt, floor_ns);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(sley_schedule(search_in_vain, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&started) &&
			 idle_is_parked(&sleeper->seat));
	CHECK_EQ(sley_schedule(count, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == 1);
	sley_unbind(rt);
	sley_destroy(rt);
	return nr_picks;
}

TEST(a_worker_told_not_to_spin_sleeps_after_its_first_look_in_vain)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	/* Before it counts as a searcher, after that, and when it is woken. */
	CHECK_EQ(picks_with(SLEY_NO_SPIN, 0), 3);
}

TEST(a_source_of_work_may_ask_for_a_longer_search)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	/* So short that no pick is the 61st, which begins the count anew. */
	CHECK_GT(picks_with(SLEY_NO_SPIN, 1), 3);
	CHECK_GT(picks_with(1, 0), 3);
}
