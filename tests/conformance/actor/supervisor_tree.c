/* SPDX-License-Identifier: MIT */
/*
 * supervisor_tree.c - supervisors of supervisors, and children that come and go.
 */
#include "conformance/actor/supervisor_scene.h"

static const struct sley_child pair[] = { MEMBER(&b), MEMBER(&c) };

/* ---- trees ------------------------------------------------------------------------ */

static const struct sley_child tree[] = {
	MEMBER(&a),
	{ "pair", .children = pair, .nr_children = 2,
	  .supervisor = SLEY_SUPERVISOR_OPTIONS(.strategy = SLEY_ONE_FOR_ALL,
						.intensity = 1,
						.within_ns = 3600 * SLEY_SEC) },
};

TEST_WORKERS(w43_a_child_may_be_a_supervisor)
{
	struct sley *rt = start_quiet();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, tree, 2);
	sley_pid inner = sley_name_find("pair");

	CHECK_RECORD("+a+b+c");
	CHECK(inner != SLEY_NO_PID && inner != pid);
	(void)pid_of(&c);
	fail(&b, -EIO);
	AWAIT_RECORD("-b-c+b+c");
	CHECK_EQ(sley_name_find("pair"), inner);
	/* Once more is too much for the inner one, but not for the outer. */
	(void)pid_of(&c);
	fail(&b, -EIO);
	AWAIT_RECORD("-b-c+b+c");
	CHECK_NE(sley_name_find("pair"), inner);
	CHECK_EQ(a.lives, 1);
	cancel_and_wait(pid);
	CHECK_RECORD("-c-b-a");
	stop(rt);
}

TEST_WORKERS(w43_who_kills_the_outermost_ends_the_whole_tree)
{
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, tree, 2);
	struct watch watch;

	watch_begin(&watch, sley_name_find("pair"));
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(watch_end(&watch), SLEY_EKILLED);
	CHECK_SOON(sley_process_count() == 0);
	stop(rt);
	CHECK(!a.pid && !b.pid && !c.pid);
}

TEST_WORKERS(w43_what_cannot_be_started_deep_in_a_tree_ends_all_of_it)
{
	struct sley *rt = start();
	sley_pid pid;

	c.init_error = -ENOLINK;
	CHECK_EQ(sley_supervise(&pid, NULL, tree, 2), -ENOLINK);
	CHECK_RECORD("+a+b!c-b-a");
	CHECK_SOON(sley_process_count() == 0);
	stop(rt);
}

TEST_WORKERS(w43_a_runtime_ends_trees_in_order)
{
	struct sley *rt = start();

	(void)supervise(SLEY_ONE_FOR_ONE, tree, 2);
	CHECK_RECORD("+a+b+c");
	stop(rt);
	CHECK_RECORD("-c-b-a");
}

/* Its init waits until the supervisor was given up. */
static int start_late(void *self, const char *method, const void *input,
		      size_t size)
{
	(void)self;
	(void)method;
	(void)size;
	return sley_event_wait((struct sley_event *)(uintptr_t)input);
}

static enum sley_step wait_for_the_end(void *self, struct sley_msg *const *msg,
				       size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)nr;
	(void)out;
	return SLEY_WAIT;
}

TEST_WORKERS(w43_a_start_that_takes_too_long_is_no_start)
{
	static const struct sley_behaviour late = { .init = start_late,
						    .step = wait_for_the_end };
	struct sley_event given_up = SLEY_EVENT_INIT;
	const struct sley_child children[] = {
		MEMBER(&a),
		{ "late", .behaviour = &late, .input = &given_up },
	};
	struct sley *rt = start();
	sley_pid pid = 7;

	CHECK_EQ(sley_supervise_until(&pid, NULL, children, 2, in_ms(5)),
		 -ETIMEDOUT);
	CHECK_EQ(pid, SLEY_NO_PID);
	sley_event_set(&given_up);
	CHECK_SOON(sley_process_count() == 0);
	CHECK(!a.pid);
	stop(rt);
}

/* ---- parents ------------------------------------------------------------------------ */

struct family {
	_Atomic sley_pid supervisor;
	atomic_int error;
	atomic_bool over;
	bool linked;
};

