/* SPDX-License-Identifier: MIT */
/*
 * scope.c - structured scopes: who is waited for, who is cancelled, and what
 * becomes of an error.
 */
#include "conformance/task/scope_scene.h"

/* ---- waiting, and what close returns --------------------------------------- */

static void empty_scope(void *arg)
{
	struct sley_scope scope;

	(void)arg;
	sley_scope_open(&scope);
	CHECK(!sley_scope_cancelled(&scope));
	CHECK_EQ(sley_scope_close(&scope), 0);
	sley_scope_open(&scope); /* again */
	CHECK_EQ(sley_scope_close(&scope), 0);
	sley_scope_open(&scope);
	sley_scope_cancel(&scope);
	CHECK(sley_scope_cancelled(&scope));
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	CHECK(!sley_cancelled());
}

TEST_WORKERS(an_empty_scope_closes_at_once)
{
	run_both_ways(empty_scope);
}

TEST(a_thread_without_a_runtime_may_open_a_scope)
{
	struct sley_scope scope;

	empty_scope(NULL);
	sley_scope_open_until(&scope, in_ms(2));
	while (!sley_scope_cancelled(&scope))
		test_nap_ms(1);
	CHECK_EQ(sley_scope_close(&scope), -ETIMEDOUT);
	sley_scope_open(&scope);
	sley_scope_fail(&scope, -EIO);
	CHECK_EQ(sley_scope_close(&scope), -EIO);
}

static void all_succeed(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];

	(void)arg;
	for (int round = 0; round < 3; round++) {
		sley_scope_open(&s.scope);
		spawn_n(&s, task, NR, succeed);
		CHECK_EQ(sley_scope_close(&s.scope), 0);
		CHECK_EQ(s.ended, NR * (round + 1));
		for (int i = 0; i < NR; i++)
			CHECK_EQ(sley_task_status(&task[i]), 0);
	}
}

TEST_WORKERS(close_waits_for_all_members_and_the_scope_can_be_used_again)
{
	run_both_ways(all_succeed);
}

static void first_failure(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR + 1];

	(void)arg;
	sley_scope_open(&s.scope);
	spawn_n(&s, task, NR / 2, block);
	spawn_n(&s, task + NR / 2, NR / 2, spin);
	await(&s.begun, NR);
	sley_scope_spawn(&s.scope, &task[NR], fail_with_eio, &s);
	CHECK_EQ(sley_scope_close(&s.scope), -EIO);
	CHECK_EQ(s.cut, NR);
	CHECK(!sley_cancelled());
	CHECK_EQ(sley_sleep(1), 0);
}

TEST_WORKERS(the_first_failure_cancels_the_rest_and_is_returned)
{
	run_both_ways(first_failure);
}

static void never_started(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_fail(&s.scope, -EPIPE);
	sley_scope_cancel(&s.scope);
	sley_scope_fail(&s.scope, -EIO);
	spawn_n(&s, task, NR - 1, succeed);
	CHECK_EQ(sley_scope_spawn_with(&s.scope, &task[NR - 1], succeed, &s,
				       SLEY_OPTIONS(.priority = 3)),
		 0);
	CHECK_EQ(sley_scope_close(&s.scope), -EPIPE);
	CHECK_EQ(s.begun, 0);
	for (int i = 0; i < NR; i++)
		CHECK_EQ(sley_task_status(&task[i]), -ECANCELED);
}

TEST_WORKERS(what_is_spawned_into_a_cancelled_scope_never_starts)
{
	run_both_ways(never_started);
}

static void errors_after_cancel(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[NR];

	(void)arg;
	sley_scope_open(&s.scope);
	spawn_n(&s, task, NR, block);
	await(&s.begun, NR);
	sley_scope_cancel(&s.scope);
	sley_scope_cancel(&s.scope);
	sley_scope_fail(&s.scope, -EIO);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	CHECK_EQ(s.cut, NR);
}

