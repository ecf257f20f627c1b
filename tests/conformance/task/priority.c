/* SPDX-License-Identifier: MIT */
/*
 * priority.c - which of the ready tasks runs: U01, U02, U03, U12, R-U3.
 *
 * The order is exact between levels, and first in, first out within a level
 * other than the default one, whose queues are per worker.
 */
#include <limits.h>

#include "conformance/bound.h"

enum { NR_LEVELS = SLEY_PRIORITY_MAX - SLEY_PRIORITY_MIN + 1, PER_LEVEL = 3 };

struct record {
	int nr;
	struct ranked *seen[NR_LEVELS * PER_LEVEL];
};

struct ranked {
	struct sley_task task;
	struct record *record;
	int priority, serial;
};

static void note(void *arg)
{
	struct ranked *r = arg;

	r->record->seen[r->record->nr++] = r;
}

static void spawn_ranked(struct sley_group *group, struct ranked *r)
{
	CHECK_EQ(sley_spawn_with(group, &r->task, note, r,
				 SLEY_OPTIONS(.priority = r->priority)),
		 0);
}

/* All levels, several tasks each, in random order. */
static void spawn_all_levels(struct sley_group *group, struct ranked *ranked,
			     struct record *record)
{
	int count[NR_LEVELS] = { 0 }, n = NR_LEVELS * PER_LEVEL, i;

	for (i = 0; i < n; i++) {
		int level = (int)test_random(NR_LEVELS);

		while (count[level] == PER_LEVEL)
			level = (level + 1) % NR_LEVELS;
		ranked[i] =
			(struct ranked){ .record = record,
					 .priority = level + SLEY_PRIORITY_MIN,
					 .serial = count[level]++ };
		spawn_ranked(group, &ranked[i]);
	}
}

static void check_order(const struct record *record)
{
	int i;

	CHECK_EQ(record->nr, NR_LEVELS * PER_LEVEL);
	for (i = 1; i < record->nr; i++) {
		const struct ranked *a = record->seen[i - 1];
		const struct ranked *b = record->seen[i];

		CHECK_LE(a->priority, b->priority);
		if (a->priority == b->priority && a->priority != 0)
			CHECK_LT(a->serial, b->serial);
	}
}

TEST(u01_lower_numbers_run_first_and_equals_in_order_single_threaded)
{
	static struct ranked ranked[NR_LEVELS * PER_LEVEL];
	struct sley_config config = config_of(SLEY_SINGLE);
	struct record record = { .nr = 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);

	spawn_all_levels(&group, ranked, &record);
	sley_join(&group);
	check_order(&record);
	stop(rt);
}

TEST(u01_lower_numbers_run_first_and_equals_in_order_on_one_worker)
{
	static struct ranked ranked[NR_LEVELS * PER_LEVEL];
	struct sley_config config = config_of(1);
	struct record record = { .nr = 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct gate gate = { 0 };
	struct sley *rt = start_with(&config);
	struct sley_task holder;

	sley_spawn(&group, &holder, gate_task, &gate);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	spawn_all_levels(&group, ranked, &record);
	gate_open(&gate);
	sley_join(&group);
	check_order(&record);
	stop(rt);
}

TEST_WORKERS(u01_a_priority_out_of_range_is_an_error)
{
	static const int bad[] = { SLEY_PRIORITY_MIN - 1, SLEY_PRIORITY_MAX + 1,
				   INT32_MAX, INT32_MIN };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;
	atomic_int ran = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran,
					 SLEY_OPTIONS(.priority = bad[i])),
			 SLEY_EPRIORITY);
		CHECK_EQ(sley_spawn_on(rt, &group, &task, count_task, &ran,
				       SLEY_OPTIONS(.priority = bad[i])),
			 SLEY_EPRIORITY);
	}
	/* The failed calls have left the group as it was. */
	sley_join(&group);
	CHECK_EQ(ran, 0);
	sley_spawn(&group, &task, count_task, &ran);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(sley_set_priority(&task, bad[i]), SLEY_EPRIORITY);
	sley_join(&group);
	stop(rt);
}