static int be_parent(void *arg)
{
	struct family *family = arg;
	struct sley_msg *msg;
	sley_pid pid;

	family->error = sley_supervise(
		&pid,
		SLEY_SUPERVISOR_OPTIONS(.process = SLEY_PROCESS_OPTIONS(
							.link = family->linked)),
		pair, 2);
	family->supervisor = pid;
	family->over = true;
	while (sley_receive(&msg) == 0) {
		if (msg->tag == FAIL)
			return *(const int *)msg->data;
		if (msg->tag == QUIT)
			return 0;
	}
	return -ECANCELED;
}

TEST_WORKERS(w43_a_parent_that_fails_ends_the_supervisor_in_order)
{
	struct sley *rt = start();
	struct family family = { .linked = true };
	const int reason = -EDOM;
	struct watch watch;
	sley_pid parent;

	CHECK_EQ(sley_actor_spawn(&parent, be_parent, &family, NULL), 0);
	CHECK_SOON(family.over);
	CHECK_EQ(family.error, 0);
	watch_begin(&watch, family.supervisor);
	CHECK_RECORD("+b+c");
	CHECK_EQ(sley_send(parent, FAIL, &reason, sizeof(reason)), 0);
	CHECK_EQ(watch_end(&watch), -EDOM);
	CHECK_RECORD("-c-b");
	stop(rt);
}

TEST_WORKERS(w43_a_parent_that_is_not_linked_is_not_missed)
{
	struct sley *rt = start();
	struct family family = { .linked = false };
	const int reason = -EDOM;
	struct watch watch;
	sley_pid parent;

	CHECK_EQ(sley_actor_spawn(&parent, be_parent, &family, NULL), 0);
	CHECK_SOON(family.over);
	watch_begin(&watch, parent);
	CHECK_EQ(sley_send(parent, FAIL, &reason, sizeof(reason)), 0);
	CHECK_EQ(watch_end(&watch), -EDOM);
	CHECK(sley_process_alive(family.supervisor));
	cancel_and_wait(family.supervisor);
	stop(rt);
}

TEST_WORKERS(w43_a_start_that_fails_is_an_error_and_not_the_end_of_its_parent)
{
	struct sley *rt = start();
	struct family family = { .linked = true };
	struct watch watch;
	sley_pid parent;

	c.init_error = -EXDEV;
	CHECK_EQ(sley_actor_spawn(&parent, be_parent, &family, NULL), 0);
	CHECK_SOON(family.over);
	CHECK_EQ(family.error, -EXDEV);
	watch_begin(&watch, parent);
	CHECK_EQ(sley_send(parent, QUIT, NULL, 0), 0);
	CHECK_EQ(watch_end(&watch), 0);
	CHECK_SOON(sley_process_count() == 0);
	stop(rt);
}

/* ---- come and go -------------------------------------------------------------------- */

TEST_WORKERS(w43_children_may_be_added_and_removed)
{
	static const struct sley_child more[] = { MEMBER(&a) };
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, pair, 2), added;

	CHECK_EQ(sley_supervisor_add(pid, more, &added), 0);
	CHECK_RECORD("+b+c+a");
	CHECK_EQ(pid_of(&a), added);
	fail(&a, -EIO);
	AWAIT_RECORD("-a+a");
	CHECK_NE(pid_of(&a), added);
	/* Also by the pid it had at first. */
	CHECK_EQ(sley_supervisor_remove(pid, added), 0);
	CHECK_RECORD("-a");
	CHECK_EQ(sley_supervisor_remove(pid, added), -ENOENT);
	CHECK_EQ(sley_supervisor_remove(pid, pid_of(&b)), 0);
	CHECK_RECORD("-b");
	cancel_and_wait(pid);
	CHECK_RECORD("-c");
	stop(rt);
}

TEST_WORKERS(w43_what_cannot_be_started_is_not_added)
{
	static const struct sley_child more[] = { MEMBER(&a) };
	static const struct sley_child two[] = { MEMBER(&a, .count = 2) };
	static const struct sley_child neither[] = { { .name = "nothing" } };
	static const struct sley_child both[] = { MEMBER(&a, .children = pair,
							 .nr_children = 2) };
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, pair, 2), out;

	a.init_error = -ENOSPC;
	CHECK_EQ(sley_supervisor_add(pid, more, &out), -ENOSPC);
	CHECK_EQ(sley_supervisor_add(pid, two, &out), -EINVAL);
	CHECK_EQ(sley_supervisor_add(pid, neither, &out), -EINVAL);
	CHECK_EQ(sley_supervisor_add(pid, both, &out), -EINVAL);
	CHECK_EQ(sley_supervisor_add(pid_of(&b), more, &out), -EINVAL);
	CHECK_EQ(sley_supervise(&out, NULL, neither, 1), -EINVAL);
	out = 1;
	CHECK_EQ(sley_supervise(&out, SLEY_SUPERVISOR_OPTIONS(.strategy = 3),
				NULL, 0),
		 -EINVAL);
	CHECK_EQ(out, SLEY_NO_PID);
	CHECK_EQ(sley_supervise(NULL, NULL, NULL, 0), 0);
	CHECK_EQ(sley_supervise(NULL, NULL, neither, 1), -EINVAL);
	CHECK(sley_process_alive(pid));
	cancel_and_wait(pid);
	CHECK_EQ(sley_supervisor_add(pid, more, &out), -ESRCH);
	CHECK_EQ(sley_supervisor_remove(pid, 1), -ESRCH);
	stop(rt);
}

