/* SPDX-License-Identifier: MIT */
/*
 * inspect.c - what can be seen of processes from outside: W12.
 */
#include <sys/wait.h>

#include "conformance/actor/listener.h"

static struct sley_process_info inspect(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	CHECK_EQ(info.pid, pid);
	return info;
}

static bool is_in(sley_pid pid, enum sley_process_state state)
{
	return inspect(pid).state == state;
}

TEST_WORKERS(w12_what_a_process_is_called_and_since_when_it_is_there)
{
	struct sley *rt = start();
	uint64_t before = sley_now();
	struct listener listener = { 0 };
	const struct listener_self self = { &listener };
	struct sley_process_info info;

	CHECK_EQ(sley_actor_spawn(&listener.pid, listener_actor, &listener,
				  SLEY_PROCESS_OPTIONS(.label = "the label",
						       .name = "the name")),
		 0);
	info = inspect(listener.pid);
	CHECK_STR(info.label, "the label");
	CHECK_STR(info.name, "the name");
	CHECK(info.actor);
	CHECK_EQ(info.parent, SLEY_NO_PID);
	CHECK_GE(info.start_ns, before);
	CHECK_LE(info.start_ns, sley_now());
	/* The first of its names; and none when that is taken back. */
	CHECK_EQ(sley_name_register("another", listener.pid, NULL), 0);
	CHECK_STR(inspect(listener.pid).name, "the name");
	CHECK_EQ(sley_name_unregister("the name"), 0);
	CHECK_STR(inspect(listener.pid).name, "another");
	CHECK_EQ(sley_name_unregister("another"), 0);
	CHECK_STR(inspect(listener.pid).name, "");
	hush(&listener);
	CHECK_EQ(sley_process_spawn(&listener.pid, &listener_behaviour, &self,
				    sizeof(self), NULL),
		 0);
	info = inspect(listener.pid);
	CHECK_STR(info.label, "listener");
	CHECK(!info.actor);
	hush(&listener);
	CHECK_EQ(sley_actor_spawn(&listener.pid, listener_actor, &listener,
				  NULL),
		 0);
	CHECK(inspect(listener.pid).label == NULL);
	hush(&listener);
	stop(rt);
}

/* The text of the options need not live as long as the process. */
TEST_WORKERS(w12_a_name_that_was_copied_is_the_label)
{
	struct sley *rt = start();
	struct listener listener = { 0 };
	char name[] = "short-lived";

	CHECK_EQ(sley_actor_spawn(&listener.pid, listener_actor, &listener,
				  SLEY_PROCESS_OPTIONS(.name = name)),
		 0);
	memset(name, '?', sizeof(name));
	CHECK_STR(inspect(listener.pid).label, "short-lived");
	/* Also when it has the name no longer, and somebody else has. */
	CHECK_EQ(sley_name_unregister("short-lived"), 0);
	CHECK_EQ(sley_name_unregister("short-lived"), -ENOENT);
	CHECK_EQ(sley_name_register("another", listener.pid, NULL), 0);
	CHECK_STR(inspect(listener.pid).label, "short-lived");
	CHECK_STR(inspect(listener.pid).name, "another");
	CHECK_EQ(sley_name_register("short-lived", listener.pid, NULL), 0);
	CHECK_EQ(sley_name_unregister("another"), 0);
	CHECK_STR(inspect(listener.pid).name, "short-lived");
	hush(&listener);
	CHECK_EQ(sley_name_find("short-lived"), SLEY_NO_PID);
	stop(rt);
}