TEST(u01_options_without_their_size_are_an_error)
{
	struct sley_options options = { .priority = 1 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;
	atomic_int ran = 0;

	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran, &options),
		 -EINVAL);
	sley_join(&group);
	CHECK_EQ(ran, 0);
	stop(rt);
}

/* ---- U02: levels and their bitmap under many hands --------------------- */

enum { NR_MIXED = 4000 };

struct mixed {
	struct sley_task task;
	atomic_int runs;
	bool cancelled; /* by its spawner, maybe too late */
};

struct mix {
	struct sley_group group;
	struct mixed *items;
	int from, to;
};

static void run_mixed(void *arg)
{
	struct mixed *m = arg;

	atomic_fetch_add(&m->runs, 1);
	if (test_random(8) == 0)
		sley_yield();
}

/* Spawns at random levels, and moves and cancels what it has spawned. */
static void mix_levels(void *arg)
{
	struct mix *mix = arg;
	int i;

	for (i = mix->from; i < mix->to; i++) {
		int level = (int)test_random(NR_LEVELS) + SLEY_PRIORITY_MIN;
		int other = mix->from +
			    (int)test_random((uint64_t)(i - mix->from + 1));

		CHECK_EQ(sley_spawn_with(&mix->group, &mix->items[i].task,
					 run_mixed, &mix->items[i],
					 SLEY_OPTIONS(.priority = level)),
			 0);
		if (i % 3 == 0)
			CHECK_EQ(sley_set_priority(&mix->items[other].task,
						   level),
				 0);
		if (i % 7 == 0) {
			mix->items[other].cancelled = true;
			sley_cancel(&mix->items[other].task);
		}
	}
	sley_join(&mix->group);
}

TEST_WORKERS(u02_tasks_of_all_levels_run_once_while_they_are_moved_about)
{
	static struct mixed items[NR_MIXED];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task tasks[8];
	struct mix mix[8];
	int i, n = test_scale(NR_MIXED) / 8, status;

	for (i = 0; i < 8; i++) {
		mix[i] = (struct mix){ .items = items,
				       .from = i * n,
				       .to = (i + 1) * n };
		sley_spawn(&group, &tasks[i], mix_levels, &mix[i]);
	}
	sley_join(&group);
	for (i = 0; i < 8 * n; i++) {
		status = sley_task_status(&items[i].task);
		CHECK(status == 0 ||
		      (status == -ECANCELED && items[i].cancelled));
		CHECK_EQ(items[i].runs, status == 0);
	}
	stop(rt);
}

/* ---- U03: a task is in at most one queue ------------------------------- */

struct letters {
	char text[32];
	int n;
	struct sley_event event;
	struct sley_group group;
	struct sley_task extra;
};

struct letter {
	struct sley_task task;
	struct letters *letters;
	char name;
};

static void put(struct letters *l, char name)
{
	l->text[l->n++] = name;
}

static void put_letter(void *arg)
{
	struct letter *l = arg;

	put(l->letters, l->name);
}

static void wait_and_put(void *arg)
{
	struct letter *l = arg;

	CHECK_EQ(sley_event_wait(&l->letters->event), 0);
	put(l->letters, l->name);
}

static void spawn_letter(struct letters *all, struct letter *l, char name,
			 int priority, sley_fn *fn)
{
	*l = (struct letter){ .letters = all, .name = name };
	CHECK_EQ(sley_spawn_with(&all->group, &l->task, fn, l,
				 SLEY_OPTIONS(.priority = priority)),
		 0);
}

TEST(u03_a_queued_task_moves_at_once)
{
	struct sley *rt = start_single();
	struct letters all = { .n = 0 };
	struct letter l[4];

	spawn_letter(&all, &l[0], 'a', 5, put_letter);
	spawn_letter(&all, &l[1], 'b', 10, put_letter);
	spawn_letter(&all, &l[2], 'c', 20, put_letter);
	spawn_letter(&all, &l[3], 'd', 30, put_letter);
	CHECK_EQ(sley_set_priority(&l[2].task, -5), 0);
	CHECK_EQ(sley_set_priority(&l[3].task, 0), 0);
	CHECK_EQ(sley_set_priority(&l[0].task, 31), 0);
	sley_join(&all.group);
	CHECK_STR(all.text, "cdba");
	stop(rt);
}

