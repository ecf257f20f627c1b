/* SPDX-License-Identifier: MIT */
/*
 * event.c - manual and automatic events, any of several: M25, M26, R-U2.
 */
#include "conformance/bound.h"

/* ---- M25 without a runtime: plain threads are enough ------------------- */

TEST(m25_a_manual_event_lets_everybody_pass_until_it_is_cleared)
{
	struct sley_event event = SLEY_EVENT_INIT;

	CHECK(!sley_event_is_set(&event));
	CHECK(!sley_event_try(&event));
	sley_event_set(&event);
	CHECK(sley_event_is_set(&event));
	CHECK(sley_event_try(&event));
	CHECK_EQ(sley_event_wait(&event), 0);
	CHECK_EQ(sley_event_wait_until(&event, 0), 0);
	CHECK(sley_event_is_set(&event));
	sley_event_clear(&event);
	CHECK(!sley_event_is_set(&event));
	CHECK_EQ(sley_event_wait_until(&event, in_ms(2)), -ETIMEDOUT);
}

TEST(m25_an_automatic_event_lets_one_pass_per_set)
{
	struct sley_event event = SLEY_EVENT_AUTO_INIT;

	CHECK(!sley_event_try(&event));
	sley_event_set(&event);
	sley_event_set(&event); /* absorbed */
	CHECK(sley_event_is_set(&event));
	CHECK(sley_event_is_set(&event)); /* looking consumes nothing */
	CHECK(sley_event_try(&event));
	CHECK(!sley_event_try(&event));
	sley_event_set(&event);
	CHECK_EQ(sley_event_wait(&event), 0);
	CHECK(!sley_event_is_set(&event));
	CHECK_EQ(sley_event_wait_until(&event, in_ms(2)), -ETIMEDOUT);
	sley_event_set(&event);
	sley_event_clear(&event);
	CHECK(!sley_event_try(&event));
}

TEST(m25_an_event_may_begin_set)
{
	struct sley_event event;
	int automatic, set;

	for (automatic = 0; automatic < 2; automatic++) {
		for (set = 0; set < 2; set++) {
			sley_event_init(&event, automatic, set);
			CHECK_EQ(sley_event_is_set(&event), set);
			CHECK_EQ(sley_event_try(&event), set);
			CHECK_EQ(sley_event_is_set(&event), set && !automatic);
		}
	}
}

struct waiters {
	struct sley_event event;
	atomic_int waiting, passed;
	char order[64];
};

struct waiter {
	struct sley_task task;
	struct waiters *all;
	int index;
};

static void *wait_in_thread(void *arg)
{
	struct waiters *w = arg;

	atomic_fetch_add(&w->waiting, 1);
	CHECK_EQ(sley_event_wait(&w->event), 0);
	atomic_fetch_add(&w->passed, 1);
	return NULL;
}

TEST(m25_plain_threads_wait_without_any_runtime)
{
	struct waiters w = { .event = SLEY_EVENT_AUTO_INIT };
	pthread_t threads[8];
	int i;

	for (i = 0; i < 8; i++)
		threads[i] = test_thread(wait_in_thread, &w);
	CHECK_EVENTUALLY(atomic_load(&w.waiting) == 8);
	for (i = 1; i <= 8; i++) {
		sley_event_set(&w.event);
		CHECK_EVENTUALLY(atomic_load(&w.passed) == i);
		test_nap_ms(1);
		CHECK_EQ(w.passed, i);
	}
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	CHECK(!sley_event_is_set(&w.event));
}

/* ---- M25 with tasks ---------------------------------------------------- */

static void wait_in_task(void *arg)
{
	wait_in_thread(arg);
}

/* Spawns @n tasks that wait for the event of @w. */
static void spawn_waiters(struct sley *rt, struct sley_group *group,
			  struct sley_task *tasks, struct waiters *w, int n)
{
	int i;

