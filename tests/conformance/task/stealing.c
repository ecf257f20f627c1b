/* SPDX-License-Identifier: MIT */
/*
 * stealing.c - every task is found, once, by somebody who has time:
 * W13 to W19, T1, T2, T6, T19, T20.
 */
#include <limits.h>
#include <sley/cpus.h>
#include <stdlib.h>

#include "conformance/bound.h"

/* ---- W13: every source is looked at ------------------------------------ */

struct sources {
	struct sley *rt;
	struct sley_event event;
	atomic_int local, pinned, woken, slept, foreign;
};

static void from_event(void *arg)
{
	struct sources *s = arg;

	CHECK_EQ(sley_event_wait(&s->event), 0);
	atomic_fetch_add(&s->woken, 1);
}

static void from_timer(void *arg)
{
	struct sources *s = arg;

	CHECK_EQ(sley_sleep(test_random(3000) * SLEY_USEC), 0);
	atomic_fetch_add(&s->slept, 1);
}

static void spawn_locally(void *arg)
{
	struct sources *s = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[20];
	int i;

	for (i = 0; i < 10; i++)
		sley_spawn(&group, &tasks[i], count_task, &s->local);
	for (; i < 20; i++)
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], count_task,
					 &s->pinned,
					 SLEY_OPTIONS(.pinned = true)),
			 0);
	sley_join(&group);
}

static void *spawn_foreign(void *arg)
{
	struct sources *s = arg;
	int i;

	for (i = 0; i < 100; i++)
		CHECK_EQ(sley_schedule_on(s->rt, count_task, &s->foreign, NULL),
			 0);
	return NULL;
}

