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
	struct sley_forked child;

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

	run_task(fib, &f);
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
	struct sley_forked children[NR_CHILDREN];
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
	struct sley_forked child;

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
	int round;

	if (nr_runners() < 2)
		test_skip("needs a thief");
	for (round = 0; round < 5; round++) {
		struct helped h = { .parent = 0 };

		run_task(wait_for_a_thief, &h);
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
	struct sley_forked children[20];
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

	run_tasks(16, fork_sleepers, &b);
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
	struct sley_forked child;

	sley_fork(&child, set_in_child, &b);
	CHECK_EQ(sley_event_wait(&b.event), 0);
	sley_fork_join(&child);
	count_task(arg);
}

static void run_parents(sley_fn *parent)
{
	struct sley *rt = start();
	atomic_int done = 0;

	run_tasks(32, parent, &done);
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
	struct sley_forked child;

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

/* ---- misuse ------------------------------------------------------------ */

static void join_twice(void *arg)
{
	struct sley_forked child;

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

/* The child is not on the stack: the frame is gone when the task has ended. */
static void join_never(void *arg)
{
	static struct sley_forked child;

	sley_fork(&child, count_task, arg);
}

static void run_forgetful(void)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	CHECK_EQ(sley_spawn_with(&group, &task, join_never, &ran,
				 SLEY_OPTIONS(.name = "forgetful")),
		 0);
	sley_join(&group);
	stop(rt);
}

TEST_ABORTS(fork_a_task_that_ends_without_joining_aborts,
	    ") ended without joining all children that it had forked: call "
	    "sley_fork_join() for each")
{
	run_forgetful();
}

TEST_ABORTS(fork_a_task_that_ends_without_joining_is_named,
	    "sley: misuse: task \"forgetful\" (function ")
{
	run_forgetful();
}

static void join_typed_twice(void *arg)
{
	(void)arg;
	SLEY_FORK(typed_fib, child, 5);
	CHECK_EQ(SLEY_JOIN(typed_fib, child), 5);
	(void)SLEY_JOIN(typed_fib, child);
}

TEST_ABORTS(fork_joining_a_typed_child_twice_aborts,
	    "join a child once, in the task that forked it")
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	CHECK_EQ(sley_schedule(join_typed_twice, NULL), 0);
	stop(rt);
}

struct taken {
	struct sley_forked child;
	struct sley_event go;
	atomic_bool begun;
};

static void wait_to_go(void *arg)
{
	struct taken *taken = arg;

	atomic_store(&taken->begun, true);
	CHECK_EQ(sley_event_wait(&taken->go), 0);
}

static void join_own(void *arg)
{
	struct taken *taken = arg;

	sley_fork(&taken->child, wait_to_go, taken);
	while (!atomic_load(&taken->begun))
		sley_yield();
	sley_fork_join(&taken->child);
}

/* While its parent waits for it. */
static void join_that_of_another(void *arg)
{
	struct taken *taken = arg;

	while (!atomic_load(&taken->begun))
		sley_yield();
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	sley_fork_join(&taken->child);
}

TEST_ABORTS(fork_joining_the_child_of_another_task_aborts,
	    "join a child once, in the task that forked it")
{
	struct taken taken = { .begun = false };
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);

	CHECK_EQ(sley_schedule(join_own, &taken), 0);
	CHECK_EQ(sley_schedule(join_that_of_another, &taken), 0);
	CHECK_EQ(sley_sleep(200 * SLEY_MSEC), 0);
	sley_event_set(&taken.go);
	stop(rt);
}