TEST_WORKERS(an_error_after_the_cancel_does_not_hide_it)
{
	run_both_ways(errors_after_cancel);
}

static int spawn_sibling(void *arg)
{
	struct scene *s = arg;
	static struct sley_task sibling;

	sley_scope_spawn(&s->scope, &sibling, fail_with_eio, s);
	return 0;
}

static void members_spawn(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, spawn_sibling, &s);
	CHECK_EQ(sley_scope_close(&s.scope), -EIO);
	CHECK_EQ(s.begun, 1);
}

TEST_WORKERS(members_may_spawn_members)
{
	run_both_ways(members_spawn);
}

static int cancel_own(void *arg)
{
	struct scene *s = arg;

	sley_scope_cancel(&s->scope);
	CHECK(sley_cancelled());
	CHECK_EQ(sley_sleep(SLEY_SEC), -ECANCELED);
	return 0;
}

static void cancelled_members(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[2];

	(void)arg;
	/* By itself, from inside. */
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task[0], cancel_own, &s);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	/* A member alone: it says so, and that is a failure. */
	sley_scope_open(&s.scope);
	spawn_n(&s, task, 2, block);
	await(&s.begun, 2);
	sley_cancel(&task[0]);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	CHECK_EQ(s.cut, 2);
}

TEST_WORKERS(a_member_that_is_cancelled_fails_the_scope)
{
	run_both_ways(cancelled_members);
}

TEST(a_member_that_is_cancelled_before_it_starts_fails_the_scope)
{
	struct sley *rt = start_single();
	struct scene s = { 0 };
	struct sley_task task;

	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, succeed, &s);
	sley_cancel(&task);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	CHECK_EQ(s.begun, 0);
	stop(rt);
}

/* ---- who opened it ------------------------------------------------------------ */

static int cancel_when_told(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_event_wait(&s->go), 0);
	sley_scope_cancel(&s->scope);
	return 0;
}

static void opener_is_cut(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, cancel_when_told, &s);
	CHECK(!sley_cancelled());
	sley_event_set(&s.go);
	CHECK_EQ(sley_event_wait(&s.never), -ECANCELED);
	CHECK(sley_cancelled());
	CHECK_EQ(sley_event_wait_until(&s.never, in_ms(60000)), -ECANCELED);
	CHECK_EQ(sley_sleep(SLEY_SEC), -ECANCELED);
	CHECK_EQ(sley_scope_close(&s.scope), -ECANCELED);
	CHECK(!sley_cancelled());
	CHECK_EQ(sley_event_wait_until(&s.never, in_ms(1)), -ETIMEDOUT);
}

TEST_WORKERS(waits_of_who_opened_it_are_cut_short_until_it_is_closed)
{
	run_as_task(opener_is_cut);
}

TEST(bound_code_of_a_single_threaded_runtime_is_cut_short_as_well)
{
	struct sley *rt = start_single();

	opener_is_cut(NULL);
	stop(rt);
}

static void nested_in_one_task(void *arg)
{
	struct sley_scope outer, inner, innermost;

	(void)arg;
	sley_scope_open(&outer);
	sley_scope_open(&inner);
	sley_scope_cancel(&inner);
	CHECK(!sley_scope_cancelled(&outer));
	sley_scope_open(&innermost); /* cancelled from the beginning */
	CHECK(sley_scope_cancelled(&innermost));
	CHECK_EQ(sley_scope_close(&innermost), -ECANCELED);
	CHECK_EQ(sley_sleep(1), -ECANCELED);
	CHECK_EQ(sley_scope_close(&inner), -ECANCELED);
	CHECK_EQ(sley_sleep(1), 0);
	sley_scope_open(&inner);
	sley_scope_fail(&outer, -EIO);
	CHECK(sley_scope_cancelled(&inner));
	CHECK_EQ(sley_scope_close(&inner), -ECANCELED);
	CHECK(sley_cancelled());
	CHECK_EQ(sley_sleep(1), -ECANCELED);
	CHECK_EQ(sley_scope_close(&outer), -EIO);
	CHECK_EQ(sley_sleep(1), 0);
}