TEST(u03_a_blocked_task_has_its_new_priority_when_it_wakes)
{
	struct sley *rt = start_single();
	struct letters all = { .event = SLEY_EVENT_INIT };
	struct letter l[3];

	spawn_letter(&all, &l[0], 'a', 5, wait_and_put);
	spawn_letter(&all, &l[1], 'b', 5, wait_and_put);
	spawn_letter(&all, &l[2], 'c', 5, wait_and_put);
	run_all(rt);
	CHECK_EQ(sley_set_priority(&l[1].task, 1), 0);
	CHECK_EQ(sley_set_priority(&l[0].task, 9), 0);
	sley_event_set(&all.event);
	sley_join(&all.group);
	CHECK_STR(all.text, "bca");
	stop(rt);
}

static void spawn_and_yield(void *arg)
{
	static struct letter late, urgent;
	struct letter *l = arg;

	put(l->letters, l->name);
	spawn_letter(l->letters, &late, 'y', -7, put_letter);
	spawn_letter(l->letters, &urgent, 'z', -30, put_letter);
	/* What is more urgent goes first, the rest behind this one. */
	sley_yield();
	put(l->letters, l->name);
}

TEST(u03_a_task_in_the_default_queue_moves_at_once_too)
{
	struct sley *rt = start_single();
	struct letters all = { .n = 0 };
	struct letter l[2];

	spawn_letter(&all, &l[0], 'd', 0, spawn_and_yield);
	spawn_letter(&all, &l[1], 'e', -5, put_letter);
	CHECK_EQ(sley_set_priority(&l[0].task, -10), 0);
	sley_join(&all.group);
	CHECK_STR(all.text, "dzdye");
	stop(rt);
}

TEST(u03_what_has_ended_is_moved_and_cancelled_without_effect)
{
	struct sley *rt = start_single();
	struct letters all = { .n = 0 };
	struct letter l[1];

	spawn_letter(&all, &l[0], 'a', 3, put_letter);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EQ(sley_set_priority(&l[0].task, -3), 0);
	sley_cancel(&l[0].task);
	CHECK_EQ(sley_task_status(&l[0].task), 0);
	CHECK_EQ(sley_run_one(rt), 0);
	sley_join(&all.group);
	CHECK_STR(all.text, "a");
	stop(rt);
}

static void wake_twice_and_spawn(void *arg)
{
	struct letter *l = arg;

	/* The second set finds a task that is ready already. */
	sley_event_set(&l->letters->event);
	sley_event_set(&l->letters->event);
	put(l->letters, l->name);
}

TEST(u03_a_wake_of_a_ready_task_does_not_queue_it_twice)
{
	struct sley *rt = start_single();
	struct letters all = { .event = SLEY_EVENT_INIT };
	struct letter l[3];

	spawn_letter(&all, &l[0], 'w', 7, wait_and_put);
	run_all(rt);
	spawn_letter(&all, &l[1], 's', 7, wake_twice_and_spawn);
	spawn_letter(&all, &l[2], 't', 7, put_letter);
	sley_join(&all.group);
	/* Behind what was ready before it, first in, first out. */
	CHECK_STR(all.text, "stw");
	stop(rt);
}

TEST(u03_an_urgent_fiber_that_wakes_goes_before_what_is_ready)
{
	struct sley *rt = start_single();
	struct letters all = { .event = SLEY_EVENT_INIT };
	struct letter l[4];

	spawn_letter(&all, &l[0], 'u', -20, wait_and_put);
	run_all(rt);
	spawn_letter(&all, &l[1], 's', -1, wake_twice_and_spawn);
	spawn_letter(&all, &l[2], 't', -1, put_letter);
	spawn_letter(&all, &l[3], 'v', 0, put_letter);
	sley_join(&all.group);
	CHECK_STR(all.text, "sutv");
	stop(rt);
}

