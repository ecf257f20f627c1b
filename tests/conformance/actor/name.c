/* SPDX-License-Identifier: MIT */
/*
 * name.c - names of processes, and pids as text: W26, W36 (local), T13.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "conformance/actor/listener.h"

/* ---- W36 ---------------------------------------------------------------------- */

TEST_WORKERS(w36_a_name_leads_to_its_process)
{
	struct sley *rt = start();
	struct listener listener;
	char name[] = "ear";

	CHECK_EQ(sley_name_find("ear"), SLEY_NO_PID);
	CHECK_EQ(sley_name_register(name, listen(&listener), NULL), 0);
	name[0] = 'f'; /* it was copied */
	CHECK_EQ(sley_name_find("ear"), listener.pid);
	CHECK_EQ(sley_name_find("far"), SLEY_NO_PID);
	CHECK_EQ(sley_name_find("ea"), SLEY_NO_PID);
	CHECK_EQ(sley_name_find("ears"), SLEY_NO_PID);
	hush(&listener);
	CHECK_EQ(sley_name_find("ear"), SLEY_NO_PID);
	stop(rt);
}

TEST_WORKERS(w36_a_name_that_is_taken_says_by_whom)
{
	struct sley *rt = start();
	struct listener first, second;
	sley_pid owner = SLEY_NO_PID;

	CHECK_EQ(sley_name_register("it", listen(&first), NULL), 0);
	CHECK_EQ(sley_name_register("it", listen(&second), &owner), -EEXIST);
	CHECK_EQ(owner, first.pid);
	CHECK_EQ(sley_name_register("it", second.pid, NULL), -EEXIST);
	CHECK_EQ(sley_name_find("it"), first.pid);
	hush(&first);
	CHECK_EQ(sley_name_register("it", second.pid, &owner), 0);
	CHECK_EQ(sley_name_find("it"), second.pid);
	hush(&second);
	stop(rt);
}

TEST_WORKERS(w36_the_same_name_again_for_the_same_process_is_no_error)
{
	struct sley *rt = start();
	struct listener listener;
	sley_pid owner = SLEY_NO_PID;

	CHECK_EQ(sley_name_register("it", listen(&listener), NULL), 0);
	CHECK_EQ(sley_name_register("it", listener.pid, &owner), 0);
	CHECK_EQ(owner, SLEY_NO_PID);
	/* Once is enough to take it back. */
	CHECK_EQ(sley_name_unregister("it"), 0);
	CHECK_EQ(sley_name_find("it"), SLEY_NO_PID);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w36_a_process_has_many_names_and_loses_all_with_its_life)
{
	struct sley *rt = start();
	struct listener listener;
	char name[16];
	int n = test_scale(2000);

	(void)listen(&listener);
	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "name %d", i);
		CHECK_EQ(sley_name_register(name, listener.pid, NULL), 0);
	}
	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "name %d", i);
		CHECK_EQ(sley_name_find(name), listener.pid);
	}
	hush(&listener);
	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "name %d", i);
		CHECK_EQ(sley_name_find(name), SLEY_NO_PID);
	}
	stop(rt);
}

TEST_WORKERS(w36_a_name_that_was_taken_back_is_free)
{
	struct sley *rt = start();
	struct listener first, second;

	CHECK_EQ(sley_name_unregister("it"), -ENOENT);
	CHECK_EQ(sley_name_register("it", listen(&first), NULL), 0);
	CHECK_EQ(sley_name_register("other", first.pid, NULL), 0);
	CHECK_EQ(sley_name_unregister("it"), 0);
	CHECK_EQ(sley_name_unregister("it"), -ENOENT);
	CHECK_EQ(sley_name_find("it"), SLEY_NO_PID);
	CHECK_EQ(sley_name_find("other"), first.pid);
	CHECK_EQ(sley_name_register("it", listen(&second), NULL), 0);
	hush(&first);
	CHECK_EQ(sley_name_find("it"), second.pid);
	hush(&second);
	stop(rt);
}

