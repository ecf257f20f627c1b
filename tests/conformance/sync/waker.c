/* SPDX-License-Identifier: MIT */
/*
 * waker.c - tasks that are woken by number: U10, U12.
 */
#include "conformance/bound.h"

struct sleeper {
	struct sley_task task;
	struct sley_waker waker;
	struct sley_event known; /* the waker can be read */
	int result;
	int data; /* plain: written before the wake */
};

static void suspend_once(void *arg)
{
	struct sleeper *s = arg;

	CHECK_EQ(sley_waker_self(&s->waker), 0);
	sley_event_set(&s->known);
	s->result = sley_suspend();
	if (s->result == 0)
		CHECK_EQ(s->data, 42);
}

static void spawn_sleeper(struct sley_group *group, struct sleeper *s)
{
	*s = (struct sleeper){ .result = 1 };
	sley_spawn(group, &s->task, suspend_once, s);
}

static void step_all(struct sley *rt)
{
	while (is_single() && sley_run_one(rt))
		;
}

static void *wake_in_thread(void *arg)
{
	struct sleeper *s = arg;

	s->data = 42;
	CHECK_EQ(sley_wake(&s->waker), 0);
	return NULL;
}

TEST_WORKERS(u10_a_task_is_woken_by_its_waker_from_any_thread)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sleeper s[3];

	for (int i = 0; i < 3; i++)
		spawn_sleeper(&group, &s[i]);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_event_wait(&s[i].known), 0);
	CHECK_EQ(sley_nr_wakers(), 3);
	/* A bound thread, one without a runtime, and by the id alone. */
	(void)wake_in_thread(&s[0]);
	pthread_join(test_thread(wake_in_thread, &s[1]), NULL);
	s[2].data = 42;
	CHECK_EQ(sley_wake_id(s[2].waker.id), 0);
	sley_join(&group);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(s[i].result, 0);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

static void wake_in_task(void *arg)
{
	(void)wake_in_thread(arg);
}

TEST_WORKERS(u10_a_task_is_woken_from_another_runtime)
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start(), *other = NULL;
	struct sleeper s;

	CHECK_EQ(sley_create(&other, &config), 0);
	spawn_sleeper(&group, &s);
	CHECK_EQ(sley_event_wait(&s.known), 0);
	CHECK_EQ(sley_schedule_on(other, wake_in_task, &s, NULL), 0);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	CHECK_EQ(sley_destroy(other), 0);
	stop(rt);
}

TEST_WORKERS(u10_a_wake_after_the_end_of_the_task_is_refused)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sleeper s, later;

	spawn_sleeper(&group, &s);
	CHECK_EQ(sley_event_wait(&s.known), 0);
	s.data = 42;
	CHECK_EQ(sley_wake(&s.waker), 0);
	sley_join(&group);
	CHECK_EQ(sley_wake(&s.waker), -ESRCH);
	CHECK_EQ(sley_set_priority_id(s.waker.id, 3), -ESRCH);
	/* Nor does it hit who has the same slot now. */
	spawn_sleeper(&group, &later);
	CHECK_EQ(sley_event_wait(&later.known), 0);
	CHECK_EQ((uint32_t)later.waker.id, (uint32_t)s.waker.id);
	CHECK_NE(later.waker.id, s.waker.id);
	CHECK_EQ(sley_wake(&s.waker), -ESRCH);
	step_all(rt);
	CHECK_EQ(later.result, 1);
	later.data = 42;
	CHECK_EQ(sley_wake(&later.waker), 0);
	sley_join(&group);
	CHECK_EQ(later.result, 0);
	stop(rt);
}

TEST(u10_numbers_that_were_never_given_are_refused)
{
	static const uint64_t bad[] = { 0,          1,          UINT64_MAX,
					1ull << 32, 7ull << 32, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(sley_wake_id(bad[i]), -ESRCH);
		CHECK_EQ(sley_set_priority_id(bad[i], 0), -ESRCH);
		CHECK_EQ(sley_set_priority_id(bad[i], 99), SLEY_EPRIORITY);
	}
}

static void look_at_self(void *arg)
{
	struct sley_waker first, second;
	struct sleeper *s = arg;

	CHECK_EQ(sley_waker_self(&first), 0);
	CHECK_NE(first.id, 0);
	CHECK_EQ(first.priority, 5);
	CHECK_EQ(sley_set_priority(&s->task, -2), 0);
	sley_yield();
	CHECK_EQ(sley_waker_self(&second), 0);
	CHECK_EQ(second.id, first.id);
	CHECK_EQ(second.priority, -2);
	CHECK_EQ(second.queue, first.queue);
	CHECK_NE(first.queue, 0);
}

