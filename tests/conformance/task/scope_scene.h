/* SPDX-License-Identifier: MIT */
/*
 * scope_scene.h - what the members of a scope come across in tests.
 */
#ifndef SLEY_TESTS_CONFORMANCE_TASK_SCOPE_SCENE_H
#define SLEY_TESTS_CONFORMANCE_TASK_SCOPE_SCENE_H

#include "conformance/bound.h"

#define NR 8

/* @root as a task of a runtime of its own. */
static inline void run_as_task(sley_fn *root)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, root, NULL);
	sley_join(&group);
	stop(rt);
}

/* The same, and by the bound thread itself. */
static inline void run_both_ways(sley_fn *root)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	root(NULL);
	sley_spawn(&group, &task, root, NULL);
	sley_join(&group);
	stop(rt);
}

/* What members come across. */
struct scene {
	struct sley_scope scope;
	struct sley_event never, go;
	atomic_int begun, ended, cut;
};

static inline int succeed(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->begun, 1);
	sley_yield();
	atomic_fetch_add(&s->ended, 1);
	return 0;
}

static inline int fail_with_eio(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->begun, 1);
	return -EIO;
}

/* Blocks until it is cancelled. */
static inline int block(void *arg)
{
	struct scene *s = arg;
	int err;

	atomic_fetch_add(&s->begun, 1);
	err = sley_event_wait(&s->never);
	CHECK_EQ(err, -ECANCELED);
	CHECK(sley_cancelled());
	CHECK_EQ(sley_sleep(SLEY_SEC), -ECANCELED);
	atomic_fetch_add(&s->cut, 1);
	return err;
}

/* Runs until it is cancelled. */
static inline int spin(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->begun, 1);
	while (!sley_cancelled())
		sley_yield();
	atomic_fetch_add(&s->cut, 1);
	return -ECANCELED;
}

static inline void await(atomic_int *count, int n)
{
	while (atomic_load(count) < n)
		sley_yield();
}

/* By the bound thread of a single-threaded runtime, too. */
static inline void spawn_n(struct scene *s, struct sley_task *task, int n,
			   sley_job *fn)
{
	for (int i = 0; i < n; i++)
		sley_scope_spawn(&s->scope, &task[i], fn, s);
}

#endif
