/* SPDX-License-Identifier: MIT */
/*
 * scope_cancel.c - how a cancelled scope reaches all that is in it.
 */
#include "conformance/task/scope_scene.h"

/* ---- down ----------------------------------------------------------------------- */

#define DEPTH 64

struct level {
	struct scene *s;
	struct sley_scope *outermost;
	int depth;
};

/* Each level has a scope with a blocked member and the next level in it. */
static int descend(void *arg)
{
	struct level *above = arg, own = *above;
	struct sley_task next, blocked;
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &blocked, block, own.s);
	if (--own.depth)
		sley_scope_spawn(&scope, &next, descend, &own);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	CHECK(sley_cancelled());
	return 0;
}

static void deep(void *arg)
{
	struct scene s = { 0 };
	struct level level = { &s, &s.scope, DEPTH };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, descend, &level);
	await(&s.begun, DEPTH);
	sley_scope_cancel(&s.scope);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	CHECK_EQ(s.cut, DEPTH);
}

TEST_WORKERS(a_cancel_goes_down_through_scopes_of_members_at_any_depth)
{
	run_both_ways(deep);
}

/* How the task with the scope spends its time when it is cancelled. */
static void in_close(struct scene *s)
{
	(void)s;
}

static void in_a_wait(struct scene *s)
{
	CHECK_EQ(sley_event_wait(&s->never), -ECANCELED);
}

static void running(struct scene *s)
{
	(void)s;
	while (!sley_cancelled())
		sley_yield();
}

static void running_shielded(struct scene *s)
{
	/* Its member is cut although it does not look. */
	await(&s->cut, 1);
}

static void (*const pastimes[])(struct scene *s) = { in_close, in_a_wait,
						     running,
						     running_shielded };

struct busy {
	struct scene s;
	size_t pastime;
};

static void with_a_scope(void *arg)
{
	struct busy *b = arg;
	struct sley_task task;

	sley_scope_open(&b->s.scope);
	sley_scope_spawn(&b->s.scope, &task, block, &b->s);
	await(&b->s.begun, 1);
	atomic_fetch_add(&b->s.begun, 1);
	pastimes[b->pastime](&b->s);
	CHECK_EQ(sley_scope_close(&b->s.scope), -ECANCELED);
}

TEST_WORKERS(cancelling_a_task_cancels_its_scopes_whatever_it_does)
{
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(pastimes); i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct busy b = { .pastime = i };
		struct sley_task task;

		sley_spawn(&group, &task, with_a_scope, &b);
		await(&b.s.begun, 2);
		sley_cancel(&task);
		sley_cancel(&task);
		sley_join(&group);
		CHECK_EQ(b.s.cut, 1);
	}
	stop(rt);
}

/* ---- deadlines --------------------------------------------------------------------- */

static void deadline(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];
	uint64_t deadline_ns = in_ms(20);

	(void)arg;
	sley_scope_open_until(&s.scope, deadline_ns);
	spawn_n(&s, task, NR / 2, block);
	spawn_n(&s, task + NR / 2, NR / 2, spin);
	CHECK_EQ(sley_scope_close(&s.scope), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline_ns);
	CHECK_EQ(s.cut, s.begun);
	CHECK(!sley_cancelled());
}

TEST_WORKERS(at_its_deadline_a_scope_is_cancelled)
{
	run_both_ways(deadline);
}

static void deadline_not_met(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];

	(void)arg;
	sley_scope_open_until(&s.scope, in_ms(600000));
	spawn_n(&s, task, NR, succeed);
	CHECK_EQ(sley_scope_close(&s.scope), 0);
	CHECK_EQ(s.ended, NR);
	sley_scope_open_until(&s.scope, SLEY_FOREVER);
	CHECK_EQ(sley_scope_close(&s.scope), 0);
}

TEST_WORKERS(a_scope_that_is_done_does_not_wait_for_its_deadline)
{
	run_both_ways(deadline_not_met);
}

static void deadline_past(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];

	(void)arg;
	sley_scope_open_until(&s.scope, sley_now() - 1);
	CHECK(sley_scope_cancelled(&s.scope));
	spawn_n(&s, task, NR, succeed);
	CHECK_EQ(sley_scope_close(&s.scope), -ETIMEDOUT);
	CHECK_EQ(s.begun, 0);
	sley_scope_open_until(&s.scope, 0);
	CHECK_EQ(sley_scope_close(&s.scope), -ETIMEDOUT);
}

TEST_WORKERS(a_deadline_in_the_past_cancels_at_once)
{
	run_both_ways(deadline_past);
}