static void wake_and_move_twice(void *arg)
{
	struct letter *l = arg;
	struct letter *sleeper = l - 1;

	sley_event_set(&l->letters->event);
	CHECK_EQ(sley_set_priority(&sleeper->task, -2), 0);
	sley_event_set(&l->letters->event);
	CHECK_EQ(sley_set_priority(&sleeper->task, 3), 0);
	put(l->letters, l->name);
}

TEST(ru3_wakes_and_new_priorities_leave_a_task_in_one_queue)
{
	struct sley *rt = start_single();
	struct letters all = { .event = SLEY_EVENT_INIT };
	struct letter l[5];

	spawn_letter(&all, &l[0], 'w', 7, wait_and_put);
	run_all(rt);
	/* Blocked: the new level is noted, and the task is in no queue. */
	CHECK_EQ(sley_set_priority(&l[0].task, 1), 0);
	CHECK_EQ(sley_run_one(rt), 0);
	spawn_letter(&all, &l[1], 's', 2, wake_and_move_twice);
	spawn_letter(&all, &l[2], 'a', 1, put_letter);
	spawn_letter(&all, &l[3], 'b', 3, put_letter);
	spawn_letter(&all, &l[4], 'c', 4, put_letter);
	sley_join(&all.group);
	/* Last it was moved to level 3, behind the task that is there. */
	CHECK_STR(all.text, "asbwc");
	stop(rt);
}

/* ---- U12: set_priority in every state, from anywhere --------------------- */

struct change {
	struct sley_task *task;
	int priority;
};

static void *change_in_thread(void *arg)
{
	struct change *c = arg;

	CHECK_EQ(sley_set_priority(c->task, c->priority), 0);
	return NULL;
}

/* By a thread that belongs to no runtime. */
static void change_outside(struct sley_task *task, int priority)
{
	struct change c = { task, priority };

	pthread_join(test_thread(change_in_thread, &c), NULL);
}

/* Tasks in the queue of one worker, which is held meanwhile. */
struct bench {
	struct letters all;
	struct letter l[8];
	struct gate gate[2];
	int nr; /* letters to spawn */
	sley_fn *fn;
};

static void spawn_bench(struct bench *b)
{
	for (int i = 0; i < b->nr; i++)
		spawn_letter(&b->all, &b->l[i], (char)('a' + i), 0, b->fn);
}

/* From its worker, so that they are in its ring. */
static void spawn_and_hold(void *arg)
{
	struct bench *b = arg;

	spawn_bench(b);
	gate_hold(&b->gate[0]);
}

static void wait_held(struct gate *gate)
{
	CHECK_EVENTUALLY(atomic_load(&gate->held) == 1);
}

static struct sley *start_bench(struct bench *b, struct sley_task *task)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	sley_spawn(&b->all.group, task, spawn_and_hold, b);
	wait_held(&b->gate[0]);
	return rt;
}

TEST(u12_set_priority_of_a_ready_task_in_a_ring)
{
	struct bench b = { .nr = 5, .fn = put_letter };
	struct sley_task spawner;
	struct sley *rt = start_bench(&b, &spawner);

	CHECK_EQ(sley_set_priority(&b.l[3].task, -4), 0);
	change_outside(&b.l[4].task, -5);
	change_outside(&b.l[0].task, 1);
	CHECK_EQ(sley_set_priority(&b.l[1].task, -3), 0);
	CHECK_EQ(sley_set_priority(&b.l[1].task, 0), 0);
	gate_open(&b.gate[0]);
	sley_join(&b.all.group);
	CHECK_STR(b.all.text, "edbca");
	stop(rt);
}

TEST(u12_set_priority_of_a_ready_task_in_a_lane_or_the_shared_queue)
{
	struct bench b = { .fn = put_letter };
	struct sley_task spawner;
	struct sley *rt = start_bench(&b, &spawner);

	b.nr = 4;
	spawn_bench(&b);
	change_outside(&b.l[2].task, -5);
	change_outside(&b.l[0].task, 1);
	gate_open(&b.gate[0]);
	sley_join(&b.all.group);
	CHECK_STR(b.all.text, "cbda");
	stop(rt);
}

