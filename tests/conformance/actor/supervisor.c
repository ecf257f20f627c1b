/* SPDX-License-Identifier: MIT */
/*
 * supervisor.c - who is started again, with whom, and in which order.
 */
#include "conformance/actor/supervisor_scene.h"

static const struct sley_child three[] = { MEMBER(&a), MEMBER(&b), MEMBER(&c) };

/* ---- order --------------------------------------------------------------------- */

TEST_WORKERS(w43_children_start_in_order_and_end_in_reverse)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, three, 3);

	CHECK_RECORD("+a+b+c");
	cancel_and_wait(pid);
	CHECK_RECORD("-c-b-a");
	CHECK(!sley_process_alive(pid));
	stop(rt);
}

TEST_WORKERS(w43_the_end_of_a_runtime_keeps_the_order)
{
	struct sley *rt = start();

	(void)supervise(SLEY_ONE_FOR_ALL, three, 3);
	CHECK_RECORD("+a+b+c");
	stop(rt);
	CHECK_RECORD("-c-b-a");
}

TEST_WORKERS(w43_a_supervisor_needs_no_children)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_supervise(&pid, NULL, NULL, 0), 0);
	CHECK(sley_process_alive(pid));
	cancel_and_wait(pid);
	stop(rt);
}

/* ---- strategies ------------------------------------------------------------------ */

TEST_WORKERS(w43_one_for_one_starts_that_one_again)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, three, 3);
	sley_pid others[2] = { pid_of(&a), pid_of(&c) };

	clear_record();
	fail(&b, -EIO);
	AWAIT_RECORD("-b+b");
	CHECK_EQ(pid_of(&a), others[0]);
	CHECK_EQ(pid_of(&c), others[1]);
	cancel_and_wait(pid);
	CHECK_RECORD("-c-b-a");
	stop(rt);
}

TEST_WORKERS(w43_one_for_all_starts_all_again_when_all_have_ended)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ALL, three, 3);

	clear_record();
	fail(&b, -EIO);
	AWAIT_RECORD("-b-c-a+a+b+c");
	kill_member(&a);
	AWAIT_RECORD("-a-c-b+a+b+c");
	cancel_and_wait(pid);
	CHECK_RECORD("-c-b-a");
	stop(rt);
}

TEST_WORKERS(w43_rest_for_one_starts_those_again_that_came_later)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_REST_FOR_ONE, three, 3);
	sley_pid first = pid_of(&a);

	clear_record();
	fail(&b, -EIO);
	AWAIT_RECORD("-b-c+b+c");
	CHECK_EQ(pid_of(&a), first);
	fail(&c, -EIO);
	AWAIT_RECORD("-c+c");
	fail(&a, -EIO);
	AWAIT_RECORD("-a-c-b+a+b+c");
	cancel_and_wait(pid);
	stop(rt);
}

TEST_WORKERS(w43_one_that_fails_while_others_end_takes_its_own_along)
{
	static struct member slow = { .name = 's', .stubborn = true };
	static const struct sley_child children[] = {
		MEMBER(&a),
		MEMBER(&b),
		MEMBER(&slow, .shutdown_ns = 20 * SLEY_MSEC,
		       .options = &trapping),
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_REST_FOR_ONE, children, 3);

	(void)pid_of(&a);
	(void)pid_of(&slow);
	clear_record();
	/* The slow one is asked to end, and is not in a hurry. */
	fail_and_tell(&b, -EIO, pid);
	fail(&a, -EIO);
	AWAIT_RECORD("-b-a-s+a+b+s");
	cancel_and_wait(pid);
	stop(rt);
}

/* ---- who is started again --------------------------------------------------------- */

static struct member of_each[3] = { { .name = 'p' },
				    { .name = 't' },
				    { .name = 'x' } };

static const struct sley_child one_of_each[] = {
	MEMBER(&of_each[0], .restart = SLEY_PERMANENT),
	MEMBER(&of_each[1], .restart = SLEY_TRANSIENT),
	MEMBER(&of_each[2], .restart = SLEY_TEMPORARY),
};

/* All three end so; who lives then? */
static void check_who_lives(void (*end)(struct member *), const char *who)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, one_of_each, 3);
	struct watch watch;

	for (int i = 0; i < 3; i++) {
		int lives = of_each[i].lives;

		watch_begin(&watch, pid_of(&of_each[i]));
		end(&of_each[i]);
		(void)watch_end(&watch);
		if (strchr(who, of_each[i].name))
			CHECK_SOON(of_each[i].lives > lives && of_each[i].pid);
	}
	/* A call is answered after what came before it. */
	CHECK_EQ(sley_supervisor_remove(pid, SLEY_NO_PID), -ENOENT);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(of_each[i].pid != SLEY_NO_PID,
			 strchr(who, of_each[i].name) != NULL);
	cancel_and_wait(pid);
	stop(rt);
}

static void end_by_error(struct member *member)
{
	fail(member, -EIO);
}

static void end_by_cancel(struct member *member)
{
	CHECK_EQ(sley_process_cancel(pid_of(member), -ECANCELED), 0);
}

TEST_WORKERS(w43_who_comes_to_its_end_is_started_again_only_if_permanent)
{
	check_who_lives(quit, "p");
}

TEST_WORKERS(w43_who_was_cancelled_is_started_again_only_if_permanent)
{
	check_who_lives(end_by_cancel, "p");
}

