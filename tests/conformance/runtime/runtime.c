/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - starting a runtime, binding to it, giving it work: M2 to M9.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "conformance/bound.h"

/* ---- M2, M3, M5: bind, unbind, current --------------------------------- */

TEST_WORKERS(m02_bind_makes_it_the_runtime_of_the_thread)
{
	struct sley *rt = NULL;

	CHECK(sley_current() == NULL);
	CHECK_EQ(sley_create(&rt, test_config()), 0);
	CHECK(sley_current() == NULL);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK(sley_current() == rt);
	sley_unbind(rt);
	CHECK(sley_current() == NULL);
	/* A thread may come back. */
	CHECK_EQ(sley_bind(rt), 0);
	CHECK(sley_current() == rt);
	stop(rt);
}

struct crowd {
	struct sley *rt;
	pthread_barrier_t all_bound;
	atomic_int ran;
};

static void *crowd_member(void *arg)
{
	struct crowd *crowd = arg;

	CHECK_EQ(sley_bind(crowd->rt), 0);
	pthread_barrier_wait(&crowd->all_bound);
	run_task(count_task, &crowd->ran);
	sley_unbind(crowd->rt);
	return NULL;
}

TEST_WORKERS(m02_a_thousand_threads_may_be_bound_at_once)
{
	struct crowd crowd = { .ran = 0 };
	int n = test_scale(1000);

	CHECK_EQ(sley_create(&crowd.rt, test_config()), 0);
	pthread_barrier_init(&crowd.all_bound, NULL, (unsigned int)n);
	run_threads(n, crowd_member, &crowd);
	pthread_barrier_destroy(&crowd.all_bound);
	CHECK_EQ(crowd.ran, n);
	CHECK_EQ(sley_destroy(crowd.rt), 0);
}

/* marl notices this in debug builds only; sley in all of them. */
TEST_ABORTS(m02_binding_a_bound_thread_aborts, "sley: misuse in sley_bind")
{
	struct sley *rt = start();
	int err = sley_bind(rt);

	(void)err;
}

static void bind_again(void *arg)
{
	int err = sley_bind(arg);

	(void)err;
}

TEST_ABORTS(m02_binding_a_worker_aborts, "sley: misuse in sley_bind")
{
	struct sley *rt = start();

	CHECK_EQ(sley_schedule(bind_again, rt), 0);
	stop(rt);
}

struct sleeper {
	struct sley_event *event;
	atomic_int *ended;
};

static void wait_then_sleep(void *arg)
{
	struct sleeper *s = arg;

	CHECK_EQ(sley_event_wait(s->event), 0);
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	atomic_fetch_add(s->ended, 1);
}

static void *set_after_20_ms(void *event)
{
	test_nap_ms(20);
	sley_event_set(event);
	return NULL;
}

