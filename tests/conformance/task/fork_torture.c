/* SPDX-License-Identifier: MIT */
/*
 * fork_torture.c - forks that are many, deep, or in a hurry: recursion to a
 * given depth, thousands of children, storms, parents that never come back,
 * runtimes that stop meanwhile, and stacks and memory that do not suffice.
 */
#include "conformance/task/ways.h"
#include "fiber/sanitize.h"

#include <limits.h>
#include <stdlib.h>

static void run_one(const struct sley_config *config, sley_fn *fn, void *arg)
{
	struct sley *rt = start_with(config);

	run_task(fn, arg);
	stop(rt);
}

/* @fn in a runtime of each kind; also with an odd number of workers. */
static void run_in_each_kind(sley_fn *fn, void *arg)
{
	test_timeout(60);
	for (int kind = 0; kind < 4; kind++) {
		struct sley_config config = *test_config();

		config.migratable = kind & 1;
		config.no_membarrier = kind & 2;
		run_one(&config, fn, arg);
		if (config.workers == 2) {
			config.workers = 3;
			run_one(&config, fn, arg);
		}
	}
}

/* ---- deep ------------------------------------------------------------------ */

enum { DEEP = 1600 };

struct dive {
	unsigned int depth;
	unsigned int nr; /* plain: it, and all below */
};

/* The deep one is the child: it is called by the join, or stolen. */
static void dive_in_child(void *arg)
{
	struct dive *dive = arg, below = { dive->depth - 1, 0 };
	struct sley_forked child;

	if (dive->depth == 0)
		return;
	sley_fork(&child, dive_in_child, &below);
	if (dive->depth % 8 == 0)
		sley_yield(); /* somebody else gets it */
	sley_fork_join(&child);
	dive->nr = below.nr + 1;
}

static void rest(void *arg)
{
	struct dive *dive = arg;

	if (dive->depth % 64 == 0)
		sley_yield();
	dive->nr = 1;
}

/* The deep one is called: as many children as levels wait to be joined. */
static void dive_beside_child(void *arg)
{
	struct dive *dive = arg, below = { dive->depth - 1, 0 };
	struct dive leaf = { dive->depth, 0 };
	struct sley_forked child;

	if (dive->depth == 0)
		return;
	sley_fork(&child, rest, &leaf);
	dive_beside_child(&below);
	sley_fork_join(&child);
	dive->nr = below.nr + leaf.nr;
}

static void dive_from_several(sley_fn *fn)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	struct dive dive[4];
	struct sley *rt;

	/* The frames of sanitizers are several times as large. */
	config.stack_kib = test_sanitizer() ? 8192 : 1024;
	rt = start_with(&config);
	for (int round = 0; round < test_scale(8); round++) {
		for (int i = 0; i < 4; i++) {
			dive[i] = (struct dive){ DEEP, 0 };
			sley_spawn(&group, &task[i], fn, &dive[i]);
		}
		sley_join(&group);
		for (int i = 0; i < 4; i++)
			CHECK_EQ(dive[i].nr, DEEP);
	}
	stop(rt);
}

TEST_WORKERS(fork_1600_generations_fit_into_a_mebibyte)
{
	dive_from_several(dive_in_child);
}

TEST_WORKERS(fork_1600_unjoined_children_on_a_mebibyte)
{
	dive_from_several(dive_beside_child);
}

/* ---- many ------------------------------------------------------------------- */

enum { MANY = 5000 };

struct crowd {
	struct sley_forked fork[MANY];
	int runs[MANY]; /* plain */
};

static void run_once(void *arg)
{
	int *runs = arg;

	++*runs;
	if ((uintptr_t)runs % 256 == 0)
		sley_yield();
}

static void fork_a_crowd(void *arg)
{
	struct crowd *crowd = malloc(sizeof(*crowd));

	(void)arg;
	CHECK(crowd);
	for (int nr = MANY; nr > 4; nr /= 5) {
		memset(crowd->runs, 0, sizeof(crowd->runs));
		for (int i = 0; i < nr; i++) {
			sley_fork(&crowd->fork[i], run_once, &crowd->runs[i]);
			if (i % 999 == 0)
				sley_yield();
		}
		for (int i = nr; i-- > 0;) {
			sley_fork_join(&crowd->fork[i]);
			CHECK_EQ(crowd->runs[i], 1);
		}
	}
	free(crowd);
}

TEST_WORKERS(fork_thousands_of_children_of_one_parent)
{
	run_in_each_kind(fork_a_crowd, NULL);
}

/* Where there is no memory for more, children run at the join. */
static void fork_without_memory(void *arg)
{
	struct sley_forked fork[100];
	int runs[100] = { 0 };

	(void)arg;
	test_fail_allocation_after(0);
	for (int i = 0; i < 100; i++)
		sley_fork(&fork[i], run_once, &runs[i]);
	for (int i = 100; i-- > 0;) {
		sley_fork_join(&fork[i]);
		CHECK_EQ(runs[i], 1);
	}
	test_fail_allocation_after(-1);
}

