/* SPDX-License-Identifier: MIT */
/*
 * actor_edges.c - functions of the user that are called from within: those that
 * free what was sent, and those that say what is wanted.
 */
#include "conformance/actor/process.h"

/* ---- to free ---------------------------------------------------------------------- */

static void say_freed(void *data)
{
	sley_event_set(data);
}

static int receives_all(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0)
		;
	return 0;
}

/* It has asked for the next one, which does not come. */
TEST_WORKERS(an_actor_that_receives_again_has_freed_the_last_message)
{
	struct sley *rt = start();
	sley_pid pid = actor(receives_all, NULL);

	for (int i = 0; i < 20; i++) {
		struct sley_event freed = SLEY_EVENT_INIT;

		CHECK_EQ(sley_send_owned(pid, 1, &freed, 1, say_freed), 0);
		CHECK_EQ(sley_event_wait_until(&freed, in_ms(10000)), 0);
	}
	CHECK_EQ(sley_process_kill(pid), 0);
	stop(rt);
}

static struct sley_mutex mutex;
static atomic_int nr_locked;

static void lock_and_free(void *data)
{
	(void)data;
	sley_mutex_lock(&mutex);
	atomic_fetch_add(&nr_locked, 1);
	sley_mutex_unlock(&mutex);
}

/* By a step that has returned, an actor, and the end of both. */
TEST_WORKERS(a_function_that_frees_may_wait)
{
	struct sley *rt = start();
	struct life life = { 0 };
	sley_pid pid[2] = { live(&life), actor(receives_all, NULL) };

	for (int round = 0; round < 10; round++) {
		atomic_store(&nr_locked, 0);
		sley_mutex_lock(&mutex);
		for (int i = 0; i < 2; i++)
			CHECK_EQ(sley_send_owned(pid[i], 1, &mutex, 1,
						 lock_and_free),
				 0);
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		CHECK_EQ(nr_locked, 0);
		sley_mutex_unlock(&mutex);
		CHECK_SOON(nr_locked == 2);
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_process_kill(pid[i]), 0);
	stop(rt);
}

static atomic_int nr_refused;

static void receive_and_free(void *data)
{
	struct sley_msg *msg;

	(void)data;
	CHECK_EQ(sley_receive(&msg), -ECANCELED);
	CHECK_EQ(sley_receive_until(&msg, UINT64_MAX - 1), -ECANCELED);
	atomic_fetch_add(&nr_refused, 1);
}

static int receives_once(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_event_wait(arg), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	return 0;
}

/* One that it looks at, and those it does not. */
TEST_WORKERS(who_has_ended_receives_nothing)
{
	struct sley *rt = start();

	for (int nr = 1; nr < 4; nr++) {
		struct sley_event go = SLEY_EVENT_INIT;
		sley_pid pid = actor(receives_once, &go);

		atomic_store(&nr_refused, 0);
		for (int i = 0; i < nr; i++)
			CHECK_EQ(sley_send_owned(pid, 1, &nr_refused, 1,
						 receive_and_free),
				 0);
		sley_event_set(&go);
		CHECK_SOON(nr_refused == nr);
		CHECK_SOON(is_gone(pid));
	}
	stop(rt);
}

static void exit_and_free(void *data)
{
	(void)data;
	sley_actor_exit(-EIO);
}

TEST_ABORTS(exiting_after_the_end_aborts, "the actor exits already")
{
	struct sley_event go = SLEY_EVENT_INIT;
	sley_pid pid;

	(void)!start();
	pid = actor(receives_once, &go);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_send_owned(pid, 1, &go, 1, exit_and_free), 0);
	sley_event_set(&go);
	CHECK_SOON(is_gone(pid));
}

/* ---- to want ----------------------------------------------------------------------- */

static bool exits(const struct sley_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	sley_actor_exit(-EIO);
}

static bool receives(const struct sley_msg *msg, void *arg)
{
	struct sley_msg *other;

	(void)msg;
	(void)arg;
	return sley_receive(&other) == 0;
}

static int wants_by(sley_wants *wants)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	return sley_receive_where_until(&msg, wants, NULL, in_ms(10000));
}

static int wants_to_exit(void *arg)
{
	(void)arg;
	return wants_by(exits);
}

static int wants_to_receive(void *arg)
{
	(void)arg;
	return wants_by(receives);
}

TEST_ABORTS(exiting_when_asked_what_is_wanted_aborts,
	    "sley: misuse in sley_actor_exit: called inside the @wants function")
{
	sley_pid pid;

	(void)!start();
	pid = actor(wants_to_exit, NULL);
	CHECK_SOON(is_gone(pid));
}

TEST_ABORTS(receiving_when_asked_what_is_wanted_aborts,
	    "): the @wants function of "
	    "sley_receive_where_until() must not receive")
{
	sley_pid pid;

	(void)!start();
	pid = actor(wants_to_receive, NULL);
	CHECK_SOON(is_gone(pid));
}