TEST_WORKERS(scopes_of_one_task_nest)
{
	run_as_task(nested_in_one_task);
}

/* A cancel for good, while a scope is open, stays. */
static int cancelled_for_good(void *arg)
{
	struct scene *s = arg;
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_cancel(&scope);
	atomic_fetch_add(&s->begun, 1);
	while (!atomic_load(&s->ended))
		sley_yield();
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	CHECK(sley_cancelled());
	CHECK_EQ(sley_sleep(1), -ECANCELED);
	return 0;
}

static void cancel_an_opener(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, cancelled_for_good, &s);
	await(&s.begun, 1);
	sley_cancel(&task);
	atomic_store(&s.ended, 1);
	CHECK_EQ(sley_scope_close(&s.scope), 0);
}

TEST_WORKERS(closing_does_not_undo_a_cancel_of_the_task)
{
	run_as_task(cancel_an_opener);
}

static void options_of_members(void *arg)
{
	struct scene s = { 0 };
	struct sley_task task[2];
	struct sley_waker waker = { 0 };

	(void)arg;
	sley_scope_open(&s.scope);
	CHECK_EQ(sley_scope_spawn_with(&s.scope, &task[0], succeed, &s,
				       SLEY_OPTIONS(.priority = 99)),
		 SLEY_EPRIORITY);
	CHECK_EQ(sley_scope_spawn_with(&s.scope, &task[0], block, &s,
				       SLEY_OPTIONS(.stack_kib = 64)),
		 0);
	CHECK_EQ(sley_scope_spawn_with(&s.scope, &task[1], fail_with_eio, &s,
				       SLEY_OPTIONS(.waker = &waker)),
		 0);
	CHECK_EQ(sley_scope_close(&s.scope), -EIO);
	CHECK_EQ(sley_wake(&waker), -ESRCH);
}

TEST_WORKERS(members_may_have_options)
{
	run_as_task(options_of_members);
}

/* ---- misuse --------------------------------------------------------------------------------- */

static void forget(void *arg)
{
	static struct sley_scope scope;

	(void)arg;
	sley_scope_open(&scope);
}

TEST_ABORTS(a_task_that_ends_with_an_open_scope_is_misuse,
	    "ended with an open scope: call sley_scope_close() first")
{
	run_as_task(forget);
}

static void run_forgetful(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, forget, arg,
				 SLEY_OPTIONS(.name = "forgetful")),
		 0);
	sley_join(&group);
}

TEST_ABORTS(a_task_that_ends_with_an_open_scope_is_named,
	    "sley: misuse: task \"forgetful\" (function ")
{
	run_as_task(run_forgetful);
}

/* Its deadline is among the timers of a worker, which may be gone then. */
TEST_ABORTS(a_thread_that_unbinds_with_an_open_scope_is_misuse,
	    "the thread has an open scope")
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_scope scope;

	sley_scope_open_until(&scope, in_ms(60000));
	stop(rt);
	(void)!sley_scope_close(&scope);
}

TEST_ABORTS(closing_the_outer_scope_first_is_misuse,
	    "sley: misuse in sley_scope_close: only the task or thread that "
	    "opened a scope may close it, and only its innermost open scope")
{
	struct sley_scope outer, inner;

	sley_scope_open(&outer);
	sley_scope_open(&inner);
	(void)!sley_scope_close(&outer);
}

TEST_ABORTS(failing_without_an_error_is_misuse,
	    "must fail with a negative error")
{
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_fail(&scope, 0);
}

TEST_ABORTS(spawning_into_a_scope_without_a_runtime_is_misuse,
	    "spawn from a task or a bound thread")
{
	struct scene s = { 0 };
	struct sley_task task;

	sley_scope_open(&s.scope);
	sley_scope_spawn(&s.scope, &task, succeed, &s);
}
