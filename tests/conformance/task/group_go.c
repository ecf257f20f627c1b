/* SPDX-License-Identifier: MIT */
/*
 * group_go.c - tasks of a group in memory of the library: sley_group_go().
 */
#include "conformance/bound.h"

struct tally {
	struct sley_group group;
	atomic_int ran;
	int depth;
};

static void count_one(void *arg)
{
	count_task(arg);
}

static void wait_and_count(void *arg)
{
	sley_yield();
	CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
	count_task(arg);
}

TEST_WORKERS(group_go_runs_each_task_before_the_join_returns)
{
	struct sley_group group = SLEY_GROUP_INIT;
	int n = test_scale(2000);
	struct sley *rt = start();
	atomic_int ran = 0;

	for (int round = 0; round < 3; round++) {
		atomic_store(&ran, 0);
		for (int i = 0; i < n; i++)
			CHECK_EQ(sley_group_go(&group,
					       i % 3 ? count_one
						     : wait_and_count,
					       &ran),
				 0);
		sley_join(&group);
		CHECK_EQ(ran, n);
	}
	stop(rt);
}

/* The group stands on a stack that returns, and nothing of a task is left. */
static void grow(void *arg)
{
	struct tally *t = arg;
	struct tally below = { .depth = t->depth - 1 };

	atomic_fetch_add(&t->ran, 1);
	if (!t->depth)
		return;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_group_go(&below.group, grow, &below), 0);
	sley_join(&below.group);
	CHECK_EQ(below.ran, 3);
}

TEST_WORKERS(group_go_nests_with_groups_on_stacks_that_return)
{
	struct tally t = { .depth = 5 };
	struct sley *rt = start();

	CHECK_EQ(sley_group_go(&t.group, grow, &t), 0);
	sley_join(&t.group);
	CHECK_EQ(t.ran, 1);
	stop(rt);
}

TEST_WORKERS(group_go_shares_a_group_with_spawned_tasks)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[50];
	struct sley *rt = start();
	atomic_int ran = 0;

	for (int i = 0; i < 50; i++) {
		sley_spawn(&group, &tasks[i], wait_and_count, &ran);
		CHECK_EQ(sley_group_go(&group, wait_and_count, &ran), 0);
	}
	sley_join(&group);
	CHECK_EQ(ran, 100);
	stop(rt);
}

/* Dropped or run to its end: counted and freed once in either case. */
TEST_WORKERS(group_go_of_a_cancelled_runtime_is_joined_all_the_same)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	atomic_int ran = 0;

	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_group_go(&group, count_one, &ran), 0);
	sley_cancel_all(rt);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_group_go(&group, count_one, &ran), 0);
	sley_join(&group);
	CHECK_LE(ran, 20);
	if (is_single()) /* no task has begun before the cancel */
		CHECK_EQ(ran, 0);
	stop(rt);
}

/* A lock that is re-entrant along a tree finds the group of such a task. */
static void read_again(void *arg)
{
	struct sley_rwlock *lock = arg;

	sley_rwlock_write_lock(lock);
	sley_rwlock_write_unlock(lock);
}

TEST_WORKERS(group_go_is_in_the_tree_of_its_group)
{
	struct sley_rwlock_tree tree = { 0 };
	struct sley_rwlock lock = SLEY_RWLOCK_TREE_INIT(&tree);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();

	sley_group_in_tree(&group);
	sley_rwlock_write_lock(&lock);
	CHECK_EQ(sley_group_go(&group, read_again, &lock), 0);
	sley_join(&group);
	sley_rwlock_write_unlock(&lock);
	stop(rt);
}

static void join_own(void *arg)
{
	sley_join(arg);
}

TEST_ABORTS(group_go_of_a_task_that_joins_its_own_group_aborts,
	    "a task cannot join its own group")
{
	static struct sley_group group;

	(void)start();
	CHECK_EQ(sley_group_go(&group, join_own, &group), 0);
	sley_join(&group);
}

TEST(group_go_fails_where_there_is_no_runtime_or_no_group)
{
	struct sley_group group = SLEY_GROUP_INIT;
	atomic_int ran = 0;
	struct sley *rt;

	CHECK_EQ(sley_group_go(&group, count_one, &ran), SLEY_ENORUNTIME);
	rt = start();
	CHECK_EQ(sley_group_go(NULL, count_one, &ran), -EINVAL);
	stop(rt);
	CHECK_EQ(ran, 0);
}

TEST(group_go_without_memory_spawns_nothing)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	atomic_int ran = 0;
	int given = 0, err = 0;

	test_fail_allocation_after(0);
	while (!err && given < 1000000) {
		err = sley_group_go(&group, wait_and_count, &ran);
		given += !err;
	}
	test_fail_allocation_after(-1);
	CHECK_EQ(err, -ENOMEM);
	sley_join(&group);
	CHECK_EQ(ran, given);
	/* And now it works. */
	CHECK_EQ(sley_group_go(&group, wait_and_count, &ran), 0);
	sley_join(&group);
	CHECK_EQ(ran, given + 1);
	stop(rt);
}
