/* SPDX-License-Identifier: MIT */
/*
 * priority_stress.c - levels that change while tasks move from queue to queue.
 *
 * Whatever moves: each task runs once, and once the changes have stopped the
 * tasks that are left run by the levels they were given last.
 */
#include "stress/stress.h"

static int any_priority(void)
{
	/* Half of them the default, which has queues of its own. */
	return one_in(2) ? 0 : (int)test_random(64) + SLEY_PRIORITY_MIN;
}

/* ---- order, once the changes have stopped ----------------------------------- */

enum { NR_SETTERS = 2, NR_RANKED = 4000 };

struct ranked {
	struct sley_task task;
	struct contest *contest;
	int priority;  /* of its setter */
	uint32_t turn; /* when it ran   */
};

struct contest {
	struct ranked ranked[NR_RANKED];
	struct sley_group group;
	atomic_int spawned;
	atomic_uint turns;
	atomic_bool over;
	int nr;
};

struct setter {
	struct contest *contest;
	int index;
};

static void take_turn(void *arg)
{
	struct ranked *r = arg;

	CHECK_EQ(r->turn, 0);
	r->turn = 1 + atomic_fetch_add(&r->contest->turns, 1);
}

/* Each setter has its own tasks, so it knows what it said last. */
static void *set_its_own(void *arg)
{
	struct setter *s = arg;
	struct contest *c = s->contest;

	while (!atomic_load(&c->over)) {
		int nr = atomic_load(&c->spawned) / NR_SETTERS, i;

		if (!nr)
			continue;
		/* Mostly among the newest: they are about to move. */
		i = (int)test_random(one_in(2) ? (uint64_t)nr : 8);
		i = nr - 1 - i % nr;
		i = NR_SETTERS * i + s->index;
		c->ranked[i].priority = any_priority();
		CHECK_EQ(sley_set_priority(&c->ranked[i].task,
					   c->ranked[i].priority),
			 0);
	}
	return NULL;
}

/* On the only worker: nothing runs before it returns. */
static void spawn_ranked(void *arg)
{
	struct contest *c = arg;

	for (int i = 0; i < c->nr; i++) {
		struct ranked *r = &c->ranked[i];

		r->contest = c;
		r->turn = 0;
		r->priority = 0;
		sley_spawn(&c->group, &r->task, take_turn, r);
		atomic_store(&c->spawned, i + 1);
	}
}

static void hold_contest(void *arg)
{
	struct contest *c = arg;
	struct setter setters[NR_SETTERS];
	pthread_t threads[NR_SETTERS];

	for (int i = 0; i < NR_SETTERS; i++) {
		setters[i] = (struct setter){ c, i };
		threads[i] = test_thread(set_its_own, &setters[i]);
	}
	spawn_ranked(c);
	atomic_store(&c->over, true);
	for (int i = 0; i < NR_SETTERS; i++)
		pthread_join(threads[i], NULL);
}

static void check_contest(const struct contest *c)
{
	static const struct ranked *by_turn[NR_RANKED];

	CHECK_EQ(atomic_load(&c->turns), c->nr);
	for (int i = 0; i < c->nr; i++) {
		CHECK_GT(c->ranked[i].turn, 0);
		by_turn[c->ranked[i].turn - 1] = &c->ranked[i];
	}
	for (int i = 1; i < c->nr; i++)
		CHECK_LE(by_turn[i - 1]->priority, by_turn[i]->priority);
}

TEST(stress_tasks_that_overflow_a_ring_run_by_their_last_priority)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	uint64_t end_ns = stress_end();
	static struct contest c;
	struct sley_task task;

	while (sley_now() < end_ns) {
		atomic_store(&c.spawned, 0);
		atomic_store(&c.turns, 0);
		atomic_store(&c.over, false);
		c.nr = 1024 + (int)test_random(NR_RANKED - 1024);
		sley_spawn(&c.group, &task, hold_contest, &c);
		sley_join(&c.group);
		check_contest(&c);
		test_count((uint64_t)c.nr);
	}
	stop(rt);
}

/* ---- once, on several workers ------------------------------------------------- */

enum { NR_ONCE = 3000 };

struct once {
	struct sley_task task;
	atomic_int runs;
};

struct crowd {
	struct once once[NR_ONCE];
	struct sley_group group;
	atomic_int spawned;
	atomic_bool over;
};

static void run_once(void *arg)
{
	struct once *o = arg;

	if (one_in(8))
		dawdle();
	atomic_fetch_add(&o->runs, 1);
}

static void set_any(struct crowd *c)
{
	uint64_t nr = (uint64_t)atomic_load(&c->spawned);

	if (nr)
		CHECK_EQ(sley_set_priority(&c->once[test_random(nr)].task,
					   any_priority()),
			 0);
}

static void *set_in_thread(void *arg)
{
	struct crowd *c = arg;

	while (!atomic_load(&c->over))
		set_any(c);
	return NULL;
}

/* Of another runtime. */
static void set_in_task(void *arg)
{
	struct crowd *c = arg;

	while (!atomic_load(&c->over)) {
		set_any(c);
		dawdle();
	}
}

static void spawn_crowd(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < NR_ONCE; i++) {
		struct once *o = &c->once[i];
		struct sley_options options = sley_options_default();

		options.priority = any_priority();
		options.pinned = one_in(8);
		options.stack_kib = one_in(32) ? 16 : 0;
		atomic_store(&o->runs, 0);
		CHECK_EQ(sley_spawn_with(&c->group, &o->task, run_once, o,
					 &options),
			 0);
		atomic_store(&c->spawned, i + 1);
		if (one_in(64))
			dawdle();
	}
}

/* Nobody sets what is spawned anew: the setters come and go with the tasks. */
static void run_crowd(struct sley *other, struct crowd *c)
{
	struct sley_group group = SLEY_GROUP_INIT, setters = SLEY_GROUP_INIT;
	struct sley_task spawner, setter;
	pthread_t thread;

	atomic_store(&c->spawned, 0);
	atomic_store(&c->over, false);
	thread = test_thread(set_in_thread, c);
	CHECK_EQ(sley_spawn_on(other, &setters, &setter, set_in_task, c, NULL),
		 0);
	sley_spawn(&group, &spawner, spawn_crowd, c);
	sley_join(&group);
	sley_join(&c->group);
	atomic_store(&c->over, true);
	sley_join(&setters);
	pthread_join(thread, NULL);
	for (int i = 0; i < NR_ONCE; i++)
		CHECK_EQ(atomic_load(&c->once[i].runs), 1);
	test_count(NR_ONCE);
}

static void check_crowds(struct sley_config config)
{
	static struct crowd c;
	struct sley_config config_of_other = config_of(2);
	struct sley *rt = start_with(&config), *other;
	uint64_t end_ns = stress_end();

	CHECK_EQ(sley_create(&other, &config_of_other), 0);
	while (sley_now() < end_ns)
		run_crowd(other, &c);
	CHECK_EQ(sley_destroy(other), 0);
	stop(rt);
}

TEST(stress_priorities_change_while_tasks_are_stolen)
{
	check_crowds(stress_config());
}

TEST(stress_priorities_change_while_tasks_are_stolen_without_membarrier)
{
	check_crowds(stress_config_no_membarrier());
}

TEST(stress_priorities_change_while_tasks_migrate)
{
	check_crowds(stress_config_migratable());
}
