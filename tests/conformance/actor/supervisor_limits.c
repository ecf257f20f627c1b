/* SPDX-License-Identifier: MIT */
/*
 * supervisor_limits.c - how often, and how fast, a child is started again; and
 * what happens if it cannot be.
 */
#include "conformance/actor/supervisor_scene.h"

/* ---- how often ------------------------------------------------------------------- */

TEST_WORKERS(t24_too_many_restarts_are_the_end_of_the_supervisor)
{
	static const struct sley_child children[] = { MEMBER(&a), MEMBER(&b),
						      MEMBER(&c) };
	struct sley *rt = start_quiet();
	sley_pid pid = supervise_restarts(2, children, 3);
	struct watch watch;

	watch_begin(&watch, pid);
	clear_record();
	for (int i = 0; i < 2; i++)
		fail_and_await_next(&b);
	CHECK_SOON(record_has("-b+b-b+b"));
	CHECK_RECORD("-b+b-b+b");
	CHECK_EQ(nr_given_up, 0);
	/* Each restart is said, the end that is final is said instead. */
	CHECK_SOON(nr_restarts == 2);
	fail(&b, -EIO);
	CHECK_EQ(watch_end(&watch), SLEY_ERESTARTS);
	CHECK_EQ(nr_given_up, 1);
	CHECK_EQ(nr_restarts, 2);
	CHECK_RECORD("-b-c-a");
	stop(rt);
}

TEST_WORKERS(t24_a_supervisor_may_tolerate_nothing)
{
	static const struct sley_child children[] = { MEMBER(&a) };
	struct sley *rt = start_quiet();
	struct watch watch;
	sley_pid pid = supervise_with(SLEY_SUPERVISOR_OPTIONS(.never = 1),
				      children, 1);

	watch_begin(&watch, pid);
	kill_member(&a);
	CHECK_EQ(watch_end(&watch), SLEY_ERESTARTS);
	CHECK_RECORD("+a-a");
	stop(rt);
}

TEST_WORKERS(t24_restarts_count_within_a_window_that_slides)
{
	static const struct sley_child children[] = { MEMBER(&a) };
	struct sley *rt = start_quiet();
	sley_pid pid = supervise_with(
		SLEY_SUPERVISOR_OPTIONS(.intensity = 1,
					.within_ns = 2 * SLEY_MSEC),
		children, 1);

	for (int i = 0; i < 5; i++) {
		fail_and_await_next(&a);
		CHECK_EQ(sley_sleep(3 * SLEY_MSEC), 0);
	}
	CHECK(sley_process_alive(pid));
	cancel_and_wait(pid);
	stop(rt);
}

TEST_WORKERS(t24_a_child_may_have_a_limit_of_its_own)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .intensity = 1),
		MEMBER(&b),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise_restarts(100, children, 2);
	struct watch watch;

	watch_begin(&watch, pid);
	for (int i = 0; i < 5; i++)
		fail_and_await_next(&b);
	fail(&a, -EIO);
	CHECK_SOON(a.lives == 2);
	fail(&a, -EIO);
	CHECK_EQ(watch_end(&watch), SLEY_ERESTARTS);
	stop(rt);
}

TEST_WORKERS(t24_one_that_fails_for_good_is_not_started_again)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .fatal = -ENOTUNIQ),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1);
	struct watch watch;

	watch_begin(&watch, pid);
	fail(&a, -EIO);
	CHECK_SOON(a.lives == 2);
	fail(&a, -ENOTUNIQ);
	CHECK_EQ(watch_end(&watch), SLEY_ERESTARTS);
	CHECK_RECORD("+a-a+a-a");
	stop(rt);
}

/* ---- how fast -------------------------------------------------------------------- */

TEST_WORKERS(t24_back_off_really_grows)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .backoff_ns = SLEY_MSEC,
		       .backoff_max_ns = 8 * SLEY_MSEC),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1);

	for (int i = 0; i < 6; i++) {
		uint64_t factor = i < 3 ? 1 << i : 8, end_ns;

		(void)pid_of(&a);
		end_ns = sley_now();
		fail_and_await_next(&a);
		CHECK_GE(a.born_ns - end_ns, factor * SLEY_MSEC * 9 / 10);
	}
	cancel_and_wait(pid);
	stop(rt);
}

TEST_WORKERS(t24_back_off_resets_after_a_long_life)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .backoff_ns = SLEY_MSEC / 10,
		       .backoff_max_ns = 3600 * SLEY_SEC),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise_with(SLEY_SUPERVISOR_OPTIONS(.intensity = 1000,
							      .within_ns = 1),
				      children, 1);

	/* Unless it resets the last of these would take days. */
	for (int i = 0; i < 40; i++) {
		(void)pid_of(&a);
		CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
		fail_and_await_next(&a);
	}
	cancel_and_wait(pid);
	stop(rt);
}

