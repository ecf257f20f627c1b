/* SPDX-License-Identifier: MIT */
/*
 * fork.c - fork and join: a child runs once, inline or on a thief.
 */
#include "conformance/bound.h"

struct fib {
	long n, result;
};

static void fib(void *arg)
{
	struct fib *f = arg, a = { f->n - 1, 0 }, b = { f->n - 2, 0 };
	struct sley_fork child;

	if (f->n < 2) {
		f->result = f->n;
		return;
	}
	sley_fork(&child, fib, &a);
	fib(&b);
	sley_fork_join(&child);
	f->result = a.result + b.result;
}

TEST_WORKERS(fork_fib_is_right)
{
	struct fib f = { test_sanitizer() ? 16 : 22, 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, fib, &f);
	sley_join(&group);
	CHECK_EQ(f.result, test_sanitizer() ? 987 : 17711);
	stop(rt);
}

TEST_WORKERS(fork_several_parents_at_once)
{
	struct fib f[16];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[16];
	int i;

	for (i = 0; i < 16; i++) {
		f[i] = (struct fib){ 14, 0 };
		sley_spawn(&group, &tasks[i], fib, &f[i]);
	}
	sley_join(&group);
	for (i = 0; i < 16; i++)
		CHECK_EQ(f[i].result, 377);
	stop(rt);
}

/* ---- many children of one parent --------------------------------------- */

enum { NR_CHILDREN = 500 };

static void fork_many(void *arg)
{
	struct sley_fork children[NR_CHILDREN];
	atomic_int *ran = arg;
	int i, round;

	for (round = 0; round < 20; round++) {
		atomic_store(ran, 0);
		for (i = 0; i < NR_CHILDREN; i++)
			sley_fork(&children[i], count_task, ran);
		for (i = NR_CHILDREN - 1; i >= 0; i--)
			sley_fork_join(&children[i]);
		CHECK_EQ(*ran, NR_CHILDREN);
	}
}

TEST_WORKERS(fork_many_children_are_joined_in_reverse)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[8];
	atomic_int ran[8];
	int i;

	for (i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], fork_many, &ran[i]);
	sley_join(&group);
	stop(rt);
}

/* ---- stolen children --------------------------------------------------- */

struct helped {
	atomic_bool child_ran;
	pid_t parent, child;
};

static void note_child(void *arg)
{
	struct helped *h = arg;

	h->child = gettid();
	atomic_store(&h->child_ran, true);
}

/*
 * Never calls sley between the fork and the join: a thief must find the child
 * all the same.
 */
static void wait_for_a_thief(void *arg)
{
	struct helped *h = arg;
	struct sley_fork child;

	h->parent = gettid();
	sley_fork(&child, note_child, h);
	while (!atomic_load(&h->child_ran))
		test_nap_ms(1);
	sley_fork_join(&child);
	CHECK_NE(h->child, h->parent);
	CHECK_EQ(gettid(), h->parent);
}

TEST_WORKERS(fork_a_child_is_stolen_although_its_parent_never_calls_sley)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int round;

	if (nr_runners() < 2)
		test_skip("needs a thief");
	for (round = 0; round < 5; round++) {
		struct helped h = { .parent = 0 };

		sley_spawn(&group, &task, wait_for_a_thief, &h);
		sley_join(&group);
	}
	stop(rt);
}

/* ---- children that block ----------------------------------------------- */

struct blocking {
	struct sley_event event; /* automatic */
	atomic_int others, ran;
};

static void sleep_in_child(void *arg)
{
	struct blocking *b = arg;

	CHECK_EQ(sley_sleep(test_random(200) * SLEY_USEC), 0);
	atomic_fetch_add(&b->ran, 1);
}

static void fork_sleepers(void *arg)
{
	struct blocking *b = arg;
	struct sley_fork children[20];
	int i;

	for (i = 0; i < 20; i++)
		sley_fork(&children[i], sleep_in_child, b);
	sley_yield();
	for (i = 19; i >= 0; i--)
		sley_fork_join(&children[i]);
}