	for (i = 0; i < n; i++)
		sley_spawn(group, &tasks[i], wait_in_task, w);
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&w->waiting) == n);
}

TEST_WORKERS(m25_one_set_releases_a_thousand_waits_on_a_manual_event)
{
	static struct sley_task tasks[1000];
	struct waiters w = { .event = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int n = test_scale(1000);

	spawn_waiters(rt, &group, tasks, &w, n);
	CHECK_EQ(w.passed, 0);
	sley_event_set(&w.event);
	sley_join(&group);
	CHECK_EQ(w.passed, n);
	stop(rt);
}

static void wait_an_hour(void *arg)
{
	struct waiters *w = arg;

	atomic_fetch_add(&w->waiting, 1);
	CHECK_EQ(sley_event_wait_until(&w->event, in_ms(3600000)), 0);
	atomic_fetch_add(&w->passed, 1);
}

TEST_WORKERS(m25_one_set_releases_a_thousand_waits_with_a_deadline)
{
	static struct sley_task tasks[1000];
	struct waiters w = { .event = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int n = test_scale(1000);

	for (int i = 0; i < n; i++)
		sley_spawn(&group, &tasks[i], wait_an_hour, &w);
	while (atomic_load(&w.waiting) < n)
		CHECK_EQ(sley_sleep(100 * SLEY_USEC), 0);
	CHECK_EQ(w.passed, 0);
	sley_event_set(&w.event);
	sley_join(&group);
	CHECK_EQ(w.passed, n);
	stop(rt);
}

TEST_WORKERS(m25_one_set_of_an_automatic_event_releases_one_wait)
{
	static struct sley_task tasks[50];
	struct waiters w = { .event = SLEY_EVENT_AUTO_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	spawn_waiters(rt, &group, tasks, &w, 50);
	/* A waiter that has counted itself may not be waiting yet. */
	for (i = 1; i <= 50; i++) {
		sley_event_set(&w.event);
		while (atomic_load(&w.passed) < i)
			CHECK_EQ(sley_sleep(50 * SLEY_USEC), 0);
		CHECK_EQ(w.passed, i);
	}
	sley_join(&group);
	CHECK(!sley_event_is_set(&w.event));
	stop(rt);
}

static void note_order(void *arg)
{
	struct waiter *w = arg;

	CHECK_EQ(sley_event_wait(&w->all->event), 0);
	w->all->order[w->all->passed++] = (char)('a' + w->index);
}

TEST(m25_an_automatic_event_serves_first_come_first_served)
{
	struct waiters all = { .event = SLEY_EVENT_AUTO_INIT };
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct waiter w[6];
	int i;

	/* Stepped one by one, so they wait in this order. */
	for (i = 0; i < 6; i++) {
		w[i] = (struct waiter){ .all = &all, .index = i };
		sley_spawn(&group, &w[i].task, note_order, &w[i]);
		CHECK_EQ(sley_run_one(rt), 1);
	}
	for (i = 0; i < 6; i++)
		sley_event_set(&all.event);
	sley_join(&group);
	CHECK_STR(all.order, "abcdef");
	stop(rt);
}

struct baton {
	struct sley_event event[65]; /* automatic */
	int rounds, nr;
};

struct runner {
	struct sley_task task;
	struct baton *baton;
	int index;
};

static void pass_baton(void *arg)
{
	struct runner *r = arg;
	int i;

	for (i = 0; i < r->baton->rounds; i++) {
		CHECK_EQ(sley_event_wait(&r->baton->event[r->index]), 0);
		sley_event_set(&r->baton->event[(r->index + 1) % r->baton->nr]);
	}
}

TEST_WORKERS(m25_a_baton_goes_around_and_is_never_lost)
{
	struct baton baton = { .rounds = test_scale(200), .nr = 16 };
	struct runner runners[16];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	for (i = 0; i < baton.nr; i++) {
		sley_event_init(&baton.event[i], true, false);
		runners[i] = (struct runner){ .baton = &baton, .index = i };
	}
	for (i = 0; i < baton.nr; i++)
		sley_spawn(&group, &runners[i].task, pass_baton, &runners[i]);
	sley_event_set(&baton.event[0]);
	sley_join(&group);
	CHECK(sley_event_try(&baton.event[0]));
	stop(rt);
}

/* ---- M26: any of several ----------------------------------------------- */

TEST(m26_any_returns_the_index_and_consumes_that_one_only)
{
	struct sley_event a = SLEY_EVENT_AUTO_INIT, b = SLEY_EVENT_AUTO_INIT;
	struct sley_event manual = SLEY_EVENT_INIT;
	struct sley_event *events[] = { &a, &b, &manual };

	sley_event_set(&b);
	CHECK_EQ(sley_event_wait_any(events, 3), 1);
	CHECK(!sley_event_is_set(&b));
	CHECK_EQ(sley_event_wait_any_until(events, 3, 0), -ETIMEDOUT);
	CHECK_EQ(sley_event_wait_any_until(events, 3, in_ms(2)), -ETIMEDOUT);
	sley_event_set(&manual);
	CHECK_EQ(sley_event_wait_any(events, 3), 2);
	CHECK_EQ(sley_event_wait_any(events, 3), 2);
	sley_event_clear(&manual);
	sley_event_set(&a);
	sley_event_set(&b);
	/* Both are set: one is taken, the other stays. */
	CHECK_NE(sley_event_wait_any(events, 3), 2);
	CHECK_EQ(sley_event_is_set(&a) + sley_event_is_set(&b), 1);
}

TEST(m26_any_of_none_or_of_too_many_is_an_error)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_event *events[SLEY_EVENT_ANY_MAX + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		events[i] = &event;
	sley_event_set(&event);
	CHECK_EQ(sley_event_wait_any(events, 0), -EINVAL);
	CHECK_EQ(sley_event_wait_any(events, ARRAY_SIZE(events)), -EINVAL);
	CHECK_EQ(sley_event_wait_any_until(events, 0, 0), -EINVAL);
	/* The same event 64 times is fine. */
	CHECK_GE(sley_event_wait_any(events, SLEY_EVENT_ANY_MAX), 0);
}

struct any {
	struct sley_event event[4]; /* automatic */
	atomic_int taken[4];
	atomic_int total;
	int expected;
};

static void take_any(void *arg)
{
	struct any *any = arg;
	struct sley_event *events[] = { &any->event[0], &any->event[1],
					&any->event[2], &any->event[3],
					&any->event[1] };
	int got;

	while (atomic_load(&any->total) < any->expected) {
		got = sley_event_wait_any_until(events, ARRAY_SIZE(events),
						in_ms(1));
		if (got == -ETIMEDOUT)
			continue;
		CHECK(got >= 0 && got < (int)ARRAY_SIZE(events));
		atomic_fetch_add(&any->taken[got == 4 ? 1 : got], 1);
		atomic_fetch_add(&any->total, 1);
	}
}

struct any_setter {
	struct sley_task task;
	struct any *any;
	int index;
};

static void set_and_await(void *arg)
{
	struct any_setter *s = arg;
	int i;

	for (i = 1; i <= 100; i++) {
		sley_event_set(&s->any->event[s->index]);
		/* The next set would be absorbed before this one is taken. */
		while (atomic_load(&s->any->taken[s->index]) < i)
			CHECK_EQ(sley_sleep(20 * SLEY_USEC), 0);
		CHECK_EQ(s->any->taken[s->index], i);
	}
}

TEST_WORKERS(m26_each_set_releases_one_any_and_none_is_lost)
{
	struct any any = { .expected = 400 };
	struct any_setter setters[4];
	struct sley_task takers[6];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	for (i = 0; i < 4; i++)
		sley_event_init(&any.event[i], true, false);
	for (i = 0; i < 6; i++)
		sley_spawn(&group, &takers[i], take_any, &any);
	for (i = 0; i < 4; i++) {
		setters[i] = (struct any_setter){ .any = &any, .index = i };
		sley_spawn(&group, &setters[i].task, set_and_await,
			   &setters[i]);
	}
	sley_join(&group);
	CHECK_EQ(any.total, 400);
	for (i = 0; i < 4; i++)
		CHECK(!sley_event_is_set(&any.event[i]));
	stop(rt);
}

struct link {
	struct sley_event *set, *lasting;
	atomic_int passed;
};

static void wait_on_two(void *arg)
{
	struct link *link = arg;
	struct sley_event *events[] = { link->lasting, link->set };

	CHECK_EQ(sley_event_wait_any(events, 2), 1);
	atomic_fetch_add(&link->passed, 1);
}

/* marl never removes the link and keeps all of them; here none remains. */
TEST_WORKERS(m26_a_wait_that_is_over_leaves_nothing_at_the_other_events)
{
	struct sley_event lasting = SLEY_EVENT_AUTO_INIT;
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int64_t before = 0;
	int i;

	for (i = 0; i < test_scale(1000); i++) {
		struct sley_event set = SLEY_EVENT_AUTO_INIT;
		struct link link = { &set, &lasting, 0 };

		sley_spawn(&group, &task, wait_on_two, &link);
		if (i % 2)
			CHECK_EQ(sley_sleep(20 * SLEY_USEC), 0);
		sley_event_set(&set);
		sley_join(&group);
		CHECK_EQ(link.passed, 1);
		if (i == 100)
			before = test_allocated();
	}
	if (i > 101)
		CHECK_LE(test_allocated(), before + 65536);
	/* Nobody is there to take this: the set stays. */
	sley_event_set(&lasting);
	CHECK(sley_event_try(&lasting));
	stop(rt);
}

/* ---- R-U2: a wake before the task is known to wait ---------------------------- */

#define NR_LISTED 32

/*
 * The wake comes while the task enters itself at one event after the other, and before it
 * has left its stack.
 */
struct early {
	struct sley_event events[NR_LISTED];
	atomic_int round;  /* of the wait that begins; -1: over            */
	atomic_int inside; /* threads that run the task                    */
	int rounds;
};

static void wait_at_all(struct early *early)
{
	struct sley_event *listed[NR_LISTED];

	for (int i = 0; i < NR_LISTED; i++)
		listed[i] = &early->events[i];
	CHECK_EQ(atomic_fetch_sub(&early->inside, 1), 1);
	CHECK_EQ(sley_event_wait_any_until(listed, NR_LISTED,
					   sley_after(10 * SLEY_SEC)),
		 0);
	CHECK_EQ(atomic_fetch_add(&early->inside, 1), 0);
}

static void wait_each_round(void *arg)
{
	struct early *early = arg;

	atomic_store(&early->inside, 1);
	for (int i = 1; i <= early->rounds; i++) {
		atomic_store(&early->round, i);
		wait_at_all(early);
	}
	atomic_store(&early->round, -1);
}

static void *set_each_round(void *arg)
{
	struct early *early = arg;
	int seen = 0, round;

	while ((round = atomic_load(&early->round)) >= 0) {
		if (round == seen)
			continue;
		seen = round;
		for (uint64_t left = test_random(400); left; left--)
			atomic_signal_fence(memory_order_seq_cst);
		sley_event_set(&early->events[0]);
	}
	return NULL;
}

TEST_WORKERS(ru2_a_wake_before_the_task_has_left_its_stack_is_kept)
{
	struct early early = { .rounds = test_scale(3000) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;
	pthread_t thread;

	for (int i = 0; i < NR_LISTED; i++)
		early.events[i] = (struct sley_event)SLEY_EVENT_AUTO_INIT;
	thread = test_thread(set_each_round, &early);
	sley_spawn(&group, &task, wait_each_round, &early);
	sley_join(&group);
	pthread_join(thread, NULL);
	stop(rt);
}