TEST_WORKERS(w43_one_that_waits_for_its_start_may_be_removed)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .backoff_ns = 3600 * SLEY_SEC),
		MEMBER(&b),
	};
	struct sley *rt = start();
	sley_pid pid, child;

	for (int i = 0; i < 3; i++) {
		pid = supervise((enum sley_strategy)i, children, 2);
		child = pid_of(&a);
		clear_record();
		fail(&a, -EIO);
		CHECK_SOON(record_has("-a"));
		CHECK_EQ(sley_supervisor_remove(pid, child), 0);
		CHECK_EQ(sley_supervisor_remove(pid, child), -ENOENT);
		CHECK_EQ(a.lives, i + 1);
		cancel_and_wait(pid);
	}
	stop(rt);
}

TEST_WORKERS(w43_a_child_is_added_when_the_others_are_there_again)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .backoff_ns = 10 * SLEY_MSEC),
	};
	static const struct sley_child more[] = { MEMBER(&b) };
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ALL, children, 1), added;

	fail_and_tell(&a, -EIO, pid);
	CHECK_EQ(sley_supervisor_add(pid, more, &added), 0);
	CHECK_RECORD("+a-a+a+b");
	cancel_and_wait(pid);
	stop(rt);
}

/* True: it gave up, and what it had asked for was done, and undone. */
static bool add_in_a_hurry(sley_pid supervisor)
{
	static const struct sley_child more[] = { MEMBER(&b) };
	int lives, err;
	sley_pid added;

	(void)pid_of(&a);
	lives = a.lives;
	clear_record();
	fail_and_tell(&a, -EIO, supervisor);
	err = sley_supervisor_add_until(supervisor, more, &added, in_ms(1));
	CHECK_SOON(a.lives > lives);
	/* A call is answered after what came before it. */
	CHECK_EQ(sley_supervisor_remove(supervisor, SLEY_NO_PID), -ENOENT);
	if (!err) {
		CHECK_EQ(sley_supervisor_remove(supervisor, added), 0);
		return false;
	}
	CHECK_EQ(err, -ETIMEDOUT);
	if (!record_has("+b"))
		return false; /* it had given up before it asked */
	CHECK_SOON(record_has("+b-b"));
	return true;
}

TEST_WORKERS(w43_who_does_not_wait_for_it_any_more_adds_nothing)
{
	static const struct sley_child children[] = {
		MEMBER(&a, .backoff_ns = 10 * SLEY_MSEC,
		       .backoff_max_ns = 10 * SLEY_MSEC),
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ALL, children, 1);

	while (!add_in_a_hurry(pid))
		;
	cancel_and_wait(pid);
	stop(rt);
}

static struct member stubborn = { .name = 's', .stubborn = true };

TEST_WORKERS(w43_who_does_not_wait_for_the_end_removes_all_the_same)
{
	static const struct sley_child children[] = {
		MEMBER(&stubborn, .shutdown_ns = SLEY_FOREVER,
		       .options = &trapping),
	};
	struct sley *rt = start();
	sley_pid pid = supervise(SLEY_ONE_FOR_ONE, children, 1);
	sley_pid child = pid_of(&stubborn);

	/* Long enough that it asks: else the child would be started again. */
	CHECK_EQ(sley_supervisor_remove_until(pid, child, in_ms(100)),
		 -ETIMEDOUT);
	quit(&stubborn);
	CHECK_SOON(!sley_process_alive(child));
	/* The supervisor may not have been told yet: then this one waits for it. */
	CHECK_SOON(sley_supervisor_remove(pid, child) == -ENOENT);
	cancel_and_wait(pid);
	CHECK_RECORD("+s-s");
	stop(rt);
}