TEST_WORKERS(u10_a_task_has_one_waker_for_its_life)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sleeper s;

	CHECK_EQ(sley_spawn_with(&group, &s.task, look_at_self, &s,
				 SLEY_OPTIONS(.priority = 5)),
		 0);
	sley_join(&group);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

static void count_wakes(void *arg)
{
	struct sleeper *s = arg;

	CHECK_EQ(sley_waker_self(&s->waker), 0);
	CHECK_EQ(sley_wake(&s->waker), 0);
	CHECK_EQ(sley_wake(&s->waker), 0);
	CHECK_EQ(sley_suspend(), 0);
	/* The second one was absorbed. */
	CHECK_EQ(sley_suspend_until(in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(sley_suspend_until(0), -ETIMEDOUT);
	CHECK_EQ(sley_wake(&s->waker), 0);
	CHECK_EQ(sley_suspend_until(0), 0);
}

TEST_WORKERS(u10_a_wake_that_comes_first_is_remembered_once)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sleeper s;

	sley_spawn(&group, &s.task, count_wakes, &s);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(u10_a_suspended_task_can_be_cancelled)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sleeper s;

	spawn_sleeper(&group, &s);
	CHECK_EQ(sley_event_wait(&s.known), 0);
	sley_cancel(&s.task);
	sley_join(&group);
	CHECK_EQ(s.result, -ECANCELED);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

TEST(u10_a_bound_thread_that_runs_tasks_has_a_waker_until_it_unbinds)
{
	struct sley *rt = start_single();
	struct sley_waker waker;

	CHECK_EQ(sley_waker_self(&waker), 0);
	CHECK_EQ(sley_wake(&waker), 0);
	CHECK_EQ(sley_suspend(), 0);
	stop(rt);
	CHECK_EQ(sley_wake(&waker), -ESRCH);
	CHECK_EQ(sley_nr_wakers(), 0);
}

TEST_ABORTS(u10_a_plain_thread_has_no_waker,
	    "sley: misuse: only tasks have wakers")
{
	int err = sley_suspend();

	(void)err;
}

/* ---- U12: spawn gives the number ----------------------------------------- */

static void suspend_spawned(void *arg)
{
	struct sleeper *s = arg;
	struct sley_waker self;

	CHECK_EQ(sley_waker_self(&self), 0);
	CHECK_EQ(self.id, s->waker.id);
	s->result = sley_suspend();
}

TEST_WORKERS(u12_spawn_gives_the_waker_before_the_task_starts)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sleeper s[2] = { { .result = 1 }, { .result = 1 } };

	CHECK_EQ(sley_spawn_with(&group, &s[0].task, suspend_spawned, &s[0],
				 SLEY_OPTIONS(.waker = &s[0].waker,
					      .priority = -3)),
		 0);
	CHECK_EQ(sley_spawn_on(rt, &group, &s[1].task, suspend_spawned, &s[1],
			       SLEY_OPTIONS(.waker = &s[1].waker,
					    .stack_kib = 64)),
		 0);
	CHECK_EQ(s[0].waker.priority, -3);
	CHECK_EQ(sley_nr_wakers(), 2);
	CHECK_EQ(sley_wake(&s[0].waker), 0);
	CHECK_EQ(sley_wake(&s[1].waker), 0);
	sley_join(&group);
	CHECK_EQ(s[0].result, 0);
	CHECK_EQ(s[1].result, 0);
	CHECK_EQ(sley_nr_wakers(), 0);
	CHECK_EQ(sley_wake(&s[0].waker), -ESRCH);
	stop(rt);
}

static void suspend_detached(void *arg)
{
	CHECK_EQ(sley_suspend(), 0);
	count_task(arg);
}

TEST_WORKERS(u12_a_detached_task_is_woken_by_number)
{
	struct sley *rt = start();
	struct sley_waker waker;
	atomic_int ran = 0;

	CHECK_EQ(sley_schedule_on(rt, suspend_detached, &ran,
				  SLEY_OPTIONS(.waker = &waker)),
		 0);
	step_all(rt);
	CHECK_EQ(sley_wake(&waker), 0);
	step_all(rt);
	CHECK_EVENTUALLY(sley_wake(&waker) == -ESRCH);
	stop(rt);
	CHECK_EQ(atomic_load(&ran), 1);
	CHECK_EQ(sley_nr_wakers(), 0);
}

TEST(u12_a_task_that_never_starts_gives_its_waker_back)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task task[2];
	struct sley_waker waker[2];
	atomic_int ran = 0;

	for (uint32_t i = 0; i < 2; i++)
		CHECK_EQ(sley_spawn_with(&group, &task[i], count_task, &ran,
					 SLEY_OPTIONS(.waker = &waker[i],
						      .stack_kib = 64 * i)),
			 0);
	sley_cancel(&task[0]);
	sley_cancel(&task[1]);
	CHECK_EQ(sley_wake(&waker[0]), 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&ran), 0);
	CHECK_EQ(sley_wake(&waker[0]), -ESRCH);
	CHECK_EQ(sley_wake(&waker[1]), -ESRCH);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

