/* SPDX-License-Identifier: MIT */
/*
 * fork_stress.c - trees of forked children that block, yield and are stolen
 * while their parents wait, beside others that are cancelled.
 *
 * Each child runs once, and its parent sees what it did: the results are plain.
 */
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
	struct sley_fork forks[3];
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