TEST_WORKERS(fork_children_may_block)
{
	struct blocking b = { SLEY_EVENT_INIT, 0, 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[16];
	int i;

	for (i = 0; i < 16; i++)
		sley_spawn(&group, &tasks[i], fork_sleepers, &b);
	sley_join(&group);
	CHECK_EQ(b.ran, 320);
	stop(rt);
}

static void set_in_child(void *arg)
{
	struct blocking *b = arg;

	sley_event_set(&b->event);
}

/*
 * The parent waits for its own child without joining it: whoever has time,
 * the same worker if there is only one, must run the child meanwhile.
 */
static void suspend_with_a_child(void *arg)
{
	struct blocking b = { SLEY_EVENT_AUTO_INIT, 0, 0 };
	struct sley_fork child;

	sley_fork(&child, set_in_child, &b);
	CHECK_EQ(sley_event_wait(&b.event), 0);
	sley_fork_join(&child);
	count_task(arg);
}

static void run_parents(sley_fn *parent)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[32];
	atomic_int done = 0;
	int i;

	for (i = 0; i < 32; i++)
		sley_spawn(&group, &tasks[i], parent, &done);
	sley_join(&group);
	CHECK_EQ(done, 32);
	stop(rt);
}

TEST_WORKERS(fork_a_suspended_parent_leaves_its_children_to_others)
{
	run_parents(suspend_with_a_child);
}

/* The same with a parent that only yields until its child has run. */
static void yield_to_a_child(void *arg)
{
	struct blocking b = { SLEY_EVENT_INIT, 0, 0 };
	struct sley_fork child;

	sley_fork(&child, set_in_child, &b);
	while (!sley_event_is_set(&b.event))
		sley_yield();
	sley_fork_join(&child);
	count_task(arg);
}

TEST_WORKERS(fork_a_yielding_parent_leaves_its_children_to_others)
{
	run_parents(yield_to_a_child);
}

/* ---- joins in any order -------------------------------------------------- */

enum { NR_SIBLINGS = 4, NR_ORDERS = 24 };

struct sibling {
	struct sley_fork fork;
	atomic_int ran;
	bool blocks;
};

static void run_sibling(void *arg)
{
	struct sibling *sibling = arg;

	if (sibling->blocks)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	atomic_fetch_add(&sibling->ran, 1);
}

/* Permutation @number of 0, 1, 2, 3. */
static void permute(int number, int order[NR_SIBLINGS])
{
	for (int i = 0; i < NR_SIBLINGS; i++)
		order[i] = i;
	for (int i = NR_SIBLINGS; i > 1; i--) {
		int other = number % i, kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
		number /= i;
	}
}

static void join_in_an_order(int number, unsigned int blocking, bool yields)
{
	struct sibling sibling[NR_SIBLINGS] = { 0 };
	int order[NR_SIBLINGS];

	permute(number, order);
	for (int i = 0; i < NR_SIBLINGS; i++) {
		sibling[i].blocks = blocking >> i & 1;
		sley_fork(&sibling[i].fork, run_sibling, &sibling[i]);
	}
	if (yields) /* those that are not joined yet are left to others */
		sley_yield();
	for (int i = 0; i < NR_SIBLINGS; i++) {
		sley_fork_join(&sibling[order[i]].fork);
		CHECK_EQ(atomic_load(&sibling[order[i]].ran), 1);
	}
}

static void join_in_every_order(void *arg)
{
	for (int number = 0; number < NR_ORDERS; number++) {
		join_in_an_order(number, 0, false);
		join_in_an_order(number, 5, true);
		join_in_an_order(number, 1u << number % NR_SIBLINGS,
				 number % 2);
	}
	count_task(arg);
}

TEST_WORKERS(fork_children_are_joined_in_any_order)
{
	run_parents(join_in_every_order);
}

/* ---- the typed form -------------------------------------------------------- */

SLEY_FORKABLE(long, typed_fib, long, n)

long typed_fib(long n)
{
	if (n < 2)
		return n;
	SLEY_FORK(typed_fib, left, n - 1);
	long right = typed_fib(n - 2);
	return SLEY_JOIN(typed_fib, left) + right;
}

/* Of six arguments, static, and of different types. */
static double weigh(char a, short b, int c, long d, float e, double f);
SLEY_FORKABLE(double, weigh, char, a, short, b, int, c, long, d, float, e,
	      double, f)

static double weigh(char a, short b, int c, long d, float e, double f)
{
	return a + 2.0 * b + 4.0 * c + 8.0 * (double)d + 16.0 * (double)e +
	       32.0 * f;
}