TEST(m03_unbind_runs_what_the_thread_spawned_blocked_tasks_included)
{
	struct sley *rt = start_single();
	struct sley_event event = SLEY_EVENT_INIT;
	atomic_int ended = 0;
	struct sleeper s = { &event, &ended };
	pthread_t setter;
	int i;

	for (i = 0; i < 100; i++)
		CHECK_EQ(sley_schedule(wait_then_sleep, &s), 0);
	setter = test_thread(set_after_20_ms, &event);
	sley_unbind(rt);
	CHECK_EQ(ended, 100);
	pthread_join(setter, NULL);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_ABORTS(m03_unbinding_a_thread_that_is_not_bound_aborts,
	    "sley: misuse in sley_unbind")
{
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	sley_unbind(rt);
}

TEST_ABORTS(m03_unbinding_from_another_runtime_aborts,
	    "sley: misuse in sley_unbind")
{
	struct sley *rt = start(), *other = NULL;

	CHECK(rt != NULL);
	CHECK_EQ(sley_create(&other, test_config()), 0);
	sley_unbind(other);
}

static void look_around(void *arg)
{
	CHECK(sley_current() == arg);
	if (!is_single()) {
		CHECK_GE(sley_worker(), 0);
		CHECK_LT(sley_worker(), sley_nr_workers(arg));
	}
	/* Also after a switch. */
	sley_yield();
	CHECK(sley_current() == arg);
}

TEST_WORKERS(m05_tasks_know_their_runtime)
{
	struct sley *rt = start();

	CHECK_EQ(sley_nr_workers(rt), is_single() ? 0 : nr_runners());
	if (!is_single())
		CHECK_EQ(sley_worker(), -1);
	run_tasks(50, look_around, rt);
	stop(rt);
	CHECK(sley_current() == NULL);
	CHECK_EQ(sley_worker(), -1);
}

/* ---- M6: who may give work --------------------------------------------- */

struct outsider {
	struct sley *rt;
	atomic_int ran;
	bool single;
};

static void *outsider_main(void *arg)
{
	struct outsider *o = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int expected = o->single ? SLEY_ENOWORKER : 0;

	CHECK_EQ(sley_schedule_on(o->rt, count_task, &o->ran, NULL), expected);
	CHECK_EQ(sley_spawn_on(o->rt, &group, &task, count_task, &o->ran, NULL),
		 expected);
	sley_join(&group);
	return NULL;
}

/*
 * marl drops such a task silently in the release build of the single-threaded
 * mode; here it is an error that says so.
 */
TEST_WORKERS(m06_an_unbound_thread_may_name_the_runtime)
{
	struct outsider o = { .single = is_single() };

	CHECK_EQ(sley_create(&o.rt, test_config()), 0);
	pthread_join(test_thread(outsider_main, &o), NULL);
	CHECK_EQ(sley_destroy(o.rt), 0);
	CHECK_EQ(o.ran, is_single() ? 0 : 2);
}

TEST(m06_an_unbound_thread_without_a_runtime_gets_an_error)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	CHECK_EQ(sley_schedule(count_task, &ran), SLEY_ENORUNTIME);
	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran,
				 SLEY_OPTIONS(.priority = 1)),
		 SLEY_ENORUNTIME);
	sley_join(&group);
	CHECK_EQ(ran, 0);
}

TEST_ABORTS(m06_spawning_from_an_unbound_thread_aborts,
	    "sley: misuse in sley_spawn")
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	sley_spawn(&group, &task, count_task, &ran);
}

/* ---- M7, M8: which thread runs what ------------------------------------ */

TEST(m07_single_threaded_tasks_run_only_while_the_thread_blocks)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[10];
	atomic_int ran = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], count_task, &ran);
	test_nap_ms(20);
	CHECK_EQ(ran, 0);
	sley_join(&group);
	CHECK_EQ(ran, 10);
	stop(rt);
}

TEST(m07_a_blocked_bound_thread_runs_its_tasks_meanwhile)
{
	struct sley *rt = start_single();
	atomic_int ran = 0;
	uint64_t begin = sley_now();

	CHECK_EQ(sley_schedule(count_task, &ran), 0);
	CHECK_EQ(ran, 0);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	CHECK_EQ(ran, 1);
	CHECK_GE(sley_now() - begin, 20 * SLEY_MSEC);
	stop(rt);
}

struct where {
	struct sley_task task;
	pid_t tid;
	int worker;
};

static void note_where(void *arg)
{
	struct where *w = arg;

	w->tid = gettid();
	w->worker = sley_worker();
}

struct owners {
	struct sley *rt;
	pthread_barrier_t all_spawned;
};

/* All tasks are there before any thread blocks: each could take any of them. */
static void *runs_its_own(void *arg)
{
	struct owners *owners = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct where where[20];
	size_t i;

	CHECK_EQ(sley_bind(owners->rt), 0);
	for (i = 0; i < ARRAY_SIZE(where); i++)
		sley_spawn(&group, &where[i].task, note_where, &where[i]);
	pthread_barrier_wait(&owners->all_spawned);
	sley_join(&group);
	for (i = 0; i < ARRAY_SIZE(where); i++)
		CHECK_EQ(where[i].tid, gettid());
	sley_unbind(owners->rt);
	return NULL;
}

