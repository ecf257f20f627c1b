/* SPDX-License-Identifier: MIT */
/*
 * pipeline_stuck.c - a cancel reaches into stages that block.
 */
#include "conformance/bound.h"

struct stuck {
	struct sley_task task;
	struct sley_scope *scope;
	struct sley_event never;
	atomic_int made, inside, told, dropped;
	int tokens;
	bool fails;
	int priority, result;
};

static int make_one(void **slot, void *arg)
{
	struct stuck *stuck = arg;

	atomic_fetch_add(&stuck->made, 1);
	*slot = stuck;
	return 0;
}

/* All get stuck here; the last one to come may fail instead. */
static int get_stuck(void **slot, void *arg)
{
	struct stuck *stuck = *slot;
	int err;

	(void)arg;
	if (atomic_fetch_add(&stuck->inside, 1) + 1 == stuck->tokens &&
	    stuck->fails)
		return -EIO;
	err = sley_event_wait(&stuck->never);
	CHECK_EQ(err, -ECANCELED);
	atomic_fetch_add(&stuck->told, 1);
	return err;
}

static void drop_stuck(void *item, void *arg)
{
	(void)arg;
	atomic_fetch_add(&((struct stuck *)item)->dropped, 1);
}

static void run_stuck(void *arg)
{
	struct stuck *stuck = arg;
	const struct sley_stage stages[] = {
		{ make_one, stuck, SLEY_STAGE_ORDERED, drop_stuck },
		{ get_stuck, NULL, SLEY_STAGE_PARALLEL, NULL },
	};

	stuck->result =
		sley_pipeline_with(stages, 2, (uint32_t)stuck->tokens, NULL);
	/* It was the pipeline that was told, unless the caller was. */
	CHECK_EQ(sley_cancelled(), !stuck->fails);
}

static void check_stuck(const struct stuck *stuck, int result)
{
	CHECK_EQ(stuck->result, result);
	CHECK_EQ(stuck->told, stuck->tokens - stuck->fails);
	CHECK_EQ(stuck->made, stuck->tokens);
	CHECK_EQ(stuck->dropped, stuck->tokens);
}

TEST_WORKERS(pipeline_a_failure_cuts_short_what_blocks_in_a_stage)
{
	struct sley *rt = start();

	for (int tokens = 1; tokens < 12; tokens++) {
		struct stuck stuck = { .tokens = tokens, .fails = true };
		struct sley_group group = SLEY_GROUP_INIT;

		stuck.priority = tokens % 3 ? 0 : -5;
		sley_spawn(&group, &stuck.task, run_stuck, &stuck);
		sley_join(&group);
		check_stuck(&stuck, -EIO);
	}
	stop(rt);
}

TEST_WORKERS(pipeline_a_failure_does_so_too_for_a_bound_thread)
{
	struct sley *rt = start();

	for (int tokens = 1; tokens < 12; tokens++) {
		struct stuck stuck = { .tokens = tokens, .fails = true };

		stuck.priority = tokens % 3 ? 0 : -5;
		run_stuck(&stuck);
		check_stuck(&stuck, -EIO);
	}
	stop(rt);
}

TEST_WORKERS(pipeline_a_cancel_cuts_short_what_blocks_in_a_stage)
{
	struct sley *rt = start();

	for (int tokens = 1; tokens < 12; tokens++) {
		struct stuck stuck = { .tokens = tokens };
		struct sley_group group = SLEY_GROUP_INIT;

		/* Of another priority: the caller runs nothing itself. */
		stuck.priority = tokens % 2 ? 0 : 5;
		sley_spawn(&group, &stuck.task, run_stuck, &stuck);
		while (atomic_load(&stuck.inside) < tokens)
			CHECK_EQ(sley_sleep(SLEY_USEC), 0);
		sley_cancel(&stuck.task);
		sley_join(&group);
		check_stuck(&stuck, -ECANCELED);
	}
	stop(rt);
}

static int run_stuck_member(void *arg)
{
	run_stuck(arg);
	return 0;
}

TEST_WORKERS(pipeline_a_scope_cuts_short_what_blocks_in_a_stage)
{
	struct sley *rt = start();
	struct stuck stuck = { .tokens = 5 };
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &stuck.task, run_stuck_member, &stuck);
	while (atomic_load(&stuck.inside) < 5)
		CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	sley_scope_cancel(&scope);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	check_stuck(&stuck, -ECANCELED);
	stop(rt);
}

/* The scope of @how, which the caller is not in. */
static int cancel_scope(void **slot, void *arg)
{
	struct stuck *stuck = *slot;

	(void)arg;
	if (atomic_fetch_add(&stuck->inside, 1) == 100)
		sley_scope_cancel(stuck->scope);
	return 0;
}

TEST_WORKERS(pipeline_ends_when_the_scope_it_was_given_does)
{
	struct sley *rt = start();
	struct sley_scope scope;
	struct stuck stuck = { .scope = &scope };
	const struct sley_stage stages[] = {
		{ make_one, &stuck, SLEY_STAGE_ORDERED, drop_stuck },
		{ cancel_scope, NULL, SLEY_STAGE_PARALLEL, NULL },
	};

	sley_scope_open(&scope);
	CHECK_EQ(sley_pipeline_with(stages, 2, 0, SLEY_HOW(.scope = &scope)),
		 -ECANCELED);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	CHECK_EQ(stuck.inside + stuck.dropped, stuck.made);
	stop(rt);
}

static void run_cancelled(void *arg)
{
	struct stuck *stuck = arg;

	sley_cancel(&stuck->task);
	run_stuck(arg);
	CHECK_EQ(stuck->result, -ECANCELED);
	CHECK_EQ(stuck->made, 0);
}

TEST_WORKERS(pipeline_of_a_cancelled_task_makes_nothing)
{
	struct sley *rt = start();

	for (int priority = -1; priority <= 1; priority++) {
		struct stuck stuck = { .tokens = 3, .priority = priority };
		struct sley_group group = SLEY_GROUP_INIT;

		sley_spawn(&group, &stuck.task, run_cancelled, &stuck);
		sley_join(&group);
	}
	stop(rt);
}
