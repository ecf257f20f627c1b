/* SPDX-License-Identifier: MIT */
/*
 * core_tree.c - src/core/task/tree.c: which tree a task or thread belongs to.
 */
#include "conformance/bound.h"

#include "core/task/tree.h"

static void ask(void *arg)
{
	uint64_t *id = arg;

	*id = tree_current();
	CHECK(*id != 0);
	sley_yield();
	CHECK(*id == tree_current());
}

static void *ask_in_thread(void *arg)
{
	ask(arg);
	return NULL;
}

static uint64_t ask_in(struct sley_group *group)
{
	struct sley_task task;
	uint64_t id;

	sley_spawn(group, &task, ask, &id);
	sley_join(group);
	return id;
}

TEST(each_thread_is_a_tree_of_its_own)
{
	uint64_t here = tree_current(), there;

	pthread_join(test_thread(ask_in_thread, &there), NULL);
	CHECK(here != there);
	CHECK(here == tree_current());
}

TEST_WORKERS(each_task_is_a_tree_of_its_own_unless_its_group_is_in_one)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t here = tree_current(), first, second;

	first = ask_in(&group);
	second = ask_in(&group);
	CHECK(first != here && second != here && first != second);
	sley_group_in_tree(&group);
	CHECK(ask_in(&group) == here);
	CHECK(ask_in(&group) == here);
	stop(rt);
	CHECK(tree_current() == here);
}

struct parent {
	uint64_t id;
	uint64_t in_child, in_group;
	atomic_bool child_ran;
};

static void ask_in_child(void *arg)
{
	struct parent *p = arg;
	struct sley_group group = SLEY_GROUP_INIT;

	ask(&p->in_child);
	sley_group_in_tree(&group);
	p->in_group = ask_in(&group);
	atomic_store(&p->child_ran, true);
}

/* Where there is another worker, it takes the child, which asks first. */
static void fork_and_ask(void *arg)
{
	struct parent *p = arg;
	struct sley_forked child;

	sley_fork(&child, ask_in_child, p);
	while (nr_runners() > 1 && !atomic_load(&p->child_ran))
		test_nap_ms(1);
	sley_fork_join(&child);
	ask(&p->id);
}

TEST_WORKERS(forked_children_are_in_the_tree_of_their_parent)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t last = 0;

	for (int i = 0; i < 5; i++) {
		struct parent p = { .id = 0 };

		sley_spawn(&group, &task, fork_and_ask, &p);
		sley_join(&group);
		CHECK(p.in_child == p.id && p.in_group == p.id);
		CHECK(p.id != last);
		last = p.id;
	}
	stop(rt);
}

static void ask_often(void *arg)
{
	for (int i = 0; i < 100; i++)
		CHECK(tree_current() == *(uint64_t *)arg);
}

/* For TSan: a stolen child asks for its parent's tree while that moves. */
static void fork_and_nap(void *arg)
{
	struct sley_forked child;
	uint64_t id = tree_current();

	(void)arg;
	for (int i = 0; i < 100; i++) {
		sley_fork(&child, ask_often, &id);
		CHECK_EQ(sley_sleep(SLEY_USEC), 0);
		sley_fork_join(&child);
	}
}

TEST_WORKERS(stolen_children_ask_while_their_parent_comes_and_goes)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, fork_and_nap, NULL);
	sley_join(&group);
	stop(rt);
}
