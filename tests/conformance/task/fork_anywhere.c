/* SPDX-License-Identifier: MIT */
/*
 * fork_anywhere.c - who forks need not be a task: bound threads, threads that
 * belong to no runtime, and tasks in blocking regions.
 */
#include "conformance/task/ways.h"

struct sum {
	unsigned int first, last; /* inclusive */
	uint64_t sum;             /* plain     */
};

/* By halves, as deep as it goes, wherever it is called. */
static void add_up(void *arg)
{
	struct sum *s = arg;
	unsigned int middle = s->first + (s->last - s->first) / 2;
	struct sum low = { s->first, middle, 0 };
	struct sum high = { middle + 1, s->last, 0 };
	struct sley_forked child;

	if (s->first == s->last) {
		s->sum = s->first;
		return;
	}
	sley_fork(&child, add_up, &low);
	add_up(&high);
	sley_fork_join(&child);
	s->sum = low.sum + high.sum;
}

static void check_sum(void)
{
	struct sum s = { 1, 2000, 0 };

	add_up(&s);
	CHECK_EQ(s.sum, 2001000);
}

/* ---- bound threads ------------------------------------------------------------ */

TEST_WORKERS(fork_a_bound_thread_forks)
{
	struct sley *rt = start();

	for (int round = 0; round < test_scale(20); round++)
		check_sum();
	stop(rt);
}

static void *bind_and_add_up(void *arg)
{
	struct sley *rt = arg;

	CHECK_EQ(sley_bind(rt), 0);
	for (int round = 0; round < test_scale(10); round++)
		check_sum();
	sley_unbind(rt);
	return NULL;
}

TEST_WORKERS(fork_several_bound_threads_fork_at_once)
{
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	run_threads(4, bind_and_add_up, rt);
	CHECK_EQ(sley_destroy(rt), 0);
}

/* Its children become tasks: workers run them while it computes. */
TEST_WORKERS(fork_children_of_a_bound_thread_run_beside_it)
{
	struct sley *rt = start();
	struct sley_forked child[3];
	atomic_int ran = 0;

	if (is_single())
		test_skip("there is nobody beside it");
	for (int round = 0; round < test_scale(50); round++) {
		uint64_t end_ns = test_now_ns() + 10 * SLEY_SEC;

		atomic_store(&ran, 0);
		for (int i = 0; i < 3; i++)
			sley_fork(&child[i], count_task, &ran);
		while (atomic_load(&ran) < 3)
			CHECK_LT(test_now_ns(), end_ns);
		for (int i = 3; i-- > 0;)
			sley_fork_join(&child[i]);
		CHECK_EQ(ran, 3);
	}
	stop(rt);
}

/* A bound thread waits in the meantime, in every way. */
TEST_WORKERS(fork_children_of_a_bound_thread_block)
{
	struct sley *rt = start();
	struct branch root;
	struct ways ways;

	test_timeout(60);
	ways_begin(&ways, false);
	for (int round = 0; round < test_scale(8); round++) {
		root = (struct branch){ .ways = &ways,
					.way = WAY_ANY,
					.depth = 3 };
		branch_grow(&root);
		CHECK_EQ(root.runs, 1);
		CHECK_EQ(root.nr, branch_count(3));
	}
	ways_end(&ways);
	stop(rt);
}

/* Any order is as good as the other. */
static void join_the_oldest_first(void)
{
	struct sley_forked child[8];
	atomic_int ran = 0;

	for (int i = 0; i < 8; i++)
		sley_fork(&child[i], count_task, &ran);
	for (int i = 0; i < 8; i++)
		sley_fork_join(&child[i]);
	CHECK_EQ(ran, 8);
}

TEST_WORKERS(fork_a_bound_thread_joins_in_any_order)
{
	struct sley *rt = start();

	for (int round = 0; round < test_scale(50); round++)
		join_the_oldest_first();
	stop(rt);
}

/* ---- no runtime ------------------------------------------------------------------ */

