/* SPDX-License-Identifier: MIT */
/*
 * region.c - "this region blocks", in place: M31, trap 22.
 */
#include "conformance/bound.h"

/*
 * Looked up anew each time: the compiler must not keep what it knows of the
 * thread over a region.
 */
static __attribute__((noinline)) pthread_t this_thread(void)
{
	__asm__ volatile("" ::: "memory");
	return pthread_self();
}

static __attribute__((noinline)) int get_errno(void)
{
	__asm__ volatile("" ::: "memory");
	return errno;
}

static __attribute__((noinline)) void set_errno(int err)
{
	__asm__ volatile("" ::: "memory");
	errno = err;
}

/* ---- there and back ---------------------------------------------------------------- */

static void go_and_come_back(void *arg)
{
	struct sley *rt = arg;
	int worker = sley_worker();
	pthread_t here = this_thread();

	CHECK_GE(worker, 0);
	for (int i = 0; i < 3; i++) {
		set_errno(100 + i);
		CHECK_EQ(sley_blocking_begin(), 0);
		CHECK(!pthread_equal(this_thread(), here));
		CHECK_EQ(sley_worker(), -1);
		CHECK(sley_current() == rt);
		CHECK_EQ(get_errno(), 100 + i);
		set_errno(200 + i);
		test_nap_ms(1);
		sley_blocking_end();
		CHECK_EQ(get_errno(), 200 + i);
		CHECK(pthread_equal(this_thread(), here));
		CHECK_EQ(sley_worker(), worker);
		/* And it can wait as before. */
		CHECK_EQ(sley_sleep(SLEY_USEC), 0);
		CHECK(pthread_equal(this_thread(), here));
	}
}

TEST_WORKERS(m31_a_region_runs_elsewhere_and_comes_back)
{
	struct sley *rt = start();

	run_task(go_and_come_back, rt);
	CHECK_EQ(stats_of(rt).blocking_calls, 3);
	stop(rt);
}

TEST_WORKERS(m31_many_tasks_in_regions_all_come_back)
{
	struct sley *rt = start();
	int nr = test_scale(200);

	run_tasks(nr, go_and_come_back, rt);
	CHECK_EQ(stats_of(rt).blocking_calls, 3 * nr);
	stop(rt);
}

TEST(m31_plain_threads_and_bound_code_stay_where_they_are)
{
	pthread_t here = this_thread();
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt;

	CHECK_EQ(sley_blocking_begin(), 0);
	sley_blocking_end();
	rt = start_with(&config);
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK(pthread_equal(this_thread(), here));
	CHECK_EQ(sley_worker(), 0);
	sley_blocking_end();
	CHECK_EQ(stats_of(rt).blocking_threads, 0);
	stop(rt);
}

static void hold_in_region(void *arg)
{
	CHECK_EQ(sley_blocking_begin(), 0);
	gate_hold(arg);
	sley_blocking_end();
}

TEST_WORKERS(m31_the_worker_goes_on_while_a_region_blocks)
{
	check_worker_goes_on(hold_in_region);
}

/* ---- nested ---------------------------------------------------------------------------- */

static void call_in_place(void *arg)
{
	CHECK(pthread_equal(this_thread(), *(pthread_t *)arg));
	/* Within a call within a region: it counts. */
	CHECK_EQ(sley_blocking_begin(), 0);
	sley_blocking_end();
	CHECK(pthread_equal(this_thread(), *(pthread_t *)arg));
}

static void nest(void *arg)
{
	pthread_t here = this_thread(), there;

	(void)arg;
	CHECK_EQ(sley_blocking_begin(), 0);
	there = this_thread();
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK(pthread_equal(this_thread(), there));
	sley_blocking_end();
	CHECK(pthread_equal(this_thread(), there));
	CHECK_EQ(sley_blocking_call(call_in_place, &there), 0);
	CHECK_EQ(sley_worker(), -1);
	sley_blocking_end();
	CHECK(pthread_equal(this_thread(), here));
	CHECK_GE(sley_worker(), 0);
}

