/* SPDX-License-Identifier: MIT */
/*
 * idle.c - a worker without work: how long it looks for work before it sleeps, and
 * the function that it calls then.
 */
#include "conformance/bound.h"

TEST(the_time_of_a_search_has_limits_and_a_default)
{
	static const uint32_t bad[] = { 1000001, UINT32_MAX - 1 };
	static const uint32_t good[] = { 0, 1, 20, 5000, 1000000, SLEY_NO_SPIN };
	struct sley_config config = config_of(2), effective = config;
	struct sley *rt;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		config.spin_us = bad[i];
		CHECK_EQ(sley_create(&rt, &config), -EINVAL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		config.spin_us = good[i];
		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_get_config(rt, &effective), 0);
		CHECK_EQ(effective.spin_us, good[i] ? good[i] : 20);
		CHECK_EQ(sley_destroy(rt), 0);
	}
}

TEST_WORKERS(tasks_run_however_long_workers_search)
{
	static const uint32_t us[] = { SLEY_NO_SPIN, 1, 1000 };
	struct sley_config config = *test_config();

	for (size_t i = 0; i < ARRAY_SIZE(us); i++) {
		atomic_int ran = 0;
		struct sley *rt;

		config.spin_us = us[i];
		rt = start_with(&config);
		for (int n = 0; n < 20; n++)
			run_tasks(20, count_task, &ran);
		CHECK_EQ(ran, 400);
		stop(rt);
	}
}

/*
 * Tasks come 5 ms apart, and the worker searches for a second.  A machine that
 * stalls for half a second at a time proves nothing in that round.
 */
TEST(a_worker_that_searches_long_enough_does_not_sleep)
{
	struct sley_config config = config_of(1);
	uint64_t before_ns = sley_now();
	bool slept = false;
	struct sley *rt;
	atomic_int ran = 0;

	if (test_is_chaotic())
		test_skip("chaos ends searches early");
	config.spin_us = 1000000;
	rt = start_with(&config);
	for (int i = 1; i <= 20 && !slept; i++) {
		test_nap_ms(5);
		CHECK_EQ(sley_schedule(count_task, &ran), 0);
		CHECK_EVENTUALLY(ran == i);
		slept = stats_of(rt).parks > 0;
		if (sley_now() - before_ns > 500 * SLEY_MSEC)
			test_skip("the machine stalls");
		before_ns = sley_now();
	}
	CHECK(!slept);
	stop(rt);
}

/* ---- .on_idle -------------------------------------------------------------------------- */

#define WORKERS_MAX 64

static struct {
	atomic_int calls, again;    /* of the hook; those that returned true  */
	atomic_int of[WORKERS_MAX]; /* calls, by worker                        */
	atomic_int
		busy[WORKERS_MAX]; /* the worker runs a task                  */
	atomic_int left;           /* tasks that the hook is yet to make      */
	atomic_int ran;
	bool says_so;
} idle;

static struct sley_config with_idle(bool (*on_idle)(void *, int))
{
	struct sley_config config = *test_config();

	config.on_idle = on_idle;
	config.hook_self = &idle;
	return config;
}

static bool note_idle(void *self, int worker)
{
	CHECK(self == &idle);
	CHECK_EQ(sley_worker(), worker);
	CHECK_EQ(atomic_load(&idle.busy[worker]), 0);
	atomic_fetch_add(&idle.of[worker], 1);
	atomic_fetch_add(&idle.calls, 1);
	return false;
}

static void be_busy(void *arg)
{
	int worker = sley_worker();

	(void)arg;
	atomic_store(&idle.busy[worker], 1);
	test_nap_ms(1);
	atomic_store(&idle.busy[worker], 0);
	atomic_fetch_add(&idle.ran, 1);
}

/* Both counts are read while a worker may be between its call and its sleep. */
static bool calls_are_parks(struct sley *rt)
{
	int calls = atomic_load(&idle.calls);

	return calls - atomic_load(&idle.again) == (int)stats_of(rt).parks &&
	       calls == atomic_load(&idle.calls);
}

TEST_WORKERS(the_idle_hook_is_called_before_each_sleep_and_only_then)
{
	struct sley_config config = with_idle(note_idle);
	struct sley *rt = start_with(&config);

	for (int i = 0; i < 10; i++) {
		run_tasks(3, be_busy, NULL);
		CHECK_SOON(calls_are_parks(rt));
	}
	CHECK_EQ(idle.ran, 30);
	for (int i = 0; i < nr_runners() && !is_single(); i++)
		CHECK_SOON(atomic_load(&idle.of[i]) > 0);
	stop(rt);
}

TEST(a_busy_worker_calls_no_idle_hook)
{
	struct sley_config config = with_idle(note_idle);
	struct gate gate = { 0 };
	struct sley *rt;
	int calls;

	config.workers = 1;
	rt = start_with(&config);
	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	calls = atomic_load(&idle.calls);
	test_nap_ms(50);
	CHECK_EQ(atomic_load(&idle.calls), calls);
	gate_open(&gate);
	stop(rt);
}

/* One task after the other, each made by a worker that is about to sleep. */
static void make_next(void *arg)
{
	(void)arg;
	atomic_fetch_add(&idle.ran, 1);
}

static bool make_work(void *self, int worker)
{
	(void)self;
	(void)worker;
	atomic_fetch_add(&idle.calls, 1);
	if (atomic_fetch_sub(&idle.left, 1) <= 0)
		return false;
	CHECK_EQ(sley_schedule(make_next, NULL), 0);
	if (idle.says_so)
		atomic_fetch_add(&idle.again, 1);
	return idle.says_so;
}

static void check_made(bool says_so)
{
	struct sley_config config = with_idle(make_work);
	struct sley *rt;

	memset(&idle, 0, sizeof(idle));
	idle.says_so = says_so;
	rt = start_with(&config);
	atomic_store(&idle.left, 200);
	/* A worker that sleeps already is woken, once. */
	run_task(make_next, NULL);
	CHECK_SOON(atomic_load(&idle.ran) == 201);
	/* A worker that was told to look again has not slept. */
	CHECK_SOON(calls_are_parks(rt));
	CHECK_EQ(atomic_load(&idle.again), says_so ? 200 : 0);
	stop(rt);
}

TEST_WORKERS(what_the_idle_hook_makes_is_found)
{
	check_made(true);
	check_made(false);
}

/* The event that a fiber waits for is set by the worker that would sleep. */
static bool set_event(void *self, int worker)
{
	(void)worker;
	if (atomic_load(&idle.left) && atomic_fetch_sub(&idle.left, 1) == 1)
		sley_event_set(self);
	return false;
}

static void wait_for_event(void *event)
{
	atomic_store(&idle.left, 1);
	CHECK_EQ(sley_event_wait(event), 0);
	atomic_fetch_add(&idle.ran, 1);
}

TEST_WORKERS(the_idle_hook_may_wake_a_fiber)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_config config = with_idle(set_event);
	struct sley *rt;

	config.hook_self = &event;
	rt = start_with(&config);
	run_task(wait_for_event, &event);
	CHECK_EQ(idle.ran, 1);
	stop(rt);
}