static void note_thread(void *arg)
{
	*(pthread_t *)arg = pthread_self();
}

TEST(fork_without_a_runtime_the_join_calls_the_child)
{
	struct sley_forked child;
	pthread_t thread;

	sley_fork(&child, note_thread, &thread);
	sley_fork_join(&child);
	CHECK(pthread_equal(thread, pthread_self()));
	check_sum();
	join_the_oldest_first();
}

static void *add_up_in_thread(void *arg)
{
	check_sum();
	join_the_oldest_first();
	return arg;
}

TEST(fork_threads_without_a_runtime_fork_beside_one)
{
	struct sley *rt = start();
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		thread[i] = test_thread(add_up_in_thread, NULL);
	check_sum();
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	stop(rt);
}

/* ---- blocking regions ---------------------------------------------------------------- */

/* A child that is blocked itself, so that the thread in the region waits. */
static void sleep_a_little(void *arg)
{
	CHECK_EQ(sley_sleep(test_random(200) * SLEY_USEC), 0);
	count_task(arg);
}

/* Forked before the region, joined inside it. */
static void join_in_a_region(void *arg)
{
	struct sley_forked child[4];
	atomic_int ran = 0;
	int err;

	for (int i = 0; i < 4; i++)
		sley_fork(&child[i], i % 2 ? sleep_a_little : count_task, &ran);
	if (test_random(2))
		sley_yield();
	err = sley_blocking_begin();
	CHECK_EQ(err, 0);
	for (int i = 4; i-- > 2;)
		sley_fork_join(&child[i]);
	sley_blocking_end();
	for (int i = 2; i-- > 0;)
		sley_fork_join(&child[i]);
	CHECK_EQ(ran, 4);
	count_task(arg);
}

TEST_WORKERS(fork_a_child_is_joined_inside_a_blocking_region)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[16];
	atomic_int done = 0;

	test_timeout(60);
	for (int i = 0; i < 16; i++)
		sley_spawn(&group, &task[i], join_in_a_region, &done);
	sley_join(&group);
	CHECK_EQ(done, 16);
	stop(rt);
}

/* Forked and joined inside. */
static void fork_in_a_region(void *arg)
{
	int err = sley_blocking_begin();

	CHECK_EQ(err, 0);
	check_sum();
	sley_blocking_end();
	check_sum();
	count_task(arg);
}

TEST_WORKERS(fork_a_task_forks_inside_a_blocking_region)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	atomic_int done = 0;

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], fork_in_a_region, &done);
	sley_join(&group);
	CHECK_EQ(done, 8);
	stop(rt);
}

/* A blocking call runs on a thread of the runtime that is no worker. */
static void add_up_in_call(void *arg)
{
	check_sum();
	count_task(arg);
}

static void call_and_fork(void *arg)
{
	CHECK_EQ(sley_blocking_call(add_up_in_call, arg), 0);
}

TEST_WORKERS(fork_a_blocking_call_forks)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	atomic_int done = 0;

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], call_and_fork, &done);
	sley_join(&group);
	CHECK_EQ(done, 8);
	stop(rt);
}

/* ---- in a region, and in another order ----------------------------------------------- */

struct left {
	struct gate gate;
	atomic_int ran;
	atomic_bool is_joining, was_joined;
};

/*
 * The oldest, called at its join: the others are there for whoever is free.  A
 * worker may have taken it before it was held, and shows nothing then.
 */
static void leave_the_others(void *arg)
{
	uint64_t end_ns = test_now_ns() + 10 * SLEY_SEC;
	struct left *left = arg;

	if (!atomic_load(&left->is_joining))
		return;
	atomic_store(&left->was_joined, true);
	gate_open(&left->gate);
	while (atomic_load(&left->ran) < 3)
		CHECK_LT(test_now_ns(), end_ns);
}