static void stop_during_back_off(enum sley_strategy strategy)
{
	static const struct sley_child children[] = {
		MEMBER(&a),
		MEMBER(&b, .backoff_ns = 3600 * SLEY_SEC),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(strategy, children, 2);

	(void)pid_of(&a);
	fail(&b, -EIO);
	CHECK_SOON(!b.pid);
	/* A call is answered after what came before it. */
	CHECK_EQ(sley_supervisor_remove(pid, SLEY_NO_PID), -ENOENT);
	cancel_and_wait(pid);
	CHECK(!a.pid);
	stop(rt);
}

TEST_WORKERS(t24_a_supervisor_may_be_stopped_during_back_off)
{
	stop_during_back_off(SLEY_ONE_FOR_ONE);
	clear_record();
	stop_during_back_off(SLEY_ONE_FOR_ALL);
}

TEST_WORKERS(t24_one_for_all_waits_as_long_as_the_one_that_failed)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .backoff_ns = 10 * SLEY_MSEC),
		MEMBER(&b),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(SLEY_ONE_FOR_ALL, children, 2);
	uint64_t start_ns;

	(void)pid_of(&b);
	clear_record();
	start_ns = sley_now();
	fail(&a, -EIO);
	AWAIT_RECORD("-a-b+a+b");
	CHECK_GE(a.born_ns - start_ns, 9 * SLEY_MSEC);
	cancel_and_wait(pid);
	stop(rt);
}

TEST_WORKERS(t24_another_failure_makes_no_pause_shorter)
{
	static const struct sley_child children[] = {
		MEMBER(&a),
		MEMBER(&b, .backoff_ns = 20 * SLEY_MSEC),
	};
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(SLEY_REST_FOR_ONE, children, 2);
	uint64_t start_ns;

	(void)pid_of(&a);
	(void)pid_of(&b);
	clear_record();
	start_ns = sley_now();
	fail_and_tell(&b, -EIO, pid);
	fail(&a, -EIO);
	CHECK_SOON(record_has("+b"));
	CHECK_GE(b.born_ns - start_ns, 18 * SLEY_MSEC);
	cancel_and_wait(pid);
	stop(rt);
}

/* ---- the start -------------------------------------------------------------------- */

TEST_WORKERS(t24_what_cannot_be_started_ends_those_that_are)
{
	static const struct sley_child children[] = { MEMBER(&a), MEMBER(&b),
						      MEMBER(&c) };
	struct sley *rt = start_quiet();
	sley_pid pid = 7;

	c.init_error = -EADDRINUSE;
	CHECK_EQ(sley_supervise(&pid, NULL, children, 3), -EADDRINUSE);
	CHECK_EQ(pid, SLEY_NO_PID);
	CHECK_RECORD("+a+b!c-b-a");
	CHECK_SOON(sley_process_count() == 0);
	stop(rt);
}

struct young {
	atomic_int lives;
	struct sley_event watched;
};

/* The last life waits for the watch: the supervisor cannot end before. */
static int die_young(void *arg)
{
	struct young *young = arg;

	if (atomic_fetch_add(&young->lives, 1) == 10)
		CHECK_EQ(sley_event_wait(&young->watched), 0);
	return -EBADF;
}

TEST_WORKERS(t24_a_child_may_die_during_its_start)
{
	static struct young young;
	static const struct sley_child children[] = {
		{ "young", die_young, .arg = &young },
	};
	struct sley *rt = start_quiet();
	struct watch watch;
	sley_pid pid;

	memset(&young, 0, sizeof(young));
	pid = supervise_restarts(10, children, 1);
	watch_begin(&watch, pid);
	sley_event_set(&young.watched);
	CHECK_EQ(watch_end(&watch), SLEY_ERESTARTS);
	CHECK_EQ(young.lives, 11);
	stop(rt);
}

static void check_failing_init(enum sley_strategy strategy)
{
	static const struct sley_child children[] = { MEMBER(&a), MEMBER(&b) };
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(strategy, children, 2);
	int lives;

	(void)pid_of(&a);
	(void)pid_of(&b);
	lives = b.lives;
	b.init_error = -EBUSY;
	clear_record();
	fail(&b, -EIO);
	CHECK_SOON(record_has("!b"));
	CHECK_EQ(b.lives, lives);
	b.init_error = 0;
	CHECK_SOON(b.lives > lives);
	CHECK(pid_of(&a) != SLEY_NO_PID);
	cancel_and_wait(pid);
	stop(rt);
}

TEST_WORKERS(t24_what_cannot_be_started_again_is_tried_later)
{
	check_failing_init(SLEY_ONE_FOR_ONE);
}

TEST_WORKERS(t24_and_takes_others_along)
{
	check_failing_init(SLEY_ONE_FOR_ALL);
	clear_record();
	check_failing_init(SLEY_REST_FOR_ONE);
}

TEST_WORKERS(t24_an_init_that_always_fails_is_a_failure_each_time)
{
	static const struct sley_child children[] = { MEMBER(&a) };
	struct sley *rt = start_quiet();
	sley_pid pid = supervise_restarts(4, children, 1);
	struct watch watch;

	watch_begin(&watch, pid);
	(void)pid_of(&a);
	a.init_error = -EBUSY;
	fail(&a, -EIO);
	CHECK_EQ(watch_end(&watch), SLEY_ERESTARTS);
	CHECK_RECORD("+a-a!a!a!a!a");
	stop(rt);
}

TEST_WORKERS(w43_without_an_optional_child_the_others_start)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .optional = true),
		MEMBER(&b),
	};
	struct sley *rt = start_quiet();
	sley_pid pid;

	a.init_error = -ENODEV;
	pid = supervise_with(SLEY_SUPERVISOR_OPTIONS(.never = 1,
						     .strategy =
							     SLEY_ONE_FOR_ALL),
			     children, 2);
	(void)pid_of(&b);
	CHECK_SOON(record_has("!a+b!a!a"));
	a.init_error = 0;
	(void)pid_of(&a);
	CHECK_EQ(b.lives, 1);
	cancel_and_wait(pid);
	stop(rt);
}