TEST_WORKERS(w12_who_is_gone_cannot_be_inspected)
{
	struct sley *rt = start();
	struct sley_process_info info;
	struct listener listener;

	CHECK(!sley_process_alive(SLEY_NO_PID));
	CHECK_EQ(sley_process_inspect(SLEY_NO_PID, &info), -ESRCH);
	CHECK(sley_process_alive(listen(&listener)));
	/* Neither one that is not there yet, nor one of another kind. */
	CHECK(!sley_process_alive(listener.pid + (1ull << 26)));
	CHECK(!sley_process_alive(listener.pid | 1ull << 63));
	CHECK_EQ(sley_process_inspect(listener.pid | 1ull << 63, &info),
		 -ESRCH);
	hush(&listener);
	CHECK_EQ(sley_process_inspect(listener.pid, &info), -ESRCH);
	CHECK(!sley_process_alive(listener.pid));
	stop(rt);
}

TEST_WORKERS(w12_messages_are_counted)
{
	struct sley *rt = start();
	struct listener listener;

	for (int k = 0; k < 2; k++) {
		(void)listen(&listener);
		for (uint64_t i = 1; i <= 100; i++)
			CHECK_EQ(sley_send(listener.pid, i, NULL, 0), 0);
		CHECK_SOON(inspect(listener.pid).handled == 100);
		CHECK_SOON(is_in(listener.pid, SLEY_PROCESS_IDLE));
		CHECK_EQ(inspect(listener.pid).mailbox, 0);
		CHECK_EQ(inspect(listener.pid).stray, 0);
		CHECK_EQ(inspect(listener.pid).yields, 0);
		CHECK_EQ(inspect(listener.pid).dropped, 0);
		if (!inspect(listener.pid).actor) {
			/* The first step had no messages. */
			CHECK_GE(inspect(listener.pid).steps, 2);
			CHECK_LE(inspect(listener.pid).steps, 101);
		}
		hush(&listener);
	}
	stop(rt);
}

/* ---- states ----------------------------------------------------------------------- */

static struct sley_event gate;

static int waits_for_the_gate(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK(is_in(sley_self(), SLEY_PROCESS_RUNNING));
	CHECK_EQ(sley_event_wait(&gate), 0);
	while (!sley_receive(&msg) && msg->tag != TAG_END)
		;
	return 0;
}

static void open_gate(sley_pid pid)
{
	sley_event_set(&gate);
	CHECK_SOON(is_in(pid, SLEY_PROCESS_IDLE));
	CHECK_EQ(inspect(pid).mailbox, 0);
	CHECK_EQ(sley_send(pid, TAG_END, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(pid));
}

TEST_WORKERS(w12_an_actor_runs_or_is_blocked_or_idle)
{
	struct sley *rt = start();
	sley_pid pid;

	sley_event_init(&gate, false, false);
	CHECK_EQ(sley_actor_spawn(&pid, waits_for_the_gate, NULL, NULL), 0);
	CHECK_SOON(is_in(pid, SLEY_PROCESS_BLOCKED));
	CHECK_EQ(inspect(pid).mailbox, 0);
	/* It does not look at its mail meanwhile. */
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_GE(inspect(pid).mailbox, 1);
	CHECK(is_in(pid, SLEY_PROCESS_BLOCKED));
	open_gate(pid);
	stop(rt);
}

static int waits_for_a_tag(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_receive_tag_until(&msg, 77, UINT64_MAX), 0);
	while (!sley_receive(&msg) && msg->tag != TAG_END)
		;
	return 0;
}

TEST_WORKERS(w12_messages_that_are_not_wanted_now_are_counted)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, waits_for_a_tag, NULL, NULL), 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(inspect(pid).mailbox == 5);
	CHECK_EQ(inspect(pid).handled, 0);
	CHECK_EQ(sley_send(pid, 77, NULL, 0), 0);
	CHECK_SOON(inspect(pid).handled == 6);
	CHECK_SOON(inspect(pid).mailbox == 0);
	CHECK_EQ(sley_send(pid, TAG_END, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(pid));
	stop(rt);
}

