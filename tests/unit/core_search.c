/* SPDX-License-Identifier: MIT */
/*
 * core_search.c - a worker that picks for a task that holds the lock of what it is
 * about to wait for takes what is at hand, and leaves the rest for later.
 */
#include "harness/test.h"

#include "core/sched/place.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"

#include <sley/sley.h>
#include <stdatomic.h>

#define PICKS 200 /* some of them are fair ones */
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

static void look(void *arg)
{
	struct sley_waitq q = SLEY_WAITQ_INIT;
	struct worker *worker = worker_current();
	struct sley_task *task;

	(void)arg;
	atomic_store(&started, true);
	while (!atomic_load(&spawned))
		test_nap_ms(1);
	for (int i = 0; i < PICKS; i++)
		CHECK(!pick_for_wait(worker, &q));
	/* With nothing locked it is found, and the fair pick is not forgotten. */
	task = pick_for_wait(worker, NULL);
	CHECK(task);
	place_spawned(worker, task);
	/* Now it is at hand, in the ring. */
	while (!(task = pick_for_wait(worker, &q)))
		;
	place_spawned(worker, task);
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