static void suspend_or_be_cancelled(void *arg)
{
	const bool *may_be_woken = arg;
	int err = sley_suspend();

	/* The wake comes before the cancel, but the task may not wait yet. */
	if (*may_be_woken)
		CHECK(err == 0 || err == -ECANCELED);
	else
		CHECK_EQ(err, -ECANCELED);
}

/* Some have started by then, some never will. */
TEST_WORKERS(u12_cancel_all_gives_the_wakers_back)
{
	static bool is_woken[2] = { true, false };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task[50];
	struct sley_waker waker[50];

	for (int i = 0; i < 50; i++)
		CHECK_EQ(sley_spawn_with(&group, &task[i],
					 suspend_or_be_cancelled,
					 &is_woken[i % 2],
					 SLEY_OPTIONS(.waker = &waker[i])),
			 0);
	for (int i = 0; i < 50; i += 2)
		(void)sley_wake(&waker[i]);
	sley_cancel_all(rt);
	sley_join(&group);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

TEST(u12_a_spawn_that_fails_makes_no_waker)
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	static struct sley_task many[10000];
	struct gate gate = { 0 };
	struct sley_waker waker;
	struct sley_task task;
	atomic_int ran = 0;
	int i = 0, err;

	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran,
				 SLEY_OPTIONS(.waker = &waker, .priority = 99)),
		 SLEY_EPRIORITY);
	sley_spawn(&group, &task, gate_task, &gate);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	test_fail_allocation_after(0);
	/* Until the slab of strands is full. */
	do {
		CHECK_LT(i, 10000);
		err = sley_spawn_with(&group, &many[i], count_task, &ran,
				      SLEY_OPTIONS(.waker = &waker,
						   .stack_kib = 16));
		if (!err)
			CHECK_EQ(sley_nr_wakers(), ++i);
	} while (!err);
	CHECK_EQ(err, -ENOMEM);
	CHECK_EQ(sley_nr_wakers(), i);
	test_fail_allocation_after(-1);
	gate_open(&gate);
	sley_join(&group);
	CHECK_EQ(atomic_load(&ran), i);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

/* ---- U12: set_priority by number ------------------------------------------- */

struct letters {
	char text[8];
	int n;
};

struct letter {
	struct sley_task task;
	struct sley_waker waker;
	struct letters *all;
	char name;
};

static void put_letter(void *arg)
{
	struct letter *l = arg;

	CHECK_EQ(sley_suspend(), 0);
	l->all->text[l->all->n++] = l->name;
}

TEST(u12_set_priority_by_number_ready_blocked_and_finished)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct letters all = { .n = 0 };
	struct letter l[4];

	for (int i = 0; i < 4; i++) {
		l[i] = (struct letter){ .all = &all, .name = (char)('a' + i) };
		CHECK_EQ(sley_spawn_with(&group, &l[i].task, put_letter, &l[i],
					 SLEY_OPTIONS(.waker = &l[i].waker)),
			 0);
	}
	/* Ready, not started. */
	CHECK_EQ(sley_set_priority_id(l[3].waker.id, -9), 0);
	run_all(rt);
	/* Blocked. */
	CHECK_EQ(sley_set_priority_id(l[0].waker.id, 9), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_wake(&l[i].waker), 0);
	/* Ready, woken: the wakers still say 0. */
	CHECK_EQ(sley_set_priority_id(l[2].waker.id, -4), 0);
	CHECK_EQ(l[2].waker.priority, 0);
	sley_join(&group);
	CHECK_STR(all.text, "dcba");
	CHECK_EQ(sley_set_priority_id(l[0].waker.id, 0), -ESRCH);
	stop(rt);
}