TEST_WORKERS(m31_the_outermost_of_nested_regions_counts)
{
	struct sley *rt = start();

	run_task(nest, NULL);
	CHECK_EQ(stats_of(rt).blocking_calls, 1);
	stop(rt);
}

static void begin_in_call(void *arg)
{
	CHECK_EQ(sley_blocking_begin(), 0);
	count_task(arg);
	sley_blocking_end();
	CHECK_EQ(sley_worker(), -1);
}

static void call_with_region(void *arg)
{
	CHECK_EQ(sley_blocking_call(begin_in_call, arg), 0);
}

TEST_WORKERS(m31_a_region_in_a_call_stays_in_the_call)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_task(call_with_region, &ran);
	CHECK_EQ(ran, 1);
	CHECK_EQ(stats_of(rt).blocking_calls, 1);
	stop(rt);
}

/* ---- what a task may do there ------------------------------------------------------------ */

struct inside {
	struct sley_event event;
	atomic_int ran;
};

static void wait_and_count(void *arg)
{
	struct inside *in = arg;

	CHECK_EQ(sley_event_wait(&in->event), 0);
	count_task(&in->ran);
}

static void live_inside(void *arg)
{
	struct inside *in = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[5];

	for (int i = 0; i < 5; i++)
		sley_spawn(&group, &tasks[i], wait_and_count, in);
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	sley_yield();
	sley_event_set(&in->event);
	sley_join(&group);
	CHECK_EQ(in->ran, 5);
	if (!is_single()) {
		for (int i = 0; i < 5; i++)
			sley_spawn(&group, &tasks[i], wait_and_count, in);
		sley_join(&group);
	}
	sley_blocking_end();
}

TEST_WORKERS(m31_in_a_region_a_task_may_wait_wake_and_spawn)
{
	struct sley *rt = start();
	struct inside in = { .event = SLEY_EVENT_INIT };

	run_task(live_inside, &in);
	CHECK_EQ(in.ran, is_single() ? 5 : 10);
	stop(rt);
}

static atomic_int nr_destroyed;

static void note(void *value)
{
	CHECK(value != NULL);
	atomic_fetch_add(&nr_destroyed, 1);
}

static void locals_inside(void *arg)
{
	static struct sley_local outer = SLEY_LOCAL_INIT(note);
	static struct sley_local inner = SLEY_LOCAL_INIT(note);

	CHECK_EQ(sley_local_set(&outer, arg), 0);
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK(sley_local_get(&outer) == arg);
	CHECK_EQ(sley_local_set(&inner, arg), 0);
	sley_blocking_end();
	CHECK(sley_local_get(&inner) == arg);
}

TEST_WORKERS(m31_local_values_go_with_the_task_into_a_region)
{
	struct sley *rt = start();

	run_task(locals_inside, rt);
	CHECK_EQ(nr_destroyed, 2);
	stop(rt);
}

static void count_child(void *arg)
{
	count_task(arg);
}

/* What it forked can be had by others while it is away. */
static void fork_around(void *arg)
{
	struct sley_forked child[3];
	atomic_int *ran = arg;

	for (int i = 0; i < 3; i++)
		sley_fork(&child[i], count_child, ran);
	CHECK_EQ(sley_blocking_begin(), 0);
	while (nr_runners() > 1 && !atomic_load(ran))
		test_nap_ms(1);
	sley_blocking_end();
	for (int i = 2; i >= 0; i--)
		sley_fork_join(&child[i]);
}

TEST_WORKERS(m31_forked_children_do_not_wait_for_the_region_of_their_parent)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_task(fork_around, &ran);
	CHECK_EQ(ran, 3);
	stop(rt);
}

/* ---- pinned, movable, small stacks, many at once -------------------------------------------- */

static void move_and_come_back(void *arg)
{
	int value = 0;

	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_blocking_begin(), 0);
		CHECK_EQ(sley_worker(), -1);
		value++;
		sley_blocking_end();
		CHECK_GE(sley_worker(), 0);
		sley_yield();
	}
	CHECK_EQ(value, 10);
	count_task(arg);
}

