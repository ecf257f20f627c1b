/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - what runs on each worker first and last: M12.
 */
#include "conformance/bound.h"

#define WORKERS_MAX 64

static struct {
	atomic_int starts, stops; /* of all */
	atomic_int tasks_done;
	pid_t tid[WORKERS_MAX]; /* of the thread that ran the start hook */
	int stopped[WORKERS_MAX];
	int tasks_before_start;
} seen;

static void note_start(void *self, int worker)
{
	CHECK(self == &seen);
	CHECK_EQ(sley_worker(), worker);
	CHECK(sley_current() != NULL);
	CHECK_EQ(seen.tid[worker], 0);
	seen.tid[worker] = gettid();
	atomic_fetch_add(&seen.starts, 1);
}

static void note_stop(void *self, int worker)
{
	CHECK(self == &seen);
	CHECK_EQ(sley_worker(), worker);
	CHECK_EQ(seen.tid[worker], gettid());
	CHECK_EQ(seen.stopped[worker]++, 0);
	atomic_fetch_add(&seen.stops, 1);
}

static struct sley_config with_hooks(void (*on_start)(void *, int),
				     void (*on_stop)(void *, int))
{
	struct sley_config config = *test_config();

	config.on_start = on_start;
	config.on_stop = on_stop;
	config.hook_self = &seen;
	return config;
}

static int nr_workers_of(const struct sley_config *config)
{
	return config->workers == SLEY_SINGLE ? 1 : config->workers;
}

/* ---- first and last -------------------------------------------------------------- */

static void run_after_start(void *arg)
{
	struct sley *rt = arg;

	CHECK(sley_current() == rt);
	CHECK_NE(seen.tid[sley_worker()], 0);
	CHECK_EQ(seen.tid[sley_worker()], gettid());
	(void)!sley_sleep(SLEY_USEC);
	CHECK_EQ(atomic_load(&seen.stops), 0);
	atomic_fetch_add(&seen.tasks_done, 1);
}

TEST_WORKERS(m12_hooks_run_on_each_worker_before_and_after_all_tasks)
{
	struct sley_config config = with_hooks(note_start, note_stop);
	struct sley *rt = NULL;
	int i;

	CHECK_EQ(sley_create(&rt, &config), 0);
	if (!is_single()) /* all have run by now */
		CHECK_EQ(seen.starts, config.workers);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(seen.starts, nr_workers_of(&config));
	for (i = 0; i < 500; i++)
		CHECK_EQ(sley_schedule(run_after_start, rt), 0);
	sley_unbind(rt);
	if (is_single())
		CHECK_EQ(seen.stops, 1);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(seen.tasks_done, 500);
	CHECK_EQ(seen.starts, nr_workers_of(&config));
	CHECK_EQ(seen.stops, nr_workers_of(&config));
}

TEST_WORKERS(m12_each_hook_may_be_there_without_the_other)
{
	struct sley_config config = with_hooks(note_start, NULL);

	stop(start_with(&config));
	CHECK_EQ(seen.starts, nr_workers_of(&config));
	for (int i = 0; i < nr_workers_of(&config); i++)
		seen.tid[i] = 0;
	config = with_hooks(NULL, note_stop);
	config.workers = SLEY_SINGLE;
	seen.tid[0] = gettid();
	stop(start_with(&config));
	CHECK_EQ(seen.stops, 1);
}

/* Started by the hook of one worker, and taken by another one. */
static void check_started(void *arg)
{
	(void)arg;
	if (!seen.tid[sley_worker()])
		seen.tasks_before_start++;
	atomic_fetch_add(&seen.tasks_done, 1);
}

static void spawn_much(void *self, int worker)
{
	(void)self;
	for (int i = 0; i < 50; i++)
		CHECK_EQ(sley_schedule_on(sley_current(), check_started, NULL,
					  SLEY_OPTIONS(.priority = i % 3 - 1)),
			 0);
	test_nap_ms(1); /* the others may steal */
	seen.tid[worker] = gettid();
}

TEST_WORKERS(m12_no_worker_runs_a_task_before_its_own_hook)
{
	struct sley_config config = with_hooks(spawn_much, NULL);

	stop(start_with(&config));
	CHECK_EQ(seen.tasks_before_start, 0);
	CHECK_EQ(seen.tasks_done, 50 * nr_workers_of(&config));
}