static void deadline_of_opener(void *arg)
{
	struct scene s = { 0 };
	struct sley_scope inner;

	(void)arg;
	sley_scope_open_until(&s.scope, in_ms(5));
	sley_scope_open_until(&inner, in_ms(600000));
	CHECK_EQ(sley_event_wait(&s.never), -ECANCELED);
	CHECK_EQ(sley_scope_close(&inner), -ETIMEDOUT);
	CHECK_EQ(sley_scope_close(&s.scope), -ETIMEDOUT);
	CHECK_EQ(sley_sleep(1), 0);
}

TEST_WORKERS(a_deadline_cuts_who_opened_it_and_bounds_the_scopes_within)
{
	run_as_task(deadline_of_opener);
}

static void computes_past_the_deadline(void *arg)
{
	struct sley_scope scope;

	(void)arg;
	sley_scope_open_until(&scope, in_ms(2));
	while (!sley_cancelled()) /* and calls nothing else */
		;
	CHECK_EQ(sley_scope_close(&scope), -ETIMEDOUT);
}

TEST_WORKERS(a_task_that_only_computes_sees_the_deadline)
{
	run_as_task(computes_past_the_deadline);
}

/* ---- others -------------------------------------------------------------------------- */

static void *cancel_from_outside(void *arg)
{
	struct scene *s = arg;

	CHECK_EVENTUALLY(atomic_load(&s->begun) == NR || is_single());
	sley_scope_fail(&s->scope, -ENOSPC);
	atomic_store(&s->ended, 1);
	return NULL;
}

static void cancelled_by_a_thread(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR + 1];
	pthread_t thread;

	(void)arg;
	sley_scope_open(&s.scope);
	spawn_n(&s, task, NR, block);
	thread = test_thread(cancel_from_outside, &s);
	while (!atomic_load(&s.ended)) /* it is done with the scope */
		sley_yield();
	CHECK_EQ(sley_scope_close(&s.scope), -ENOSPC);
	CHECK_EQ(s.cut, s.begun);
	pthread_join(thread, NULL);
}

TEST_WORKERS(a_thread_of_no_runtime_can_cancel_a_scope)
{
	run_both_ways(cancelled_by_a_thread);
}

/* The scope is gone as soon as close returns: its frame is used again. */
static __attribute__((noinline)) void open_and_close(struct sley_task *task)
{
	struct scene s = { 0 };

	sley_scope_open(&s.scope);
	spawn_n(&s, task, 2, succeed);
	CHECK_EQ(sley_scope_close(&s.scope), 0);
	spoil(&s, sizeof(s));
}

static void close_races_the_last_member(void *arg)
{
	struct sley_task task[2];

	(void)arg;
	for (int i = 0; i < test_scale(2000); i++)
		open_and_close(task);
}

TEST_WORKERS(nobody_touches_a_scope_that_was_closed)
{
	run_both_ways(close_races_the_last_member);
}

static void open_for_ever(void *arg)
{
	struct scene *s = arg;
	struct sley_task task[NR];
	int err;

	sley_scope_open(&s->scope);
	spawn_n(s, task, NR, block);
	err = sley_scope_close(&s->scope);
	CHECK_EQ(err, -ECANCELED);
}

TEST_WORKERS(cancelling_everything_ends_open_scopes)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct scene s = { 0 };
	struct sley_task task;

	sley_spawn(&group, &task, open_for_ever, &s);
	while (atomic_load(&s.begun) < NR)
		sley_yield();
	sley_cancel_all(rt);
	sley_join(&group);
	CHECK_EQ(s.cut, NR);
	stop(rt);
}

TEST(without_membarrier_a_cancel_finds_everybody)
{
	struct sley_config config = config_of(4);
	struct sley *rt;

	config.no_membarrier = true;
	rt = start_with(&config);
	for (int i = 0; i < test_scale(40); i++) {
		deep(NULL);
		cancelled_by_a_thread(NULL);
	}
	stop(rt);
}

TEST(where_fibers_move_a_cancel_finds_everybody)
{
	struct sley_config config = config_of(4);
	struct sley *rt;

	config.migratable = true;
	rt = start_with(&config);
	for (int i = 0; i < test_scale(40); i++) {
		deep(NULL);
		cancelled_by_a_thread(NULL);
	}
	stop(rt);
}

/* ---- blocking regions and forked children ------------------------------------------------ */

static void in_a_region(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];

	(void)arg;
	(void)sley_blocking_begin();
	sley_scope_open_until(&s.scope, in_ms(5));
	spawn_n(&s, task, NR, block);
	CHECK_EQ(sley_scope_close(&s.scope), -ETIMEDOUT);
	sley_blocking_end();
	CHECK_EQ(s.cut, s.begun);
	CHECK_EQ(sley_sleep(1), 0);
}

