/* SPDX-License-Identifier: MIT */
/*
 * fork_stress.c - trees of forked children that block, yield and are stolen
 * while their parents wait, beside others that are cancelled; and random trees
 * that block in every way there is, in runtimes of each size and kind.
 *
 * Each child runs once, and its parent sees what it did: the results are plain.
 */
#include "conformance/task/ways.h"
#include "stress/crowd.h"

#define NR_LOOPS 4
#define DEPTH 7

struct node {
	unsigned int depth;
	uint64_t sum;      /* plain: published by the join */
	unsigned int runs; /* plain                        */
};

static void grow(void *arg)
{
	struct node *node = arg;
	struct node child[3] = { { 0 } };
	struct sley_forked forks[3];
	unsigned int nr = node->depth ? 1 + (unsigned int)test_random(3) : 0;

	node->runs++;
	for (unsigned int i = 0; i < nr; i++) {
		child[i].depth = node->depth - 1;
		sley_fork(&forks[i], grow, &child[i]);
		if (one_in(8))
			dawdle();
	}
	dawdle();
	node->sum = 1;
	for (unsigned int i = nr; i-- > 0;) {
		sley_fork_join(&forks[i]);
		CHECK_EQ(child[i].runs, 1);
		node->sum += child[i].sum;
	}
}

struct forest {
	atomic_uint_least64_t nr;
};

/* A child runs also if its task is cancelled. */
static int grow_tree(void *scene, unsigned int index)
{
	struct forest *forest = scene;
	struct node root = { .depth = DEPTH };

	(void)index;
	grow(&root);
	CHECK_EQ(root.runs, 1);
	CHECK_GT(root.sum, DEPTH);
	atomic_fetch_add(&forest->nr, root.sum);
	return sley_cancelled() ? -ECANCELED : 0;
}

static void play(void)
{
	struct forest forest = { 0 };
	struct crowd crowd = { .act = grow_tree,
			       .scene = &forest,
			       .nr_tasks = 8,
			       .rounds = NR_LOOPS,
			       .cancels = true };

	crowd_run(&crowd);
	test_count(atomic_load(&forest.nr));
}

STRESS(each_forked_child_runs_once, play);

/* ---- every way, every size ------------------------------------------------ */

#define WILD_MAX 6 /* children */

struct wild {
	struct ways *ways;
	unsigned int left; /* nodes below it, at most */
	unsigned int nr;   /* plain: that there were  */
	unsigned int runs; /* plain                   */
};

/* Some go deep, some are broad, and any of them blocks anywhere. */
static void run_wild(void *arg)
{
	struct wild *node = arg, child[WILD_MAX];
	struct sley_forked forks[WILD_MAX];
	unsigned int nr = 0, left = node->left;

	node->runs++;
	if (one_in(4))
		way_block(node->ways, WAY_ANY);
	while (left && nr < WILD_MAX && !one_in(5)) {
		unsigned int share = 1 + (unsigned int)test_random(left);

		child[nr] =
			(struct wild){ .ways = node->ways, .left = share - 1 };
		sley_fork(&forks[nr], run_wild, &child[nr]);
		nr++;
		left -= share;
		if (one_in(6))
			way_block(node->ways, WAY_ANY);
	}
	if (one_in(4))
		way_block(node->ways, WAY_ANY);
	node->nr = 1;
	while (nr-- > 0) {
		sley_fork_join(&forks[nr]);
		CHECK_EQ(child[nr].runs, 1);
		CHECK_LE(child[nr].nr, child[nr].left + 1);
		node->nr += child[nr].nr;
		if (one_in(16))
			way_block(node->ways, WAY_ANY);
	}
}

#define NR_WILD 8
#define WILD_NODES 200

static void play_wild(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_WILD];
	struct wild wild[NR_WILD];
	struct ways ways;

	ways_begin(&ways, false);
	for (int i = 0; i < NR_WILD; i++) {
		wild[i] = (struct wild){ .ways = &ways, .left = WILD_NODES };
		sley_spawn(&group, &task[i], run_wild, &wild[i]);
	}
	sley_join(&group);
	for (int i = 0; i < NR_WILD; i++) {
		CHECK_EQ(wild[i].runs, 1);
		test_count(wild[i].nr);
	}
	ways_end(&ways);
}

static void stress_in_each_size(bool migratable, bool no_membarrier)
{
	struct sley_config config = *test_config();

	config.migratable = migratable;
	config.no_membarrier = no_membarrier;
	if (config.workers == 4)
		config.workers = 3;
	stress_play(&config, play_wild);
}

TEST_WORKERS(wild_trees_block_in_any_way)
{
	stress_in_each_size(false, false);
}

TEST_WORKERS(wild_trees_block_without_membarrier)
{
	stress_in_each_size(false, true);
}

TEST_WORKERS(wild_trees_block_and_migrate)
{
	stress_in_each_size(true, false);
}
