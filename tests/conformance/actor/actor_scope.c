/* SPDX-License-Identifier: MIT */
/*
 * actor_scope.c - actors that open scopes: a scope that is cancelled cuts a receive
 * short, and an actor that is ended cancels the scopes it has open.
 */
#include "conformance/actor/process.h"

struct scene {
	struct sley_event never;
	atomic_int begun, cut;
	atomic_int done;
};

static int waits_for_ever(void *arg)
{
	struct scene *s = arg;
	int err;

	atomic_fetch_add(&s->begun, 1);
	err = sley_event_wait(&s->never);
	CHECK_EQ(err, -ECANCELED);
	atomic_fetch_add(&s->cut, 1);
	return err;
}

static void run(sley_actor_fn *fn)
{
	struct sley *rt = start();
	struct scene s = { .begun = 0 };
	sley_pid pid = actor(fn, &s);

	CHECK_SOON(s.done);
	CHECK_SOON(is_gone(pid));
	stop(rt);
}

/* ---- a scope that is cancelled -------------------------------------------------------- */

static int receive_by(int way, struct sley_msg **msg)
{
	switch (way) {
	case 0:
		return sley_receive(msg);
	case 1:
		return sley_receive_until(msg, in_ms(60000));
	default:
		return sley_receive_tag_until(msg, 7, UINT64_MAX);
	}
}

static void check_it_goes_on(void)
{
	struct sley_msg *msg;

	CHECK(!sley_cancelled());
	CHECK_EQ(sley_receive_until(&msg, in_ms(1)), -ETIMEDOUT);
	CHECK_EQ(sley_send(sley_self(), 8, NULL, 0), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->tag, 8);
}

static int has_deadlines(void *arg)
{
	struct scene *s = arg;
	struct sley_scope scope;
	struct sley_msg *msg;

	for (int i = 0; i < 30; i++) {
		sley_scope_open_until(&scope,
				      sley_now() + test_random(3 * SLEY_MSEC));
		CHECK_EQ(receive_by(i % 3, &msg), -ECANCELED);
		CHECK_EQ(receive_by(i % 3, &msg), -ECANCELED);
		CHECK_EQ(sley_scope_close(&scope), -ETIMEDOUT);
		check_it_goes_on();
	}
	atomic_store(&s->done, 1);
	return 0;
}

TEST_WORKERS(the_deadline_of_a_scope_cuts_a_receive_short)
{
	run(has_deadlines);
}

static int fails_soon(void *arg)
{
	(void)arg;
	if (test_random(2))
		(void)!sley_sleep(test_random(SLEY_MSEC));
	return -EIO;
}

static int has_members_that_fail(void *arg)
{
	struct scene *s = arg;
	struct sley_scope scope;
	struct sley_task task[2];
	struct sley_msg *msg;

	for (int i = 0; i < test_scale(200); i++) {
		sley_scope_open(&scope);
		sley_scope_spawn(&scope, &task[0], waits_for_ever, s);
		sley_scope_spawn(&scope, &task[1], fails_soon, s);
		CHECK_EQ(receive_by(i % 3, &msg), -ECANCELED);
		CHECK_EQ(sley_scope_close(&scope), -EIO);
		check_it_goes_on();
	}
	atomic_store(&s->done, 1);
	return 0;
}

TEST_WORKERS(a_member_that_fails_cuts_a_receive_short)
{
	run(has_members_that_fail);
}

static int has_mail(void *arg)
{
	struct scene *s = arg;
	struct sley_scope scope;
	struct sley_msg *msg;

	CHECK_EQ(sley_send(sley_self(), 6, NULL, 0), 0);
	CHECK_EQ(sley_send(sley_self(), 7, NULL, 0), 0);
	sley_scope_open(&scope);
	sley_scope_cancel(&scope);
	CHECK_EQ(sley_receive_tag_until(&msg, 7, UINT64_MAX), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->tag, 6);
	CHECK_EQ(sley_receive(&msg), -ECANCELED);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	check_it_goes_on();
	atomic_store(&s->done, 1);
	return 0;
}

TEST_WORKERS(what_is_there_is_received_in_a_cancelled_scope_too)
{
	run(has_mail);
}

/* ---- an actor that is ended ------------------------------------------------------------- */

static int closes_for_ever(void *arg)
{
	struct scene *s = arg;
	struct sley_scope scope;
	struct sley_task task[3];

	sley_scope_open(&scope);
	for (int i = 0; i < 3; i++)
		sley_scope_spawn(&scope, &task[i], waits_for_ever, s);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	CHECK(sley_cancelled());
	atomic_store(&s->done, 1);
	return 0;
}

TEST_WORKERS(w40_the_scopes_of_an_actor_that_is_ended_are_cancelled)
{
	struct sley *rt = start();

	for (int i = 0; i < 20; i++) {
		struct scene s = { .begun = 0 };
		sley_pid pid = actor(closes_for_ever, &s);

		CHECK_SOON(s.begun == 3);
		if (i % 2)
			CHECK_EQ(sley_process_kill(pid), 0);
		else
			CHECK_EQ(sley_process_cancel(pid, 0), 0);
		CHECK_SOON(s.done);
		CHECK_EQ(s.cut, 3);
		CHECK_SOON(is_gone(pid));
	}
	stop(rt);
}

TEST_WORKERS(w42_the_scopes_of_actors_end_with_the_runtime)
{
	struct scene s = { .begun = 0 };
	struct sley *rt = start();

	(void)actor(closes_for_ever, &s);
	CHECK_SOON(s.begun == 3);
	stop(rt);
	CHECK_EQ(s.cut, 3);
}

static int opens_again_and_again(void *arg)
{
	struct scene *s = arg;
	struct sley_scope scope;
	struct sley_task task;
	struct sley_msg *msg;
	int err;

	do {
		sley_scope_open_until(&scope,
				      sley_now() + test_random(SLEY_MSEC / 5));
		sley_scope_spawn(&scope, &task, waits_for_ever, s);
		err = sley_receive(&msg);
		(void)!sley_scope_close(&scope);
	} while (!sley_cancelled());
	CHECK_EQ(err, -ECANCELED);
	atomic_store(&s->done, 1);
	return 0;
}

/* Both sides at once: neither waits for the other's lock. */
TEST_WORKERS(w40_a_kill_and_a_scope_that_is_cancelled_come_together)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(200); i++) {
		struct scene s = { .begun = 0 };
		sley_pid pid = actor(opens_again_and_again, &s);

		CHECK_SOON(s.begun);
		CHECK_EQ(sley_process_kill(pid), 0);
		CHECK_SOON(s.done);
		CHECK_SOON(is_gone(pid));
	}
	stop(rt);
}