static enum sley_step step_at_the_gate(void *self, struct sley_msg *const *msg,
				       size_t nr, struct sley_out *out)
{
	(void)self;
	if (!nr) {
		CHECK(is_in(sley_self(), SLEY_PROCESS_RUNNING));
		CHECK_EQ(sley_event_wait(&gate), 0);
	}
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == TAG_END)
			return sley_out_done(out, 0);
	}
	return SLEY_WAIT;
}

TEST_WORKERS(w12_a_step_that_waits_is_blocked)
{
	static const struct sley_behaviour behaviour = {
		.step = step_at_the_gate
	};
	struct sley *rt = start();
	sley_pid pid;

	sley_event_init(&gate, false, false);
	CHECK_EQ(sley_process_spawn(&pid, &behaviour, NULL, 0, NULL), 0);
	CHECK_SOON(is_in(pid, SLEY_PROCESS_BLOCKED));
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_GE(inspect(pid).mailbox, 1);
	open_gate(pid);
	stop(rt);
}

/* ---- parents, and all of them -------------------------------------------------------- */

static int spawns_another(void *arg)
{
	struct listener *child = arg;

	CHECK_EQ(sley_actor_spawn(&child->pid, listener_actor, child, NULL), 0);
	CHECK_EQ(inspect(child->pid).parent, sley_self());
	return 0;
}

TEST_WORKERS(w12_a_process_knows_its_parent)
{
	struct sley *rt = start();
	struct listener child = { 0 };
	sley_pid parent;

	CHECK_EQ(sley_actor_spawn(&parent, spawns_another, &child, NULL), 0);
	CHECK_SOON(!sley_process_alive(parent));
	/* Also when that one is gone. */
	CHECK_EQ(inspect(child.pid).parent, parent);
	hush(&child);
	stop(rt);
}

/* ---- relations, commands, limits -------------------------------------------------------- */

static int has_relations(void *arg)
{
	struct listener *child = arg;
	uint64_t monitor[2];

	CHECK_EQ(sley_actor_spawn(&child->pid, listener_actor, child, NULL), 0);
	CHECK_EQ(sley_link(child->pid), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_monitor(child->pid, &monitor[i]), 0);
	CHECK_EQ(inspect(child->pid).links, 1);
	CHECK_EQ(inspect(sley_self()).links, 1);
	CHECK_EQ(inspect(child->pid).monitors, 2);
	CHECK_EQ(inspect(sley_self()).monitors, 0);
	sley_unmonitor(monitor[0]);
	sley_unlink(child->pid);
	CHECK_EQ(inspect(child->pid).links, 0);
	CHECK_EQ(inspect(sley_self()).links, 0);
	CHECK_EQ(inspect(child->pid).monitors, 1);
	return 0;
}

TEST_WORKERS(w12_links_and_monitors_are_counted)
{
	struct sley *rt = start();
	struct listener child = { 0 };
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, has_relations, &child, NULL), 0);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_SOON(inspect(child.pid).monitors == 0);
	hush(&child);
	stop(rt);
}

enum { COMMAND = 1200 };

static int later(const struct sley_command *command, void *arg)
{
	(void)command;
	(void)arg;
	return 0;
}

static enum sley_step yields_two(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	int *left = self;

	(void)msg;
	if (!nr) {
		*left = 2;
		CHECK_EQ(sley_out_yield(out, COMMAND, 1, NULL), 0);
		CHECK_EQ(sley_out_yield(out, COMMAND + 1, 2, NULL), 0);
	}
	*left -= (int)nr;
	return *left ? SLEY_WAIT : sley_out_done(out, 0);
}