/* ---- they may do what tasks may ----------------------------------------------------- */

struct pin {
	pid_t tid;
	int worker;
	atomic_int *ran;
};

static void run_pinned(void *arg)
{
	struct pin *pin = arg;

	CHECK_EQ(gettid(), pin->tid);
	CHECK_EQ(sley_worker(), pin->worker);
	sley_yield();
	CHECK_EQ(gettid(), pin->tid);
	atomic_fetch_add(pin->ran, 1);
}

/* marl's initialiser cannot schedule: it runs before the thread is bound. */
static void spawn_and_wait(void *self, int worker)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[10];
	struct pin pin = { gettid(), worker, &seen.tasks_done };

	(void)self;
	for (int i = 0; i < 5; i++) {
		sley_spawn(&group, &tasks[i], count_task, &seen.tasks_done);
		CHECK_EQ(sley_spawn_with(&group, &tasks[5 + i], run_pinned,
					 &pin, SLEY_OPTIONS(.pinned = true)),
			 0);
	}
	CHECK_EQ(sley_schedule(count_task, &seen.tasks_done), 0);
	sley_join(&group);
	(void)!sley_sleep(SLEY_MSEC);
	sley_yield();
	CHECK_EQ(gettid(), pin.tid);
}

TEST_WORKERS(m12_hooks_may_spawn_and_block)
{
	struct sley_config config = with_hooks(spawn_and_wait, spawn_and_wait);
	struct sley *rt = start_with(&config);

	CHECK_GE(seen.tasks_done, 10 * nr_workers_of(&config));
	stop(rt);
	CHECK_EQ(seen.tasks_done, 22 * nr_workers_of(&config));
}

TEST_WORKERS(m12_hooks_may_spawn_and_block_in_a_migratable_runtime)
{
	struct sley_config config = with_hooks(spawn_and_wait, spawn_and_wait);

	config.migratable = true;
	stop(start_with(&config));
	CHECK_EQ(seen.tasks_done, 22 * nr_workers_of(&config));
}

static struct sley_waitgroup all_there;

static void meet(void *self, int worker)
{
	(void)self;
	(void)worker;
	sley_waitgroup_done(&all_there);
	CHECK_EQ(sley_waitgroup_wait(&all_there), 0);
	atomic_fetch_add(&seen.starts, 1);
}

TEST_WORKERS(m12_hooks_of_all_workers_may_wait_for_each_other)
{
	struct sley_config config = with_hooks(meet, NULL);

	sley_waitgroup_add(&all_there, (uint32_t)nr_workers_of(&config));
	stop(start_with(&config));
	CHECK_EQ(seen.starts, nr_workers_of(&config));
}

TEST(m12_each_bound_thread_of_a_single_threaded_runtime_has_its_hooks)
{
	struct sley_config config = with_hooks(note_start, note_stop);
	struct sley *rt;

	config.workers = SLEY_SINGLE;
	CHECK_EQ(sley_create(&rt, &config), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sley_bind(rt), 0);
		CHECK_EQ(seen.starts, i + 1);
		sley_unbind(rt);
		CHECK_EQ(seen.stops, i + 1);
		seen.tid[0] = 0;
		seen.stopped[0] = 0;
	}
	CHECK_EQ(sley_destroy(rt), 0);
}

/* ---- ends ------------------------------------------------------------------------------ */

TEST_WORKERS(m12_hooks_run_although_all_is_cancelled)
{
	struct sley_config config = with_hooks(note_start, note_stop);
	struct sley *rt = start_with(&config);

	sley_cancel_all(rt);
	stop(rt);
	CHECK_EQ(seen.stops, nr_workers_of(&config));
}

static struct sley_event may_stop = SLEY_EVENT_INIT;
static atomic_int nr_stopping;
static char last_line[256];

static void stop_late(void *self, int worker)
{
	(void)self;
	(void)worker;
	atomic_fetch_add(&nr_stopping, 1);
	CHECK_EQ(sley_event_wait(&may_stop), 0);
	atomic_fetch_add(&seen.stops, 1);
}