/* All workers are held when it joins. */
static void join_the_oldest_in_a_region(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_forked oldest, child[3];
	struct sley_task task[64];
	struct left *left = arg;

	sley_fork(&oldest, leave_the_others, left);
	for (int i = 0; i < 3; i++)
		sley_fork(&child[i], count_task, &left->ran);
	for (int i = 0; i < nr_runners(); i++)
		sley_spawn(&group, &task[i], gate_task, &left->gate);
	CHECK_EQ(sley_blocking_begin(), 0);
	while (atomic_load(&left->gate.held) < nr_runners())
		test_nap_ms(1);
	atomic_store(&left->is_joining, true);
	sley_fork_join(&oldest);
	gate_open(&left->gate);
	sley_blocking_end();
	for (int i = 3; i-- > 0;)
		sley_fork_join(&child[i]);
	sley_join(&group);
	CHECK_EQ(left->ran, 3);
}

TEST_WORKERS(fork_who_joins_the_oldest_in_a_region_leaves_the_others)
{
	bool was_joined = false;
	struct sley *rt;

	if (is_single() || nr_runners() > 64)
		test_skip("needs a worker");
	rt = start();
	while (!was_joined) {
		struct left left = { 0 };

		run_task(join_the_oldest_in_a_region, &left);
		was_joined = left.was_joined;
	}
	stop(rt);
}

/* ---- what a child of a region has of its parent ----------------------------------------- */

struct told {
	struct sley_task task;
	atomic_bool saw;
};

static void see_the_cancel(void *arg)
{
	uint64_t end_ns = test_now_ns() + 10 * SLEY_SEC;
	struct told *told = arg;

	while (!sley_cancelled() && test_now_ns() < end_ns)
		sley_yield();
	atomic_store(&told->saw, sley_cancelled());
}

static void be_cancelled_in_a_region(void *arg)
{
	struct told *told = arg;
	struct sley_forked child;

	CHECK_EQ(sley_blocking_begin(), 0);
	sley_cancel(&told->task);
	CHECK(sley_cancelled());
	sley_fork(&child, see_the_cancel, told);
	sley_fork_join(&child);
	sley_blocking_end();
}

TEST_WORKERS(fork_a_child_of_a_region_sees_the_cancel_of_its_parent)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct told told = { .saw = false };
	struct sley *rt;

	if (is_single())
		test_skip("needs a worker");
	rt = start();
	sley_spawn(&group, &told.task, be_cancelled_in_a_region, &told);
	sley_join(&group);
	CHECK(told.saw);
	stop(rt);
}

/* ---- forked in a region, joined after it ---------------------------------------------- */

static long twice(long n);
SLEY_FORKABLE(long, twice, long, n)

static long twice(long n)
{
	return 2 * n;
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* The C library keeps the memory of threads that ended, but not so much. */
static void unmap_ended_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	CHECK_EQ(pthread_attr_init(&attr), 0);
	CHECK_EQ(pthread_attr_setstacksize(&attr, (size_t)256 << 20), 0);
	CHECK_EQ(pthread_create(&thread, &attr, do_nothing, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static void join_after_the_region(void *arg)
{
	struct sley_forked plain;
	atomic_int ran = 0;
	int err = sley_blocking_begin();

	CHECK_EQ(err, 0);
	SLEY_FORK(twice, typed, 21);
	sley_fork(&plain, count_task, &ran);
	sley_blocking_end();
	/* The thread that served the region goes; the next one buries it. */
	test_nap_ms(30);
	err = sley_blocking_begin();
	CHECK_EQ(err, 0);
	sley_blocking_end();
	test_nap_ms(30);
	unmap_ended_threads();
	sley_fork_join(&plain);
	CHECK_EQ(ran, 1);
	CHECK_EQ(SLEY_JOIN(twice, typed), 42);
	count_task(arg);
}

TEST_WORKERS(fork_a_child_of_a_region_is_joined_after_it)
{
	struct sley_config config = *test_config();
	atomic_int done = 0;
	struct sley *rt;

	config.blocking_idle_ms = 1;
	rt = start_with(&config);
	run_task(join_after_the_region, &done);
	CHECK_EQ(done, 1);
	stop(rt);
}