TEST_WORKERS(w12_commands_that_are_not_complete_are_shown)
{
	static const struct sley_behaviour behaviour = {
		.size = sizeof(int),
		.step = yields_two,
	};
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_command_handle(COMMAND, later, NULL, NULL), 0);
	CHECK_EQ(sley_command_handle(COMMAND + 1, later, NULL, NULL), 0);
	CHECK_EQ(sley_process_spawn(&pid, &behaviour, NULL, 0, NULL), 0);
	CHECK_SOON(inspect(pid).yields == 2);
	CHECK_SOON(is_in(pid, SLEY_PROCESS_BLOCKED));
	CHECK_SOON(inspect(pid).command == COMMAND);
	CHECK_EQ(sley_command_complete(pid, 77, NULL, 0), 0);
	CHECK_SOON(inspect(pid).stray == 1);
	CHECK_EQ(sley_command_complete(pid, 1, NULL, 0), 0);
	CHECK_SOON(inspect(pid).yields == 1);
	CHECK_SOON(inspect(pid).command == COMMAND + 1);
	CHECK_EQ(sley_command_complete(pid, 2, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_EQ(sley_command_unhandle(COMMAND), 0);
	CHECK_EQ(sley_command_unhandle(COMMAND + 1), 0);
	stop(rt);
}

TEST_WORKERS(w12_what_a_full_mailbox_refused_is_counted)
{
	struct sley *rt = start();
	sley_pid pid;

	sley_event_init(&gate, false, false);
	CHECK_EQ(sley_actor_spawn(&pid, waits_for_the_gate, NULL,
				  SLEY_PROCESS_OPTIONS(.mailbox = 2)),
		 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), i < 2 ? 0 : -EAGAIN);
	CHECK_GE(inspect(pid).mailbox, 2);
	CHECK_LE(inspect(pid).mailbox, 3);
	CHECK_EQ(inspect(pid).dropped, 3);
	open_gate(pid);
	stop(rt);
}

static uint64_t fastest_count(int expected)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t start_ns = sley_now();

		CHECK_EQ(sley_process_count(), expected);
		if (sley_now() - start_ns < least)
			least = sley_now() - start_ns;
	}
	return least;
}

/* Who waits until nobody is left may ask again and again. */
TEST(w12_the_count_is_exact_and_takes_no_longer_for_many)
{
	enum { N = 10000 };
	static struct listener listener[N];
	struct sley *rt = start();

	if (test_is_slow())
		test_skip("it looks at the time");
	for (int i = 0; i < N; i++)
		(void)listen(&listener[i]);
	/* A look at each of them took 20 us. */
	CHECK_LT(fastest_count(N), 5 * SLEY_USEC);
	for (int i = 0; i < N; i++)
		hush(&listener[i]);
	CHECK_EQ(sley_process_count(), 0);
	stop(rt);
}

TEST_WORKERS(w12_a_walk_meets_each_process_once)
{
	enum { N = 1000 };
	static struct listener listener[N];
	struct sley *rt = start();
	static sley_pid walk[N + 1]; /* in the order they are met */
	int n = test_scale(N), met = 0;
	sley_pid pid, next = SLEY_NO_PID;

	CHECK_EQ(sley_process_next(SLEY_NO_PID), SLEY_NO_PID);
	CHECK_EQ(sley_process_count(), 0);
	for (int i = 0; i < n; i++)
		(void)listen(&listener[i]);
	CHECK_EQ(sley_process_count(), n);
	for (pid = sley_process_next(SLEY_NO_PID); pid;
	     pid = sley_process_next(pid)) {
		int i = 0;

		while (i < n && listener[i].pid != pid)
			i++;
		CHECK_LT(i, n);
		CHECK_EQ(listener[i].nr, 0);
		listener[i].nr = 1;
		walk[met++] = pid;
	}
	CHECK_EQ(met, n);
	for (int i = 0; i < n; i += 2)
		hush(&listener[i]);
	CHECK_EQ(sley_process_count(), n / 2);
	/* From a place whose tenant is gone it goes on all the same. */
	for (int i = n; i-- > 0;) {
		CHECK_EQ(sley_process_next(walk[i]), next);
		if (sley_process_alive(walk[i]))
			next = walk[i];
	}
	for (int i = 1; i < n; i += 2)
		hush(&listener[i]);
	CHECK_EQ(sley_process_count(), 0);
	stop(rt);
}