TEST_WORKERS(w36_names_have_one_to_63_bytes)
{
	struct sley *rt = start();
	struct listener listener;
	char name[SLEY_NAME_MAX + 2];

	(void)listen(&listener);
	memset(name, 'x', sizeof(name));
	name[SLEY_NAME_MAX + 1] = '\0';
	CHECK_EQ(sley_name_register(name, listener.pid, NULL), -EINVAL);
	CHECK_EQ(sley_name_find(name), SLEY_NO_PID);
	CHECK_EQ(sley_name_unregister(name), -ENOENT);
	name[SLEY_NAME_MAX] = '\0';
	CHECK_EQ(sley_name_register(name, listener.pid, NULL), 0);
	CHECK_EQ(sley_name_find(name), listener.pid);
	CHECK_EQ(sley_name_register("", listener.pid, NULL), -EINVAL);
	CHECK_EQ(sley_name_register(NULL, listener.pid, NULL), -EINVAL);
	CHECK_EQ(sley_name_find(""), SLEY_NO_PID);
	CHECK_EQ(sley_name_find(NULL), SLEY_NO_PID);
	CHECK_EQ(sley_name_unregister(""), -ENOENT);
	CHECK_EQ(sley_name_register("x", listener.pid, NULL), 0);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w36_the_name_of_the_options_is_registered)
{
	struct sley *rt = start();
	struct listener listener = { 0 };
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&listener.pid, listener_actor, &listener,
				  SLEY_PROCESS_OPTIONS(.name = "born")),
		 0);
	CHECK_EQ(sley_name_find("born"), listener.pid);
	CHECK_EQ(sley_actor_spawn(&pid, listener_actor, &listener,
				  SLEY_PROCESS_OPTIONS(.name = "born")),
		 -EEXIST);
	CHECK_EQ(pid, listener.pid);
	hush(&listener);
	CHECK_EQ(sley_name_find("born"), SLEY_NO_PID);
	stop(rt);
}

/* ---- T13 ---------------------------------------------------------------------- */

TEST_WORKERS(t13_who_is_gone_gets_no_name)
{
	struct sley *rt = start();
	struct listener listener, other;

	(void)listen(&listener);
	hush(&listener);
	CHECK_EQ(sley_name_register("ghost", listener.pid, NULL), -ESRCH);
	CHECK_EQ(sley_name_register("ghost", SLEY_NO_PID, NULL), -ESRCH);
	CHECK_EQ(sley_name_register("ghost", listen(&other) | 1ull << 63, NULL),
		 -ESRCH);
	CHECK_EQ(sley_name_find("ghost"), SLEY_NO_PID);
	hush(&other);
	stop(rt);
}

/* Whoever finds that a process is gone can have its name at once. */
TEST_WORKERS(t13_the_name_of_a_dying_process_is_free)
{
	struct sley *rt = start();
	int n = test_scale(200);
	struct listener heir;

	(void)listen(&heir);
	for (int i = 0; i < n; i++) {
		struct listener listener;

		CHECK_EQ(sley_name_register("crown", listen(&listener), NULL),
			 0);
		CHECK_EQ(sley_process_kill(listener.pid), 0);
		while (sley_process_alive(listener.pid))
			sley_yield();
		CHECK_EQ(sley_name_find("crown"), SLEY_NO_PID);
		CHECK_EQ(sley_name_register("crown", heir.pid, NULL), 0);
		CHECK_EQ(sley_name_find("crown"), heir.pid);
		CHECK_EQ(sley_name_unregister("crown"), 0);
	}
	hush(&heir);
	stop(rt);
}

/* Two watch it: one by a monitor, one by a link. */
static int heir(void *arg)
{
	const bool linked = *(const bool *)arg;
	struct sley_msg *msg;
	struct listener dead = { 0 };
	uint64_t monitor;
	sley_pid pid;

	(void)sley_process_trap(true);
	CHECK_EQ(sley_actor_spawn(
			 &pid, listener_actor, &dead,
			 SLEY_PROCESS_OPTIONS(.name = "crown", .link = linked,
					      .monitor = linked ? NULL
								: &monitor)),
		 0);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->kind, linked ? SLEY_EXIT : SLEY_DOWN);
	CHECK_EQ(msg->from, pid);
	CHECK_EQ(sley_name_find("crown"), SLEY_NO_PID);
	CHECK_EQ(sley_name_register("crown", sley_self(), NULL), 0);
	return 0;
}

TEST_WORKERS(t13_a_name_is_free_when_others_hear_of_the_end)
{
	struct sley *rt = start();
	int n = test_scale(100);

	for (int i = 0; i < n; i++) {
		static bool linked[2] = { false, true };
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(&pid, heir, &linked[i % 2], NULL), 0);
		CHECK_SOON(!sley_process_alive(pid));
	}
	stop(rt);
}

static _Atomic int nr_closed;

/* The process has its name until after its last word. */
static void close_named(void *self, int reason)
{
	(void)self;
	(void)reason;
	CHECK_EQ(sley_name_find("closing"), sley_self());
	nr_closed++;
}

static enum sley_step end_at_once(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	(void)self, (void)msg, (void)nr;
	return sley_out_done(out, 0);
}

TEST_WORKERS(t13_a_process_keeps_its_name_while_it_closes)
{
	static const struct sley_behaviour behaviour = {
		.step = end_at_once,
		.close = close_named,
	};
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_process_spawn(&pid, &behaviour, NULL, 0,
				    SLEY_PROCESS_OPTIONS(.name = "closing")),
		 0);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_EQ(nr_closed, 1);
	nr_closed = 0;
	stop(rt);
}