enum { NR_MANY = 5000 };

struct many {
	struct sley_group group;
	struct gate gate;
	struct sley_task tasks[NR_MANY];
	atomic_int ran;
	int place; /* at which the one in question ran */
};

static struct many many;

static void note_place(void *arg)
{
	(void)arg;
	many.place = atomic_fetch_add(&many.ran, 1);
}

/* More than a ring holds: most go to the shared queue. */
static void spawn_many_and_hold(void *arg)
{
	for (int i = 0; i < NR_MANY; i++)
		sley_spawn(&many.group, &many.tasks[i],
			   i == *(int *)arg ? note_place : count_task,
			   &many.ran);
	gate_hold(&many.gate);
}

static void change_one_of_many(int index, int priority, int expected)
{
	struct sley_config config = config_of(1);
	struct sley_task spawner;
	struct sley *rt = start_with(&config);

	memset(&many, 0, sizeof(many));
	sley_spawn(&many.group, &spawner, spawn_many_and_hold, &index);
	wait_held(&many.gate);
	change_outside(&many.tasks[index], priority);
	gate_open(&many.gate);
	sley_join(&many.group);
	CHECK_EQ(many.place, expected);
	stop(rt);
}

TEST(u12_set_priority_of_one_of_many_ready_tasks)
{
	static const int index[] = { 0,    100,  1000,        2000,
				     3000, 4000, NR_MANY - 1, NR_MANY / 2 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(index); i++) {
		change_one_of_many(index[i], -1, 0);
		change_one_of_many(index[i], 1, NR_MANY - 1);
	}
}

/* They have blocked on the held worker: sent there, or in its own levels. */
static void wake_and_change(bool arrived)
{
	struct bench b = { .nr = 4, .fn = wait_and_put };
	struct sley_task spawner, holder;
	struct sley *rt = start_bench(&b, &spawner);
	struct gate first = { 0 };

	gate_open(&b.gate[0]);
	CHECK_EQ(sley_spawn_with(&b.all.group, &holder, gate_task, &first,
				 SLEY_OPTIONS(.priority = 20)),
		 0);
	wait_held(&first); /* everybody else is blocked now */
	CHECK_EQ(sley_spawn_with(&b.all.group, &spawner, gate_task, &b.gate[1],
				 SLEY_OPTIONS(.priority = -20)),
		 0);
	sley_event_set(&b.all.event);
	if (arrived) {
		gate_open(&first);
		wait_held(&b.gate[1]); /* it went before the woken ones */
	}
	change_outside(&b.l[2].task, -5);
	CHECK_EQ(sley_set_priority(&b.l[0].task, 3), 0);
	gate_open(&first);
	gate_open(&b.gate[1]);
	sley_join(&b.all.group);
	CHECK_STR(b.all.text, "cbda");
	stop(rt);
}

TEST(u12_set_priority_of_a_woken_task_on_its_way_home)
{
	wake_and_change(false);
}

TEST(u12_set_priority_of_a_woken_task_in_the_levels_of_another_worker)
{
	wake_and_change(true);
}

/* Its worker is held, and another one takes its tasks. */
TEST(u12_set_priority_of_a_ready_task_that_is_stolen_afterwards)
{
	struct bench b = { .nr = 6, .fn = put_letter };
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct sley_task spawner, thief;
	const char *at_a, *at_b, *at_c;

	if (test_is_chaotic())
		test_skip("chaos may have moved them apart before");
	sley_spawn(&b.all.group, &thief, gate_task, &b.gate[1]);
	wait_held(&b.gate[1]);
	sley_spawn(&b.all.group, &spawner, spawn_and_hold, &b);
	wait_held(&b.gate[0]);
	change_outside(&b.l[0].task, 7); /* the first one that is stolen */
	change_outside(&b.l[2].task, -7);
	gate_open(&b.gate[1]);
	CHECK_EVENTUALLY(sley_task_status(&b.l[0].task) == 0);
	gate_open(&b.gate[0]);
	sley_join(&b.all.group);
	at_a = strchr(b.all.text, 'a');
	at_b = strchr(b.all.text, 'b');
	at_c = strchr(b.all.text, 'c');
	CHECK_EQ(b.all.n, 6);
	CHECK(at_c < at_b && at_b < at_a);
	CHECK_EQ(at_a - b.all.text, 5);
	stop(rt);
}