TEST_WORKERS(w43_who_fails_is_started_again_unless_temporary)
{
	check_who_lives(end_by_error, "pt");
}

TEST_WORKERS(w43_who_was_killed_has_failed)
{
	check_who_lives(kill_member, "pt");
}

TEST_WORKERS(
	w43_one_for_all_starts_what_had_come_to_its_end_but_nothing_temporary)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ALL, one_of_each, 3);

	(void)pid_of(&of_each[2]);
	clear_record();
	quit(&of_each[1]);
	AWAIT_RECORD("-t");
	fail(&of_each[0], -EIO);
	AWAIT_RECORD("-p-x+p+t");
	cancel_and_wait(pid);
	CHECK_RECORD("-t-p");
	stop(rt);
}

/* ---- several of the same ---------------------------------------------------------- */

static atomic_int nr_alike;

static int be_alike(void *arg)
{
	struct sley_msg *msg;

	CHECK(arg == &nr_alike);
	atomic_fetch_add(&nr_alike, 1);
	while (sley_receive(&msg) == 0)
		;
	return -ECANCELED;
}

/* Pids of all that have @parent; how many. */
static int children_of(sley_pid parent, sley_pid *out, int max)
{
	struct sley_process_info info;
	sley_pid pid = SLEY_NO_PID;
	int nr = 0;

	while ((pid = sley_process_next(pid))) {
		if (sley_process_inspect(pid, &info) == 0 &&
		    info.parent == parent && nr < max)
			out[nr++] = pid;
	}
	return nr;
}

TEST_WORKERS(w43_there_can_be_several_of_the_same)
{
	static const struct sley_child children[] = {
		{ "alike", be_alike, .arg = &nr_alike, .count = 100 },
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1), all[101];

	CHECK_SOON(nr_alike == 100);
	CHECK_EQ(children_of(pid, all, 101), 100);
	CHECK_EQ(sley_name_find("alike"), SLEY_NO_PID);
	for (int i = 0; i < 50; i++)
		CHECK_EQ(sley_process_kill(all[2 * i]), 0);
	CHECK_SOON(nr_alike == 150);
	CHECK_EQ(children_of(pid, all, 101), 100);
	cancel_and_wait(pid);
	CHECK_EQ(children_of(pid, all, 101), 0);
	stop(rt);
}

TEST_WORKERS(w43_a_child_has_its_name_in_every_life)
{
	static const struct sley_child children[] = {
		{ "the only one", be_alike, .arg = &nr_alike },
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1);
	sley_pid child = sley_name_find("the only one");

	CHECK(child != SLEY_NO_PID);
	for (int i = 0; i < 10; i++) {
		sley_pid old = child;

		CHECK_EQ(sley_process_kill(old), 0);
		CHECK_SOON((child = sley_name_find("the only one")) !=
				   SLEY_NO_PID &&
			   child != old);
	}
	cancel_and_wait(pid);
	CHECK_EQ(sley_name_find("the only one"), SLEY_NO_PID);
	stop(rt);
}

/* ---- time to end ------------------------------------------------------------------- */

static struct member stubborn = { .name = 's', .stubborn = true };

TEST_WORKERS(
	t24_who_does_not_end_in_its_time_is_killed_and_others_keep_their_turn)
{
	static const struct sley_child children[] = {
		MEMBER(&a),
		MEMBER(&stubborn, .shutdown_ns = 10 * SLEY_MSEC,
		       .options = &trapping),
		MEMBER(&c),
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 3);
	struct watch watch;
	uint64_t start_ns;

	watch_begin(&watch, pid_of(&stubborn));
	clear_record();
	start_ns = sley_now();
	cancel_and_wait(pid);
	CHECK_GE(sley_now() - start_ns, 10 * SLEY_MSEC);
	CHECK_EQ(watch_end(&watch), SLEY_EKILLED);
	CHECK_RECORD("-c-s-a");
	stop(rt);
}

TEST_WORKERS(t24_for_ever_is_for_ever)
{
	static const struct sley_child children[] = {
		MEMBER(&stubborn, .shutdown_ns = SLEY_FOREVER,
		       .options = &trapping),
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1);
	struct watch watch;

	(void)pid_of(&stubborn);
	watch_begin(&watch, pid);
	CHECK_EQ(sley_process_cancel(pid, -ECANCELED), 0);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	CHECK(sley_process_alive(pid));
	CHECK(stubborn.pid != SLEY_NO_PID);
	quit(&stubborn);
	CHECK_EQ(watch_end(&watch), -ECANCELED);
	stop(rt);
}

TEST_WORKERS(w43_an_orphan_that_stays_ends_with_its_runtime)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .options = &trapping),
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1);
	struct watch watch;

	(void)pid_of(&a);
	watch_begin(&watch, pid);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(watch_end(&watch), SLEY_EKILLED);
	CHECK(a.pid != SLEY_NO_PID); /* it has been told, and does not mind */
	stop(rt);
	CHECK_RECORD("+a-a");
}

TEST_WORKERS(w43_a_supervisor_that_is_killed_takes_its_children_along)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, three, 3);
	struct watch watch;

	watch_begin(&watch, pid_of(&b));
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(watch_end(&watch), SLEY_EKILLED);
	CHECK_SOON(!a.pid && !c.pid);
	stop(rt);
}