TEST_WORKERS(fork_without_memory_loses_no_child)
{
	run_in_each_kind(fork_without_memory, NULL);
}

/* ---- storms --------------------------------------------------------------------- */

static void fork_in_bursts(void *arg)
{
	struct sley_forked fork[100];
	int runs[100];

	for (int round = 0; round < test_scale(50); round++) {
		int nr = 1 + (int)test_random(100);

		memset(runs, 0, sizeof(runs));
		for (int i = 0; i < nr; i++)
			sley_fork(&fork[i], run_once, &runs[i]);
		if (test_random(4) == 0)
			CHECK_EQ(sley_sleep(test_random(50) * SLEY_USEC), 0);
		for (int i = nr; i-- > 0;) {
			sley_fork_join(&fork[i]);
			CHECK_EQ(runs[i], 1);
		}
	}
	count_task(arg);
}

static void storm(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[32];
	atomic_int ended = 0;

	(void)arg;
	for (int i = 0; i < 32; i++)
		sley_spawn(&group, &task[i], fork_in_bursts, &ended);
	sley_join(&group);
	CHECK_EQ(ended, 32);
}

TEST_WORKERS(fork_storms_of_several_tasks)
{
	run_in_each_kind(storm, NULL);
}

/* ---- parents that never call sley again -------------------------------------------- */

enum { NR_LEFT = 3 };

struct left_alone {
	atomic_int ran;
	struct gate gate; /* holds the other workers */
};

/* Computes, and nothing else, until somebody has run all of them. */
static void compute_until_they_ran(struct left_alone *left)
{
	uint64_t end_ns = test_now_ns() + 10 * SLEY_SEC;

	while (atomic_load(&left->ran) < NR_LEFT)
		CHECK_LT(test_now_ns(), end_ns);
}

static void fork_and_compute(void *arg)
{
	struct left_alone *left = arg;
	struct sley_forked child[NR_LEFT];

	for (int i = 0; i < NR_LEFT; i++)
		sley_fork(&child[i], count_task, &left->ran);
	gate_open(&left->gate);
	compute_until_they_ran(left);
	for (int i = NR_LEFT; i-- > 0;)
		sley_fork_join(&child[i]);
	atomic_store(&left->ran, 0);
}

static void need_thieves(void)
{
	if (nr_runners() < 2)
		test_skip("needs a thief");
}

static void fork_and_compute_again(void *arg)
{
	for (int round = 0; round < test_scale(40); round++) {
		if (round % 4 == 0)
			test_nap_ms(1); /* the others fall asleep */
		fork_and_compute(arg);
	}
}

TEST_WORKERS(fork_children_of_a_parent_that_only_computes_are_run)
{
	struct left_alone left = { .ran = 0 };

	need_thieves();
	run_in_each_kind(fork_and_compute_again, &left);
}

/* The same one level down, in a child that is called by a join. */
static void compute_in_child(void *arg)
{
	struct sley_forked child;

	for (int round = 0; round < test_scale(40); round++) {
		sley_fork(&child, fork_and_compute, arg);
		sley_fork_join(&child);
	}
}

TEST_WORKERS(fork_grandchildren_of_one_that_only_computes_are_run)
{
	struct left_alone left = { .ran = 0 };

	need_thieves();
	run_in_each_kind(compute_in_child, &left);
}

/* Nobody has time when they are forked; then somebody has. */
static void fork_while_all_are_busy(void *arg)
{
	struct left_alone *left = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[64];
	int nr = nr_runners() - 1;

	for (int round = 0; round < test_scale(10); round++) {
		atomic_store(&left->gate.held, 0);
		atomic_store(&left->gate.open, false);
		for (int i = 0; i < nr; i++)
			sley_spawn(&group, &task[i], gate_task, &left->gate);
		while (atomic_load(&left->gate.held) < nr)
			test_nap_ms(0);
		fork_and_compute(left);
		sley_join(&group);
	}
}

TEST_WORKERS(fork_children_are_found_by_who_becomes_idle_later)
{
	struct left_alone left = { .ran = 0 };

	need_thieves();
	run_in_each_kind(fork_while_all_are_busy, &left);
}

/* ---- stopping ------------------------------------------------------------------------ */

enum { NR_TREES = 12, TREE_DEPTH = 4 };

struct trees {
	struct ways ways;
	struct branch root[NR_TREES];
	struct sley_group group;
	struct sley_task task[NR_TREES];
	struct sley *rt;
};