static void hold_and_yield(void *arg)
{
	struct bench *b = arg;

	spawn_bench(b);
	gate_hold(&b->gate[0]);
	sley_yield();
	put(&b->all, 'y');
}

TEST(u12_set_priority_of_a_running_task_counts_when_it_yields)
{
	struct bench b = { .nr = 2, .fn = put_letter };
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_task task;

	sley_spawn(&b.all.group, &task, hold_and_yield, &b);
	wait_held(&b.gate[0]);
	change_outside(&task, 9);
	gate_open(&b.gate[0]);
	sley_join(&b.all.group);
	CHECK_STR(b.all.text, "aby");
	stop(rt);
}

static void hold_second(void *arg)
{
	struct bench *b = arg;

	gate_hold(&b->gate[1]);
}

/* It is still RUNNING, and in the levels of its worker. */
TEST(u12_set_priority_of_a_task_that_has_yielded)
{
	struct bench b = { .nr = 0 };
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_task task, holder;

	sley_spawn(&b.all.group, &task, hold_and_yield, &b);
	wait_held(&b.gate[0]);
	CHECK_EQ(sley_spawn_with(&b.all.group, &holder, hold_second, &b,
				 SLEY_OPTIONS(.priority = -9)),
		 0);
	gate_open(&b.gate[0]);
	wait_held(&b.gate[1]);
	b.nr = 2;
	b.fn = put_letter;
	spawn_bench(&b);
	change_outside(&task, 9);
	gate_open(&b.gate[1]);
	sley_join(&b.all.group);
	CHECK_STR(b.all.text, "aby");
	stop(rt);
}

TEST_WORKERS(u12_set_priority_of_a_blocked_or_finished_task_from_outside)
{
	struct letters all = { .event = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct letter l;

	spawn_letter(&all, &l, 'a', 0, wait_and_put);
	while (is_single() && sley_run_one(rt))
		;
	change_outside(&l.task, -1);
	sley_event_set(&all.event);
	while (is_single() && sley_run_one(rt))
		;
	CHECK_EVENTUALLY(sley_task_status(&l.task) == 0);
	change_outside(&l.task, 5);
	CHECK_EQ(sley_task_status(&l.task), 0);
	sley_join(&all.group);
	CHECK_STR(all.text, "a");
	stop(rt);
}

struct changers {
	atomic_bool over;
	struct mixed *items;
	int nr;
};

static void *change_at_random(void *arg)
{
	struct changers *c = arg;

	while (!atomic_load(&c->over)) {
		struct sley_task *task =
			&c->items[test_random((uint64_t)c->nr)].task;
		int priority = (int)test_random(NR_LEVELS) + SLEY_PRIORITY_MIN;

		CHECK_EQ(sley_set_priority(task, priority), 0);
	}
	return NULL;
}

static void block_and_run(void *arg)
{
	struct mixed *m = arg;

	if (test_random(4) == 0)
		CHECK_EQ(sley_sleep(test_random(20) * SLEY_USEC), 0);
	run_mixed(m);
}

TEST_WORKERS(u12_set_priority_from_outside_loses_and_doubles_nothing)
{
	static struct mixed items[NR_MIXED];
	struct sley_group group = SLEY_GROUP_INIT;
	struct changers c = { .items = items, .nr = test_scale(NR_MIXED) };
	struct sley *rt = start();
	pthread_t threads[2];
	int i;

	for (i = 0; i < c.nr; i++) {
		atomic_store(&items[i].runs, 0);
		sley_spawn(&group, &items[i].task, block_and_run, &items[i]);
	}
	for (i = 0; i < 2; i++)
		threads[i] = test_thread(change_at_random, &c);
	sley_join(&group);
	atomic_store(&c.over, true);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < c.nr; i++)
		CHECK_EQ(atomic_load(&items[i].runs), 1);
	stop(rt);
}