TEST(m07_each_bound_thread_runs_its_own_tasks)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct owners owners = { .rt = NULL };
	pthread_t threads[8];
	size_t i;

	CHECK_EQ(sley_create(&owners.rt, &config), 0);
	pthread_barrier_init(&owners.all_spawned, NULL, ARRAY_SIZE(threads));
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = test_thread(runs_its_own, &owners);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&owners.all_spawned);
	CHECK_EQ(sley_destroy(owners.rt), 0);
}

TEST_WORKERS(m08_tasks_run_on_workers_and_not_on_bound_threads)
{
	static struct where where[2000];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	pid_t tid_of[64] = { 0 };
	int i;

	if (is_single())
		test_skip("there are no workers");
	for (i = 0; i < 2000; i++)
		sley_spawn(&group, &where[i].task, note_where, &where[i]);
	sley_join(&group);
	for (i = 0; i < 2000; i++) {
		int w = where[i].worker;

		CHECK(w >= 0 && w < nr_runners());
		CHECK_NE(where[i].tid, gettid());
		/* One worker is one thread. */
		CHECK(tid_of[w] == 0 || tid_of[w] == where[i].tid);
		tid_of[w] = where[i].tid;
	}
	stop(rt);
}

/* ---- M9: where work from outside goes ---------------------------------- */

/*
 * Each task holds a whole worker until all have started, so each worker must
 * get exactly one of them.
 */
TEST_WORKERS(m09_work_from_outside_reaches_every_idle_worker)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[64];
	struct gate gate = { 0 };
	int i, n = nr_runners(), round;

	if (is_single())
		test_skip("there are no workers");
	for (round = 0; round < 5; round++) {
		atomic_store(&gate.held, 0);
		atomic_store(&gate.open, false);
		for (i = 0; i < n; i++)
			sley_spawn(&group, &tasks[i], gate_task, &gate);
		CHECK_EVENTUALLY(atomic_load(&gate.held) == n);
		gate_open(&gate);
		sley_join(&group);
		/* Give some of them the time to fall asleep. */
		test_nap_ms((unsigned int)round);
	}
	stop(rt);
}

/* marl retries for as long as the chosen worker's lock is held. */
TEST_WORKERS(m09_giving_work_never_waits_for_a_busy_worker)
{
	static struct sley_task tasks[1000];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task holders[64];
	struct gate gate = { 0 };
	atomic_int ran = 0;
	int i, n = nr_runners();

	if (is_single())
		test_skip("there are no workers");
	for (i = 0; i < n; i++)
		sley_spawn(&group, &holders[i], gate_task, &gate);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == n);
	for (i = 0; i < 1000; i++)
		sley_spawn(&group, &tasks[i], count_task, &ran);
	CHECK_EQ(ran, 0);
	gate_open(&gate);
	sley_join(&group);
	CHECK_EQ(ran, 1000);
	stop(rt);
}

/* ---- no group -------------------------------------------------------------------- */

static void nothing(void *arg)
{
	(void)arg;
}

TEST_ABORTS(spawning_into_no_group_aborts,
	    "sley: misuse in sley_spawn: the group is NULL: for a task that "
	    "is never joined use sley_schedule()")
{
	struct sley_task task;

	(void)start();
	sley_spawn(NULL, &task, nothing, NULL);
}

TEST(spawning_into_no_group_is_an_error_where_there_are_errors)
{
	struct sley *rt = start();
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(NULL, &task, nothing, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_spawn_on(rt, NULL, &task, nothing, NULL, NULL), -EINVAL);
	stop(rt);
}