static void keep_last_line(void *self, const char *line)
{
	(void)self;
	strncpy(last_line, line, sizeof(last_line) - 1);
}

TEST_WORKERS(m12_a_stop_that_takes_too_long_is_reported_and_can_go_on)
{
	struct sley_config config = with_hooks(NULL, stop_late);
	struct sley *rt;

	if (is_single())
		return; /* sley_unbind() waits for it */
	config.report = keep_last_line;
	CHECK_EQ(sley_create(&rt, &config), 0);
	/* The first may be too early for some: these have not started. */
	do
		CHECK_EQ(sley_destroy_until(rt, in_ms(20)), -ETIMEDOUT);
	while (atomic_load(&nr_stopping) < config.workers);
	CHECK_EQ(sley_destroy_until(rt, in_ms(20)), -ETIMEDOUT);
	CHECK(strstr(last_line, "on_stop"));
	sley_event_set(&may_stop);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(seen.stops, config.workers);
}

static void place_all_but_the_last(void *self, int worker,
				   struct sley_cpus *cpus)
{
	(void)self;
	if (worker == 2)
		memset(cpus, 0, sizeof(*cpus));
}

TEST(m12_no_hook_runs_if_the_runtime_does_not_come_to_be)
{
	struct sley_config config = with_hooks(note_start, note_stop);
	struct sley *rt = NULL;

	config.workers = 3;
	config.placement = SLEY_PLACE_CUSTOM;
	config.place = place_all_but_the_last;
	CHECK_EQ(sley_create(&rt, &config), SLEY_ECPUS);
	CHECK(rt == NULL);
	CHECK_EQ(seen.starts, 0);
	CHECK_EQ(seen.stops, 0);
}

TEST_WORKERS(m12_hooks_surround_a_whole_program)
{
	struct sley_config config = with_hooks(note_start, note_stop);

	CHECK_EQ(sley_run(&config, count_task, &seen.tasks_done), 0);
	CHECK_EQ(seen.tasks_done, 1);
	CHECK_EQ(seen.starts, nr_workers_of(&config));
	CHECK_EQ(seen.stops, nr_workers_of(&config));
}

/* ---- threads for blocking calls ---------------------------------------------------- */

#define NR_CALLS 20

static struct {
	atomic_int starts, stops, calls;
	struct gate gate;
} pool;

static _Thread_local int pool_hooks; /* of this thread: 1 started, 2 stopped */

static void note_pool_start(void *self)
{
	CHECK(self == &pool);
	CHECK_EQ(sley_worker(), -1);
	CHECK(sley_current() != NULL);
	CHECK_EQ(pool_hooks++, 0);
	pool.starts++;
}

static void note_pool_stop(void *self)
{
	CHECK(self == &pool);
	CHECK_EQ(pool_hooks++, 1);
	pool.stops++;
}

static void call_after_start(void *arg)
{
	(void)arg;
	CHECK_EQ(pool_hooks, 1);
	pool.calls++;
	gate_hold(&pool.gate);
}

static void make_call(void *arg)
{
	CHECK_EQ(sley_blocking_call(call_after_start, arg), 0);
}

TEST_WORKERS(m12_hooks_run_on_each_thread_for_blocking_calls)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_CALLS];
	struct sley *rt;

	config.on_blocking_start = note_pool_start;
	config.on_blocking_stop = note_pool_stop;
	config.hook_self = &pool;
	rt = start_with(&config);
	CHECK_EQ(pool.starts, 0);
	for (int i = 0; i < NR_CALLS; i++)
		sley_spawn(&group, &task[i], make_call, NULL);
	/* All calls at once: as many threads. */
	while (is_single() && pool.calls < NR_CALLS)
		(void)!sley_join_until(&group, in_ms(1));
	CHECK_EVENTUALLY(pool.calls == NR_CALLS);
	CHECK_EQ(pool.starts, NR_CALLS);
	CHECK_EQ(pool.stops, 0);
	gate_open(&pool.gate);
	sley_join(&group);
	stop(rt);
	CHECK_EQ(pool.starts, NR_CALLS);
	CHECK_EQ(pool.stops, NR_CALLS);
}