TEST_WORKERS(w13_work_is_found_wherever_it_comes_from)
{
	static struct sley_task tasks[300];
	struct sources s = { .event = SLEY_EVENT_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	pthread_t thread = pthread_self();
	int i;

	s.rt = start();
	for (i = 0; i < 100; i++) {
		sley_spawn(&group, &tasks[i], from_event, &s);
		sley_spawn(&group, &tasks[100 + i], from_timer, &s);
		sley_spawn(&group, &tasks[200 + i], spawn_locally, &s);
	}
	if (!is_single())
		thread = test_thread(spawn_foreign, &s);
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	sley_event_set(&s.event);
	sley_join(&group);
	if (!is_single())
		pthread_join(thread, NULL);
	stop(s.rt);
	CHECK_EQ(s.local, 1000);
	CHECK_EQ(s.pinned, 1000);
	CHECK_EQ(s.woken, 100);
	CHECK_EQ(s.slept, 100);
	CHECK_EQ(s.foreign, is_single() ? 0 : 100);
}

/* ---- W13: no source starves another ------------------------------------- */

enum { LOCAL, PINNED, FOREIGN, WOKEN, NR_SOURCES };

/* How many tasks of the rush each worker has run. */
struct turns {
	atomic_long of[64];
};

/* No worker's own queue is ever empty: each task of it queues the next one. */
struct rush {
	atomic_bool over;
	struct turns turns;
	struct sley_event event;
	struct source {
		struct rush *rush;
		atomic_int home;    /* the worker that has it; -1: any */
		struct turns since; /* when it was certainly there     */
		struct turns then;  /* when it ran                     */
		atomic_bool ran;
	} source[NR_SOURCES];
};

static int this_worker(void)
{
	return is_single() ? 0 : sley_worker();
}

static void copy_turns(struct turns *to, const struct turns *from)
{
	for (int i = 0; i < nr_runners(); i++)
		to->of[i] = from->of[i];
}

static void rush_on(void *arg)
{
	struct rush *rush = arg;

	rush->turns.of[this_worker()]++;
	if (!rush->over)
		CHECK_EQ(sley_schedule(rush_on, rush), 0);
}

static void source_runs(void *arg)
{
	struct source *source = arg;

	copy_turns(&source->then, &source->rush->turns);
	source->ran = true;
}

static void source_wakes(void *arg)
{
	struct source *source = arg;

	source->home = this_worker();
	CHECK_EQ(sley_event_wait(&source->rush->event), 0);
	source_runs(source);
}

static void offer_from_inside(void *arg)
{
	struct rush *rush = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	for (int i = LOCAL; i <= PINNED; i++) {
		rush->source[i].home = this_worker();
		copy_turns(&rush->source[i].since, &rush->turns);
	}
	sley_spawn(&group, &task[0], source_runs, &rush->source[LOCAL]);
	CHECK_EQ(sley_spawn_with(&group, &task[1], source_runs,
				 &rush->source[PINNED],
				 SLEY_OPTIONS(.pinned = true)),
		 0);
	sley_join(&group);
}

static bool all_rush(const struct rush *rush)
{
	for (int i = 0; i < nr_runners(); i++)
		if (rush->turns.of[i] < 10)
			return false;
	return true;
}

static bool rush_is_served(const struct rush *rush)
{
	for (int i = 0; i < NR_SOURCES; i++)
		if (!rush->source[i].ran)
			return false;
	return true;
}

/* The turns for which @source had to wait, of the worker that had it. */
static long turns_of_wait(const struct source *source)
{
	long least = LONG_MAX;

	for (int i = 0; i < nr_runners(); i++) {
		long turns = source->then.of[i] - source->since.of[i];

		if (source->home == i)
			return turns;
		if (turns < least)
			least = turns;
	}
	return least;
}

/*
 * In turns and not in time, so that no other load matters.  A worker that the kernel
 * has stopped takes no turns: so the turns are those of the worker that had to run
 * the task.  What comes from outside could be taken by each worker; one of them must
 * have taken it soon.
 */
TEST_WORKERS(w13_no_source_of_work_starves_while_another_never_ends)
{
	static struct rush rush;
	struct sley *rt;

	if (nr_runners() > 8)
		test_skip("busy threads wait for a CPU, and not for sley");
	rt = start();
	rush = (struct rush){ .event = SLEY_EVENT_INIT };
	for (int i = 0; i < NR_SOURCES; i++)
		rush.source[i] = (struct source){ .rush = &rush, .home = -1 };
	CHECK_EQ(sley_schedule(source_wakes, &rush.source[WOKEN]), 0);
	CHECK_SOON(rush.source[WOKEN].home >= 0);
	for (int i = 0; i < 2 * nr_runners(); i++)
		CHECK_EQ(sley_schedule(rush_on, &rush), 0);
	CHECK_SOON(all_rush(&rush));
	CHECK_EQ(sley_schedule(offer_from_inside, &rush), 0);
	CHECK_EQ(sley_schedule_on(rt, source_runs, &rush.source[FOREIGN], NULL),
		 0);
	copy_turns(&rush.source[FOREIGN].since, &rush.turns);
	sley_event_set(&rush.event);
	copy_turns(&rush.source[WOKEN].since, &rush.turns);
	CHECK_SOON(rush_is_served(&rush));
	for (int i = 0; i < NR_SOURCES; i++)
		CHECK_LE(turns_of_wait(&rush.source[i]), 2000);
	rush.over = true;
	stop(rt);
}

/* ---- W14, W15, T1, T2: exactly once ------------------------------------ */

enum { NR_ITEMS = 20000 };

struct item {
	struct sley_task task;
	atomic_int runs;
};

struct batch {
	struct sley_group group;
	struct item *items;
	int nr;
};

static void run_item(void *arg)
{
	struct item *item = arg;

	atomic_fetch_add(&item->runs, 1);
	if (((uintptr_t)item / sizeof(*item)) % 64 == 0)
		sley_yield();
}

static void spawn_batch(void *arg)
{
	struct batch *b = arg;
	int i;

	for (i = 0; i < b->nr; i++)
		sley_spawn(&b->group, &b->items[i].task, run_item,
			   &b->items[i]);
}

static void check_once(struct item *items, int n)
{
	int i;

	for (i = 0; i < n; i++)
		CHECK_EQ(items[i].runs, 1);
}

/* One task spawns far more than a ring holds. */
TEST_WORKERS(w14_a_burst_from_one_worker_overflows_and_loses_nothing)
{
	static struct item items[NR_ITEMS];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct batch b = { .items = items, .nr = test_scale(NR_ITEMS) };
	struct sley_task task;

	sley_spawn(&group, &task, spawn_batch, &b);
	sley_join(&group);
	sley_join(&b.group);
	check_once(items, b.nr);
	stop(rt);
}

/*
 * Wippy's thieves take half of a deque whose owner takes from the same half:
 * of four million items some ran twice and some never.  The explorer proves
 * the ring; this looks at the whole.
 */
TEST_WORKERS(t01_each_task_runs_exactly_once_while_all_steal_from_all)
{
	static struct item items[NR_ITEMS];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task spawners[16];
	struct batch b[16];
	int round, i, n = test_scale(NR_ITEMS) / 16;

	for (round = 0; round < test_scale(16); round++) {
		memset((void *)items, 0, sizeof(items));
		for (i = 0; i < 16; i++) {
			b[i] = (struct batch){ .items = items + i * n,
					       .nr = n };
			sley_spawn(&group, &spawners[i], spawn_batch, &b[i]);
		}
		sley_join(&group);
		for (i = 0; i < 16; i++)
			sley_join(&b[i].group);
		check_once(items, 16 * n);
	}
	stop(rt);
}

/* ---- W16, W18: thieves find their victim, wakes find a sleeper --------- */

struct nest {
	struct sley_group group;
	struct sley_task tasks[64];
	struct gate gate;
	int nr;
};

/* Puts n - 1 tasks beside itself and then holds its worker. */
static void fill_and_hold(void *arg)
{
	struct nest *nest = arg;
	int i;

	for (i = 1; i < nest->nr; i++)
		sley_spawn(&nest->group, &nest->tasks[i], gate_task,
			   &nest->gate);
	gate_hold(&nest->gate);
}

TEST_WORKERS(w16_idle_workers_find_the_one_victim_that_has_work)
{
	struct nest nest = { .nr = nr_runners() };
	struct sley *rt = start();
	int round;

	need_workers(2);
	for (round = 0; round < 10; round++) {
		atomic_store(&nest.gate.held, 0);
		atomic_store(&nest.gate.open, false);
		sley_spawn(&nest.group, &nest.tasks[0], fill_and_hold, &nest);
		CHECK_EVENTUALLY(atomic_load(&nest.gate.held) == nest.nr);
		gate_open(&nest.gate);
		sley_join(&nest.group);
		test_nap_ms(test_random(3));
	}
	stop(rt);
}

enum { NR_RAIDS = 60 };

/*
 * One worker is the thief; all others are victims, and stay so.  In each raid each
 * victim has one task, its loot.
 */
struct raid {
	struct sley_group loot;
	atomic_int victims; /* that hold a worker                            */
	atomic_int number;  /* of the raid; NR_RAIDS + 1: they are over      */
	atomic_int ready;   /* victims whose loot is there                   */
	atomic_int robbed;  /* victims, in this raid                         */
	int nr;             /* victims                                       */
	struct victim {
		struct raid *raid;
		struct sley_task task, loot;
		int first; /* raids in which this was the first victim    */
	} victim[63];
};

static void be_robbed(void *arg)
{
	struct victim *victim = arg;

	if (atomic_fetch_add(&victim->raid->robbed, 1) == 0)
		victim->first++;
}

/* Never leaves its worker, so that only the thief can run the loot. */
static void be_victim(void *arg)
{
	struct victim *victim = arg;
	struct raid *raid = victim->raid;

	atomic_fetch_add(&raid->victims, 1);
	for (int number = 1; number <= NR_RAIDS; number++) {
		while (atomic_load(&raid->number) < number)
			test_nap_ms(1);
		sley_spawn(&raid->loot, &victim->loot, be_robbed, victim);
		atomic_fetch_add(&raid->ready, 1);
	}
	while (atomic_load(&raid->number) <= NR_RAIDS)
		test_nap_ms(1);
}

/* Holds its worker until all loot is there; then the worker has to steal. */
static void be_thief(void *arg)
{
	struct raid *raid = arg;

	while (atomic_load(&raid->victims) < raid->nr)
		test_nap_ms(1);
	for (int number = 1; number <= NR_RAIDS; number++) {
		atomic_store(&raid->ready, 0);
		atomic_store(&raid->robbed, 0);
		atomic_store(&raid->number, number);
		while (atomic_load(&raid->ready) < raid->nr)
			test_nap_ms(1);
		sley_join(&raid->loot);
		CHECK_EQ(raid->robbed, raid->nr);
	}
	atomic_store(&raid->number, NR_RAIDS + 1);
}

/*
 * Wippy's thieves all begin with the same victim until something is submitted.  Here
 * no victim is the first too often: of three victims each is so in 20 of 60 raids on
 * the average, and in more than 45 about once in 10^11 runs.  On one CPU, where no
 * victim is nearer than another.
 */
TEST_WORKERS(w16_a_thief_does_not_always_begin_with_the_same_victim)
{
	static struct raid raid;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config = *test_config();
	struct sley_cpus cpus, one = { 0 };
	struct sley_task thief;
	struct sley *rt;

	need_workers(4);
	CHECK_GT(sley_cpus_usable(&cpus), 0);
	CHECK(sley_cpus_add(&one, sley_cpus_nth(&cpus, 0)));
	config.cpus = &one;
	rt = start_with(&config);
	raid = (struct raid){ .nr = nr_runners() - 1 };
	sley_spawn(&group, &thief, be_thief, &raid);
	for (int i = 0; i < raid.nr; i++) {
		raid.victim[i].raid = &raid;
		sley_spawn(&group, &raid.victim[i].task, be_victim,
			   &raid.victim[i]);
	}
	sley_join(&group);
	for (int i = 0; i < raid.nr; i++)
		CHECK_LE(raid.victim[i].first, 45);
	stop(rt);
}

TEST_WORKERS(w18_a_wake_is_not_spent_on_a_busy_worker)
{
	struct sley *rt = start();
	struct sley_group held = SLEY_GROUP_INIT, group = SLEY_GROUP_INIT;
	struct sley_task holders[64], task;
	struct gate gate = { 0 };
	atomic_int ran = 0;
	int i, n = nr_runners();

	need_workers(2);
	for (i = 0; i < n - 1; i++)
		sley_spawn(&held, &holders[i], gate_task, &gate);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == n - 1);
	for (i = 0; i < 100; i++) {
		if (i % 4 == 0)
			test_nap_ms(1); /* the last one falls asleep */
		sley_spawn(&group, &task, count_task, &ran);
		CHECK_EQ(sley_join_until(&group, in_ms(5000)), 0);
	}
	CHECK_EQ(ran, 100);
	gate_open(&gate);
	sley_join(&held);
	stop(rt);
}