static void add_one(atomic_int *count);
SLEY_FORKABLE_VOID(add_one, atomic_int *, count)

static void add_one(atomic_int *count)
{
	atomic_fetch_add(count, 1);
}

/* Left without a join, one way or the other. */
static void forget_to_join(atomic_int *count, bool early)
{
	SLEY_FORK(add_one, first, count);
	if (early)
		return;
	SLEY_FORK(add_one, second, count);
	SLEY_JOIN(add_one, first);
}

static void fork_typed(void *arg)
{
	struct add_one_fork child[10];
	atomic_int count = 0;

	SLEY_FORK(typed_fib, fib, 12);
	SLEY_FORK(weigh, weight, 1, 1, 1, 1, 1.0f, 1.0);
	CHECK(SLEY_JOIN(weigh, weight) == 63.0);
	CHECK_EQ(SLEY_JOIN(typed_fib, fib), 144);
	for (int i = 0; i < 10; i++)
		add_one_fork(&child[i], &count);
	for (int i = 0; i < 10; i++)
		add_one_join(&child[i]);
	CHECK_EQ(atomic_load(&count), 10);
	forget_to_join(&count, true);
	forget_to_join(&count, false);
	CHECK_EQ(atomic_load(&count), 13);
	count_task(arg);
}

TEST_WORKERS(fork_typed_functions_return_values)
{
	run_parents(fork_typed);
}

/* ---- who is no task -------------------------------------------------------- */

static void fork_and_join_in_any_order(void)
{
	for (int number = 0; number < NR_ORDERS; number++)
		join_in_an_order(number, 3, false);
	CHECK_EQ(typed_fib(6), 8);
}

TEST_WORKERS(fork_from_a_bound_thread)
{
	struct sley *rt = start();

	fork_and_join_in_any_order();
	stop(rt);
}

static void *fork_without_a_runtime(void *arg)
{
	fork_and_join_in_any_order();
	return arg;
}

TEST(fork_from_threads_without_a_runtime)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		thread[i] = test_thread(fork_without_a_runtime, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	fork_and_join_in_any_order();
}

/* Some are forked before the region, some in it, and all are joined in it. */
static void join_in_a_region(void *arg)
{
	atomic_int ran = 0;
	struct sley_fork before[3], inside[3];

	for (int i = 0; i < 3; i++)
		sley_fork(&before[i], count_task, &ran);
	CHECK_EQ(sley_blocking_begin(), 0);
	for (int i = 0; i < 3; i++)
		sley_fork(&inside[i], count_task, &ran);
	for (int i = 0; i < 3; i++) {
		sley_fork_join(&inside[i]);
		sley_fork_join(&before[i]);
	}
	sley_blocking_end();
	CHECK_EQ(atomic_load(&ran), 6);
	count_task(arg);
}

TEST_WORKERS(fork_in_a_blocking_region)
{
	run_parents(join_in_a_region);
}

/* ---- priorities ------------------------------------------------------------- */

static void check_priority(void *arg)
{
	struct sley_waker waker;

	CHECK_EQ(sley_waker_self(&waker), 0);
	CHECK_EQ(waker.priority, -7);
	count_task(arg);
}

static void fork_and_block(void *arg)
{
	struct sley_fork child[8];

	for (int i = 0; i < 8; i++)
		sley_fork(&child[i], check_priority, arg);
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0); /* others run them */
	for (int i = 8; i-- > 0;)
		sley_fork_join(&child[i]);
}

TEST_WORKERS(fork_children_have_the_priority_of_their_parent)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	CHECK_EQ(sley_spawn_with(&group, &task, fork_and_block, &ran,
				 SLEY_OPTIONS(.priority = -7)),
		 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&ran), 8);
	stop(rt);
}

/* ---- misuse ------------------------------------------------------------ */

static void join_twice(void *arg)
{
	struct sley_fork child;

	sley_fork(&child, count_task, arg);
	sley_fork_join(&child);
	sley_fork_join(&child);
}

TEST_ABORTS(fork_joining_twice_aborts, "sley: misuse in sley_fork_join")
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	atomic_int ran = 0;

	CHECK_EQ(sley_schedule(join_twice, &ran), 0);
	stop(rt);
}