static void plant(struct trees *trees, bool cancels)
{
	ways_begin(&trees->ways, cancels);
	trees->group = (struct sley_group)SLEY_GROUP_INIT;
	for (int i = 0; i < NR_TREES; i++) {
		trees->root[i] = (struct branch){ .ways = &trees->ways,
						  .way = WAY_ANY,
						  .depth = TREE_DEPTH };
		sley_spawn(&trees->group, &trees->task[i], branch_grow,
			   &trees->root[i]);
	}
}

static void harvest(struct trees *trees)
{
	for (int i = 0; i < NR_TREES; i++) {
		struct branch *root = &trees->root[i];

		CHECK(root->runs == 1 ||
		      (root->runs == 0 && trees->ways.cancels));
		CHECK_EQ(root->nr, root->runs * branch_count(TREE_DEPTH));
	}
	ways_end(&trees->ways);
}

TEST_WORKERS(fork_destroy_waits_for_all_children)
{
	static struct trees trees;

	test_timeout(60);
	for (int round = 0; round < test_scale(16); round++) {
		struct sley_config config = *test_config();

		config.migratable = round & 1;
		trees.rt = start_with(&config);
		plant(&trees, false);
		stop(trees.rt);
		harvest(&trees);
	}
}

static void say_nothing(void *self, const char *line)
{
	(void)self;
	(void)line;
}

TEST_WORKERS(fork_destroy_gives_up_and_goes_on_while_children_are_busy)
{
	static struct trees trees;
	struct sley_config config = *test_config();

	test_timeout(60);
	config.report = say_nothing;
	for (int round = 0; round < test_scale(16); round++) {
		int err;

		trees.rt = start_with(&config);
		plant(&trees, false);
		sley_unbind(trees.rt);
		do {
			err = sley_destroy_until(trees.rt,
						 sley_now() + 50 * SLEY_USEC);
			CHECK(err == 0 || err == -ETIMEDOUT);
		} while (err);
		harvest(&trees);
	}
}

static void *cancel_all_soon(void *arg)
{
	struct trees *trees = arg;
	uint64_t end_ns = sley_now() + test_random(1000) * SLEY_USEC;

	while (sley_now() < end_ns)
		;
	sley_cancel_all(trees->rt);
	return NULL;
}

/* Whoever has begun forks and joins to the end; its waits are cut short. */
TEST_WORKERS(fork_cancel_all_loses_no_child)
{
	static struct trees trees;

	test_timeout(60);
	for (int round = 0; round < test_scale(24); round++) {
		struct sley_config config = *test_config();
		pthread_t thread;

		config.migratable = round & 1;
		trees.rt = start_with(&config);
		plant(&trees, true);
		thread = test_thread(cancel_all_soon, &trees);
		sley_join(&trees.group);
		pthread_join(thread, NULL);
		stop(trees.rt);
		harvest(&trees);
	}
}

/* ---- stacks that do not suffice ---------------------------------------------------------- */

static volatile unsigned int bottom = UINT_MAX; /* nobody gets there */

static void fork_for_ever(void *arg)
{
	struct sley_forked child;
	unsigned int depth = *(unsigned int *)arg + 1;

	if (depth == bottom)
		return;
	sley_fork(&child, fork_for_ever, &depth);
	sley_fork_join(&child);
	bottom = depth; /* so that it is no tail call */
}

static void overflow_on(int workers, sley_fn *fn)
{
	struct sley_config config = config_of(workers);
	unsigned int depth = 0;

#ifdef SANITIZE_THREAD
	test_skip("it may come inside of the sanitizer, which has locks");
#endif
	config.stack_kib = test_sanitizer() ? 128 : 32;
	run_one(&config, fn, &depth);
}

#define NEEDS_MORE " KiB and it needs more than "

TEST_ABORTS(fork_a_recursion_without_end_says_how_much_it_needs, NEEDS_MORE)
{
	overflow_on(1, fork_for_ever);
}

TEST_ABORTS(fork_so_does_one_on_a_single_thread, NEEDS_MORE)
{
	overflow_on(SLEY_SINGLE, fork_for_ever);
}

static volatile unsigned char sink;

__attribute__((noinline)) static unsigned int dig(unsigned int depth)
{
	volatile unsigned char frame[256];

	frame[0] = (unsigned char)depth;
	if (depth != bottom)
		depth = dig(depth + 1);
	sink = frame[0];
	return depth;
}

static void dig_in_child(void *arg)
{
	sink = (unsigned char)dig(*(unsigned int *)arg);
}

/* Its parent cannot run it. */
static void wait_for_an_overflow(void *arg)
{
	struct sley_forked child;

	sley_fork(&child, dig_in_child, arg);
	for (int i = 0; i < 10000; i++)
		test_nap_ms(1);
	sley_fork_join(&child);
}

TEST_ABORTS(fork_so_does_a_child_that_was_stolen, NEEDS_MORE)
{
	overflow_on(2, wait_for_an_overflow);
}