/* ---- W17: idle workers sleep ------------------------------------------- */

TEST_WORKERS(w17_idle_workers_sleep)
{
	struct sley *rt = start();
	struct sley_stats stats;
	atomic_int ran = 0;
	uint64_t before;

	need_workers(1);
	run_tasks(64, count_task, &ran);
	test_nap_ms(100);
	before = test_process_cpu_ns();
	test_nap_ms(500);
	/* A single spinning worker would need most of 500 ms. */
	CHECK_LT(test_process_cpu_ns() - before, 50 * SLEY_MSEC);
	sley_get_stats(rt, &stats);
	CHECK_GE(stats.parks, (uint64_t)nr_runners());
	stop(rt);
}

/* ---- T6: no wake-up is lost -------------------------------------------- */

static void submit_and_wait(struct sley_config *config, int rounds)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt = NULL;
	atomic_int ran = 0;
	int i;

	CHECK_EQ(sley_create(&rt, config), 0);
	for (i = 0; i < rounds; i++) {
		/* Meets the workers at every step of falling asleep. */
		uint64_t pause = sley_now() + test_random(100) * SLEY_USEC;

		CHECK_EQ(sley_spawn_on(rt, &group, &task, count_task, &ran,
				       NULL),
			 0);
		CHECK_EQ(sley_join_until(&group, in_ms(10000)), 0);
		while (i % 2 && sley_now() < pause)
			;
	}
	CHECK_EQ(ran, rounds);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_WORKERS(t06_work_from_outside_never_stalls_while_workers_fall_asleep)
{
	struct sley_config config = *test_config();

	need_workers(1);
	test_timeout(60);
	submit_and_wait(&config, test_scale(8000));
}