TEST_WORKERS(a_scope_can_be_opened_in_a_blocking_region)
{
	if (is_single())
		test_skip("what blocks cannot spawn there");
	run_as_task(in_a_region);
}

static void forked_wait(void *arg)
{
	struct scene *s = arg;

	atomic_store(&s->begun, 1);
	CHECK_EQ(sley_event_wait(&s->never), -ECANCELED);
	CHECK(sley_cancelled());
	atomic_store(&s->cut, 1);
}

static int fork_one(void *arg)
{
	struct scene *s = arg;
	struct sley_forked child;

	sley_fork(&child, forked_wait, s);
	while (!atomic_load(&s->begun))
		sley_yield(); /* until it is stolen */
	atomic_fetch_add(&s->ended, 1);
	sley_fork_join(&child);
	CHECK(sley_cancelled());
	return 0;
}

static void cancel_the_forking(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, fork_one, &s);
	await(&s.ended, 1);
	sley_scope_cancel(&s.scope);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	CHECK_EQ(s.cut, 1);
}

TEST_WORKERS(a_stolen_child_of_a_member_is_cut_short)
{
	if (nr_runners() < 2)
		test_skip("nobody steals");
	run_as_task(cancel_the_forking);
}

/* The member itself is cancelled, and has no scope of its own. */
static void cancel_who_forked(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, fork_one, &s);
	await(&s.ended, 1);
	sley_cancel(&task);
	CHECK_EQ(sley_scope_close(&s.scope), 0);
	CHECK_EQ(s.cut, 1);
}

TEST_WORKERS(a_stolen_child_of_a_member_that_is_cancelled_is_cut_short)
{
	if (nr_runners() < 2)
		test_skip("nobody steals");
	run_as_task(cancel_who_forked);
}

/* A child that was there before a scope within is none of that one's. */
static void forked_wait_for_go(void *arg)
{
	struct scene *s = arg;

	atomic_store(&s->begun, 1);
	CHECK_EQ(sley_event_wait(&s->go), 0);
	CHECK(!sley_cancelled());
	atomic_store(&s->ended, 1);
}

static void cancel_within(void *arg)
{
	struct scene s = { 0 };
	struct sley_scope within;
	struct sley_forked child;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_fork(&child, forked_wait_for_go, &s);
	await(&s.begun, 1);
	for (int i = 0; i < 2; i++) {
		sley_scope_open(&within);
		sley_scope_cancel(&within);
		CHECK_EQ(sley_scope_close(&within), -ECANCELED);
	}
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(s.ended, 0);
	sley_event_set(&s.go);
	sley_fork_join(&child);
	CHECK_EQ(s.ended, 1);
	CHECK_EQ(sley_scope_close(&s.scope), 0);
}

TEST_WORKERS(a_scope_leaves_children_alone_that_were_stolen_before_it)
{
	if (nr_runners() < 2)
		test_skip("nobody steals");
	run_as_task(cancel_within);
}

static void forked_wait_again(void *arg)
{
	struct scene *s = arg;

	forked_wait(s);
	CHECK_EQ(sley_event_wait_until(&s->never, in_ms(60000)), -ECANCELED);
	atomic_store(&s->ended, 1);
	while (sley_cancelled()) /* until the scope is closed */
		sley_yield();
	CHECK_EQ(sley_sleep(1), 0);
}

static void fork_in_a_scope(void *arg)
{
	struct scene s = { 0 };
	struct sley_forked child;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_fork(&child, forked_wait_again, &s);
	while (!atomic_load(&s.begun))
		sley_yield();
	sley_scope_cancel(&s.scope);
	while (!atomic_load(&s.ended))
		sley_yield();
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	sley_fork_join(&child);
}

TEST_WORKERS(a_stolen_child_is_cancelled_as_long_as_its_parent_is)
{
	if (nr_runners() < 2)
		test_skip("nobody steals");
	run_as_task(fork_in_a_scope);
}

static void forked_poll(void *arg)
{
	struct scene *s = arg;

	atomic_store(&s->begun, 1);
	while (!sley_cancelled())
		sley_yield();
	atomic_store(&s->cut, 1);
}

static void fork_and_join(void *arg)
{
	struct scene *s = arg;
	struct sley_forked child;

	sley_fork(&child, forked_poll, s);
	while (!atomic_load(&s->begun))
		sley_yield();
	sley_fork_join(&child);
}

TEST_WORKERS(a_stolen_child_sees_that_its_parent_is_cancelled)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct scene s = { 0 };
	struct sley_task task;
	struct sley *rt;

	if (nr_runners() < 2)
		test_skip("nobody steals");
	rt = start();
	sley_spawn(&group, &task, fork_and_join, &s);
	await(&s.begun, 1);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(s.cut, 1);
	stop(rt);
}
