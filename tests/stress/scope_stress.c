/* SPDX-License-Identifier: MIT */
/*
 * scope_stress.c - trees of scopes, cancelled from anywhere at any time.
 *
 * Each job opens a scope, spawns and forks some more below it, and waits for
 * what never comes, or returns, or fails.  Somebody cancels: a job its own scope
 * or that of its parent, a deadline, the first task of all, or a thread outside.
 * Every job that began ends, nobody is left in a list, and after each close its
 * task can wait again unless there is another reason.  A cancel that misses
 * somebody is a test that times out.
 */
#include "stress/stress.h"

#define DEPTH 3
#define WIDTH 3

struct tree {
	struct sley_event never;
	struct sley_scope scope;
	atomic_int begun, ended;
	atomic_bool outside;
};

struct job {
	struct tree *tree;
	struct sley_scope *above;
	struct sley_task task;
	int depth;
};

static int wait_in_vain(struct tree *tree)
{
	switch (test_random(4)) {
	case 0:
		return sley_event_wait(&tree->never);
	case 1:
		return sley_event_wait_until(&tree->never, in_ms(60000));
	case 2:
		return sley_sleep(60 * SLEY_SEC);
	default:
		while (!sley_cancelled())
			sley_yield();
		return -ECANCELED;
	}
}

static int play_job(void *arg);

static void forked(void *arg)
{
	(void)play_job(arg);
}

static void make_child(const struct job *job, struct job *child,
		       struct sley_scope *scope)
{
	*child = (struct job){ .tree = job->tree,
			       .above = scope,
			       .depth = job->depth - 1 };
}

/* Something happens to a scope, mostly nothing. */
static void meddle(struct job *job, struct sley_scope *scope)
{
	switch (test_random(12)) {
	case 0:
		sley_scope_cancel(scope);
		break;
	case 1:
		sley_scope_fail(job->above, -EIO);
		break;
	case 2:
		sley_scope_fail(scope, -EPIPE);
		break;
	default:
		dawdle();
	}
}

static void branch(struct job *job)
{
	struct job child[WIDTH], left;
	struct sley_scope scope;
	struct sley_forked fork;
	bool forks = one_in(2);
	int err;

	sley_scope_open_until(&scope, one_in(3) ? soon() : SLEY_FOREVER);
	if (forks) {
		make_child(job, &left, &scope);
		sley_fork(&fork, forked, &left);
	}
	for (int i = 0; i < WIDTH; i++) {
		make_child(job, &child[i], &scope);
		sley_scope_spawn(&scope, &child[i].task, play_job, &child[i]);
		meddle(job, &scope);
	}
	if (one_in(2))
		sley_scope_cancel(&scope); /* so that all ends */
	if (forks)
		sley_fork_join(&fork);
	err = sley_scope_close(&scope);
	CHECK(err == 0 || err == -EIO || err == -EPIPE || err == -ECANCELED ||
	      err == -ETIMEDOUT);
}

static int play_job(void *arg)
{
	struct job *job = arg;
	int err = 0;

	atomic_fetch_add(&job->tree->begun, 1);
	if (job->depth)
		branch(job);
	else if (one_in(4))
		err = -EIO;
	else if (one_in(2))
		err = wait_in_vain(job->tree);
	atomic_fetch_add(&job->tree->ended, 1);
	return err;
}

static void *meddle_outside(void *arg)
{
	struct tree *tree = arg;

	if (one_in(2))
		test_nap_ms(1);
	sley_scope_cancel(&tree->scope);
	atomic_store(&tree->outside, true);
	return NULL;
}

static void play_tree(void *arg)
{
	struct tree *tree = arg;
	struct job root = { .tree = tree,
			    .above = &tree->scope,
			    .depth = DEPTH };
	pthread_t thread;

	sley_scope_open_until(&tree->scope, in_ms(60000));
	sley_scope_spawn(&tree->scope, &root.task, play_job, &root);
	thread = test_thread(meddle_outside, tree);
	if (one_in(2))
		(void)!sley_event_wait(&tree->never);
	while (!atomic_load(&tree->outside))
		sley_yield();
	CHECK(sley_scope_close(&tree->scope) < 0);
	CHECK_EQ(tree->begun, tree->ended);
	pthread_join(thread, NULL);
}

static void play(void)
{
	struct tree tree = { 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, play_tree, &tree);
	dawdle();
	if (one_in(3))
		sley_cancel(&task);
	sley_join(&group);
	test_count((uint64_t)tree.begun);
}

STRESS(trees_of_scopes_are_cancelled_anywhere, play);

/* ---- close against the last member ------------------------------------------------ */

static int nothing(void *arg)
{
	(void)arg;
	return (int)test_random(3) - 2;
}

static void open_close(void *arg)
{
	for (int i = 0; i < 20; i++) {
		struct sley_scope scope;
		struct sley_task task[3];

		sley_scope_open_until(&scope,
				      one_in(2) ? soon() : SLEY_FOREVER);
		for (int j = 0; j < 3; j++)
			sley_scope_spawn(&scope, &task[j], nothing, NULL);
		(void)!sley_scope_close(&scope);
		memset(&scope, 0xff, sizeof(scope));
		test_count(1);
	}
	(void)arg;
}

static void play_short(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], open_close, NULL);
	for (int i = 0; i < 8; i++) {
		if (one_in(2))
			sley_cancel(&task[i]);
	}
	sley_join(&group);
}

STRESS(short_scopes_with_deadlines, play_short);