TEST_WORKERS(t06_nor_without_membarrier)
{
	struct sley_config config = *test_config();

	need_workers(1);
	test_timeout(60);
	config.no_membarrier = true;
	submit_and_wait(&config, test_scale(8000));
}

/* ---- T19, W19: what waits behind a busy worker goes elsewhere ---------- */

struct behind {
	struct sley_group group;
	struct sley_task task, holder;
	struct sley_event event;
	struct gate gate;
};

static void open_the_gate(void *arg)
{
	struct behind *b = arg;

	CHECK_EQ(atomic_load(&b->gate.held), 1);
	gate_open(&b->gate);
}

/* Its worker is held until the task it left behind has run elsewhere. */
static void leave_behind_and_hold(void *arg)
{
	struct behind *b = arg;

	atomic_store(&b->gate.held, 1);
	sley_spawn(&b->group, &b->task, open_the_gate, b);
	while (!atomic_load(&b->gate.open))
		test_nap_ms(1);
}

TEST_WORKERS(t19_a_new_task_behind_a_busy_worker_is_taken_by_an_idle_one)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int round;

	need_workers(2);
	for (round = 0; round < 20; round++) {
		struct behind b = { .event = SLEY_EVENT_INIT };

		sley_spawn(&group, &b.holder, leave_behind_and_hold, &b);
		sley_join(&group);
		sley_join(&b.group);
	}
	stop(rt);
}

/* Its worker is given to a task that holds it; then it is woken. */
static void wake_behind_a_busy_worker(void *arg)
{
	struct behind *b = arg;

	CHECK_EQ(sley_spawn_with(&b->group, &b->holder, gate_task, &b->gate,
				 SLEY_OPTIONS(.pinned = true)),
		 0);
	CHECK_EQ(sley_event_wait(&b->event), 0);
	gate_open(&b->gate);
}

/*
 * Wippy: 99 ms, with the other worker idle.  A fiber of a runtime that is not
 * migratable is at home on its worker, as marl guarantees.
 */
TEST_WORKERS(w19_a_woken_migratable_fiber_does_not_wait_for_its_busy_worker)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt;
	int round;

	need_workers(2);
	config.migratable = true;
	rt = start_with(&config);
	for (round = 0; round < 20; round++) {
		struct behind b = { .event = SLEY_EVENT_INIT };

		sley_spawn(&group, &b.task, wake_behind_a_busy_worker, &b);
		CHECK_EVENTUALLY(atomic_load(&b.gate.held) == 1);
		sley_event_set(&b.event);
		sley_join(&group);
		sley_join(&b.group);
	}
	stop(rt);
}