static void regions_of(const struct sley_config *config,
		       const struct sley_options *options)
{
	static struct sley_task tasks[50];
	struct sley *rt = start_with(config);
	struct sley_group group = SLEY_GROUP_INIT;
	const struct sley_options *plain = SLEY_OPTIONS(.priority = 0);
	atomic_int ran = 0;

	/* Pinned only where there is a worker to be pinned to. */
	if (options->pinned && !is_single())
		options = plain;
	for (int i = 0; i < 50; i++)
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], move_and_come_back,
					 &ran, options),
			 0);
	sley_join(&group);
	CHECK_EQ(ran, 50);
	stop(rt);
}

TEST_WORKERS(m31_regions_work_where_fibers_move)
{
	struct sley_config config = *test_config();

	config.migratable = true;
	regions_of(&config, SLEY_OPTIONS(.priority = 0));
}

TEST_WORKERS(m31_regions_work_at_every_priority)
{
	regions_of(test_config(), SLEY_OPTIONS(.priority = 5));
}

TEST_WORKERS(m31_regions_work_with_stacks_of_their_own)
{
	regions_of(test_config(), SLEY_OPTIONS(.stack_kib = 32));
}

TEST_WORKERS(m31_regions_work_without_membarrier)
{
	struct sley_config config = *test_config();

	config.no_membarrier = true;
	config.save_fpu = true;
	regions_of(&config, SLEY_OPTIONS(.pinned = true));
}

static void meet_in_region(void *arg)
{
	atomic_int *left = arg;

	CHECK_EQ(sley_blocking_begin(), 0);
	atomic_fetch_sub(left, 1);
	while (atomic_load(left) > 0)
		test_nap_ms(1);
	sley_blocking_end();
}

TEST_WORKERS(m31_regions_that_wait_for_each_other_do_not_deadlock)
{
	struct sley *rt = start();
	atomic_int left = 100;

	run_tasks(100, meet_in_region, &left);
	stop(rt);
}

/* ---- steps -------------------------------------------------------------------------------- */

TEST(m31_a_step_ends_where_a_region_begins)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct gate gate = { 0 };
	struct sley_task task;

	sley_spawn(&group, &task, hold_in_region, &gate);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EQ(sley_run_one(rt), 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	CHECK_EQ(sley_run_one(rt), 0);
	gate_open(&gate);
	CHECK_EVENTUALLY(sley_run_one(rt) == 1);
	CHECK_EQ(sley_task_status(&task), 0);
	sley_join(&group);
	stop(rt);
}

/* ---- no thread ------------------------------------------------------------------------------ */

static void stay_in_place(void *arg)
{
	pthread_t here = this_thread();
	int worker = sley_worker();

	test_fail_allocation_after(0);
	CHECK_EQ(sley_blocking_begin(), -EAGAIN);
	CHECK_EQ(sley_blocking_begin(), -EAGAIN);
	test_fail_allocation_after(-1);
	CHECK(pthread_equal(this_thread(), here));
	/* A wait there is as ever; and a call goes elsewhere, and comes back. */
	CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	CHECK_EQ(sley_blocking_call(begin_in_call, arg), 0);
	CHECK_EQ(sley_worker(), worker);
	sley_blocking_end();
	sley_blocking_end();
	CHECK_EQ(sley_worker(), worker);
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK_EQ(sley_worker(), -1);
	sley_blocking_end();
}

TEST_WORKERS(m31_without_a_thread_a_region_runs_on_the_worker)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_task(stay_in_place, &ran);
	CHECK_EQ(ran, 1);
	stop(rt);
}

/* One allocation is the region, the next one the thread. */
static void fail_second(void *arg)
{
	(void)arg;
	test_fail_allocation_after(1);
	CHECK_EQ(sley_blocking_begin(), -EAGAIN);
	test_fail_allocation_after(-1);
	sley_blocking_end();
}