static _Atomic int nr_won, nr_lost;

static int race_for_it(void *arg)
{
	sley_pid owner = SLEY_NO_PID;
	struct sley_msg *msg;
	int err;

	(void)arg;
	/* Between the look and the register another one may come. */
	if (sley_name_find("prize") == SLEY_NO_PID)
		sley_yield();
	err = sley_name_register("prize", sley_self(), &owner);
	if (!err) {
		nr_won++;
	} else {
		CHECK_EQ(err, -EEXIST);
		CHECK_NE(owner, SLEY_NO_PID);
		nr_lost++;
	}
	return sley_receive(&msg);
}

TEST_WORKERS(t13_of_many_that_want_a_name_one_gets_it)
{
	struct sley *rt = start();
	enum { N = 20 };
	sley_pid pid[N];

	nr_won = nr_lost = 0;
	for (int i = 0; i < N; i++)
		CHECK_EQ(sley_actor_spawn(&pid[i], race_for_it, NULL, NULL), 0);
	CHECK_SOON(nr_won + nr_lost == N);
	CHECK_EQ(nr_won, 1);
	for (int i = 0; i < N; i++)
		CHECK_EQ(sley_send(pid[i], 0, NULL, 0), 0);
	for (int i = 0; i < N; i++)
		CHECK_SOON(!sley_process_alive(pid[i]));
	CHECK_EQ(sley_name_find("prize"), SLEY_NO_PID);
	stop(rt);
}

TEST(w36_a_child_of_fork_has_no_names)
{
	struct sley *rt;
	struct listener listener;
	int status;
	pid_t child;

	skip_where_nobody_forks();
	rt = start();
	CHECK_EQ(sley_name_register("here", listen(&listener), NULL), 0);
	child = fork();
	if (!child) {
		struct sley *own;

		CHECK_EQ(sley_name_find("here"), SLEY_NO_PID);
		own = start();
		CHECK_EQ(sley_name_register("here", listen(&listener), NULL),
			 0);
		CHECK_EQ(sley_name_find("here"), listener.pid);
		hush(&listener);
		stop(own);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(sley_name_find("here"), listener.pid);
	hush(&listener);
	stop(rt);
}

/* ---- W26 ---------------------------------------------------------------------- */

static void check_text(sley_pid pid, const char *expected)
{
	char text[SLEY_PID_TEXT];
	sley_pid back = 1;

	sley_pid_format(pid, text);
	if (expected)
		CHECK_STR(text, expected);
	CHECK_LT(strlen(text), SLEY_PID_TEXT);
	CHECK_EQ(sley_pid_parse(text, &back), 0);
	CHECK_EQ(back, pid);
}

TEST(w26_a_pid_has_a_text_that_leads_back)
{
	check_text(SLEY_NO_PID, "<0.0.0>");
	check_text(1, "<0.1.0>");
	check_text((1ull << 26) - 1, "<0.67108863.0>");
	check_text(7ull << 26, "<0.0.7>");
	check_text(3ull << 52 | 2ull << 26 | 1, "<3.1.2>");
	check_text(UINT64_MAX, "<4095.67108863.67108863>");
	for (int i = 0; i < 1000; i++)
		check_text(test_random(UINT64_MAX), NULL);
}

TEST_WORKERS(w26_the_text_of_a_process_is_found_again)
{
	struct sley *rt = start();
	struct listener listener;

	check_text(listen(&listener), NULL);
	hush(&listener);
	stop(rt);
}

TEST(w26_what_is_no_pid_is_refused)
{
	static const char *const bad[] = {
		"",
		"<",
		"<>",
		"<1>",
		"<1.2>",
		"<1.2.>",
		"<1.2.3",
		"1.2.3",
		"1.2.3>",
		" <1.2.3>",
		"<1.2.3> ",
		"<1.2.3>x",
		"< 1.2.3>",
		"<1. 2.3>",
		"<1.2.3 >",
		"<+1.2.3>",
		"<-1.2.3>",
		"<01.2.3>",
		"<1.02.3>",
		"<1.2.00>",
		"<1,2,3>",
		"<1.2.3.4>",
		"<0x1.2.3>",
		"<..>",
		"<4096.0.0>",
		"<0.67108864.0>",
		"<0.0.67108864>",
		"<18446744073709551616.0.0>",
		"<0.18446744073709551616.0>",
		"<0.0.340282366920938463463374607431768211456>",
		"{node@host|uniq}",
	};
	sley_pid pid = 42;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (sley_pid_parse(bad[i], &pid) != -EINVAL)
			test_failed(TEST_PLACE(bad[i]), "it was parsed");
	}
	CHECK_EQ(sley_pid_parse(NULL, &pid), -EINVAL);
	CHECK_EQ(pid, 42); /* untouched */
}