TEST_WORKERS(m31_a_region_without_a_thread_leaves_nothing_behind)
{
	struct sley *rt = start();

	run_task(fail_second, NULL);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	stop(rt);
}

/* ---- cancel and stop --------------------------------------------------------------------------- */

struct cut {
	struct sley_task task;
	struct gate gate;
	atomic_int cancelled;
};

static void be_cancelled_inside(void *arg)
{
	struct cut *c = arg;

	CHECK(!sley_cancelled());
	CHECK_EQ(sley_blocking_begin(), 0);
	gate_hold(&c->gate);
	CHECK(sley_cancelled());
	CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	sley_blocking_end();
	CHECK(sley_cancelled());
	CHECK_EQ(sley_sleep(SLEY_FOREVER), -ECANCELED);
	atomic_store(&c->cancelled, 1);
}

static void cancel_inside(bool all)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct cut c = { .cancelled = 0 };

	sley_spawn(&group, &c.task, be_cancelled_inside, &c);
	while (!atomic_load(&c.gate.held))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	if (all)
		sley_cancel_all(rt);
	else
		sley_cancel(&c.task);
	CHECK_EQ(sley_join_until(&group, in_ms(5)), -ETIMEDOUT);
	gate_open(&c.gate);
	sley_join(&group);
	CHECK_EQ(c.cancelled, 1);
	stop(rt);
}

TEST_WORKERS(m31_a_cancel_shows_after_the_region)
{
	cancel_inside(false);
}

TEST_WORKERS(m31_cancelling_all_shows_after_the_region)
{
	cancel_inside(true);
}

static char lines[1024];

static void take_report(void *self, const char *line)
{
	(void)self;
	strncat(lines, line, sizeof(lines) - strlen(lines) - 1);
}

TEST_WORKERS(m31_destroy_waits_for_regions_and_names_them)
{
	struct sley_config config = *test_config();
	static struct gate gate;
	struct sley *rt = NULL;

	if (is_single())
		test_skip("unbinding waits for them already");
	config.report = take_report;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_schedule_on(rt, hold_in_region, &gate,
				  SLEY_OPTIONS(.name = "holder")),
		 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	CHECK_EQ(sley_destroy_until(rt, in_ms(5)), -ETIMEDOUT);
	CHECK(strstr(lines, "the runtime still waits for holder (function ") !=
	      NULL);
	gate_open(&gate);
	CHECK_EQ(sley_destroy(rt), 0);
}

static void *open_soon(void *gate)
{
	CHECK_EVENTUALLY(atomic_load(&((struct gate *)gate)->held) == 1);
	test_nap_ms(20);
	gate_open(gate);
	return NULL;
}

TEST(m31_unbinding_waits_for_regions)
{
	struct sley *rt = start_single();
	static struct gate gate;
	pthread_t opener;

	CHECK_EQ(sley_schedule(hold_in_region, &gate), 0);
	opener = test_thread(open_soon, &gate);
	stop(rt);
	CHECK(atomic_load(&gate.open));
	pthread_join(opener, NULL);
}

/* ---- misuse ----------------------------------------------------------------------------------- */

static void never_end(void *arg)
{
	(void)arg;
	(void)sley_blocking_begin();
}

TEST_ABORTS(m31_a_task_that_ends_in_a_region_is_misuse,
	    "ended inside a blocking region: call sley_blocking_end() first")
{
	(void)start();
	run_task(never_end, NULL);
}

TEST_ABORTS(m31_a_task_that_ends_in_a_region_is_named,
	    "sley: misuse: task \"regional\" (function ")
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	(void)start();
	CHECK_EQ(sley_spawn_with(&group, &task, never_end, NULL,
				 SLEY_OPTIONS(.name = "regional")),
		 0);
	sley_join(&group);
}

static void never_begin(void *arg)
{
	(void)arg;
	sley_blocking_end();
}

TEST_ABORTS(m31_ending_a_region_that_was_not_begun_is_misuse,
	    "there is no blocking region: call sley_blocking_begin() first")
{
	(void)start();
	run_task(never_begin, NULL);
}
