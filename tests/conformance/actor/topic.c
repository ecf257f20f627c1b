/* SPDX-License-Identifier: MIT */
/*
 * topic.c - groups that a message goes to: W39.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "conformance/actor/listener.h"

TEST_WORKERS(w39_everybody_who_has_joined_gets_what_is_published)
{
	struct sley *rt = start();
	struct listener listener[5];
	int price = 42;

	CHECK_EQ(sley_topic_publish("prices", 1, &price, sizeof(price)), 0);
	for (int i = 0; i < 5; i++)
		(void)listen(&listener[i]);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_topic_join("prices", listener[i].pid), 0);
	CHECK_EQ(sley_topic_publish("prices", 2, &price, sizeof(price)), 4);
	CHECK_EQ(sley_topic_publish("costs", 3, &price, sizeof(price)), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_SOON(listener[i].nr == 1);
		CHECK_EQ(listener[i].last, 2);
		CHECK_EQ(listener[i].bytes, 42);
		CHECK_EQ(listener[i].from, SLEY_NO_PID);
	}
	for (int i = 0; i < 5; i++)
		hush(&listener[i]);
	CHECK_EQ(listener[4].nr, 0);
	stop(rt);
}

TEST_WORKERS(w39_who_joins_twice_gets_it_twice_and_leaves_twice)
{
	struct sley *rt = start();
	struct listener listener;

	CHECK_EQ(sley_topic_leave("t", listen(&listener)), -ENOENT);
	CHECK_EQ(sley_topic_join("t", listener.pid), 0);
	CHECK_EQ(sley_topic_join("t", listener.pid), 0);
	CHECK_EQ(sley_topic_join("u", listener.pid), 0);
	CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 2);
	CHECK_SOON(listener.nr == 2);
	CHECK_EQ(sley_topic_leave("t", listener.pid), 0);
	CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 1);
	CHECK_SOON(listener.nr == 3);
	CHECK_EQ(sley_topic_leave("t", listener.pid), 0);
	CHECK_EQ(sley_topic_leave("t", listener.pid), -ENOENT);
	CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 0);
	CHECK_EQ(sley_topic_publish("u", 1, NULL, 0), 1);
	CHECK_SOON(listener.nr == 4);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w39_a_process_that_ends_leaves_all_it_has_joined)
{
	struct sley *rt = start();
	struct listener stays, goes;
	sley_pid pid[2];

	(void)listen(&stays);
	(void)listen(&goes);
	CHECK_EQ(sley_topic_join("t", stays.pid), 0);
	CHECK_EQ(sley_topic_join("t", goes.pid), 0);
	CHECK_EQ(sley_topic_join("t", goes.pid), 0);
	CHECK_EQ(sley_topic_join("u", goes.pid), 0);
	hush(&goes);
	CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 1);
	CHECK_EQ(sley_topic_publish("u", 1, NULL, 0), 0);
	CHECK_SOON(sley_topic_members("t", pid, 2) == 1);
	CHECK_EQ(pid[0], stays.pid);
	CHECK_SOON(sley_topic_members("u", pid, 2) == 0);
	CHECK_EQ(sley_topic_join("t", goes.pid), -ESRCH);
	CHECK_EQ(sley_topic_leave("t", goes.pid), -ENOENT);
	hush(&stays);
	stop(rt);
}

TEST_WORKERS(w39_large_messages_are_shared_and_survive_the_publisher)
{
	struct sley *rt = start();
	unsigned char bytes[1000];
	struct listener listener[3];

	memset(bytes, 7, sizeof(bytes));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_topic_join("big", listen(&listener[i])), 0);
	CHECK_EQ(sley_topic_publish("big", 1, bytes, sizeof(bytes)), 3);
	memset(bytes, 0, sizeof(bytes));
	for (int i = 0; i < 3; i++) {
		CHECK_SOON(listener[i].nr == 1);
		CHECK_EQ(listener[i].bytes, 7000);
		CHECK(listener[i].data == listener[0].data);
		hush(&listener[i]);
	}
	stop(rt);
}

/* The sizes around what travels in the message itself. */
TEST_WORKERS(w39_messages_of_all_sizes_arrive)
{
	struct sley *rt = start();
	unsigned char bytes[64];
	struct listener listener;

	memset(bytes, 3, sizeof(bytes));
	CHECK_EQ(sley_topic_join("t", listen(&listener)), 0);
	for (uint64_t size = 0; size <= sizeof(bytes); size++) {
		CHECK_EQ(sley_topic_publish("t", size, size ? bytes : NULL,
					    size),
			 1);
		CHECK_SOON(listener.nr == size + 1);
		CHECK_EQ(listener.bytes, 3 * size);
	}
	CHECK_EQ(sley_topic_publish("t", 1, bytes, 1ull << 32), -EMSGSIZE);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w39_members_are_listed)
{
	struct sley *rt = start();
	struct listener a, b;
	sley_pid pid[3] = { 1, 2, 3 };

	CHECK_EQ(sley_topic_members("t", NULL, 0), 0);
	CHECK_EQ(sley_topic_join("t", listen(&a)), 0);
	CHECK_EQ(sley_topic_join("t", listen(&b)), 0);
	CHECK_EQ(sley_topic_join("t", a.pid), 0);
	CHECK_EQ(sley_topic_members("t", NULL, 0), 3);
	CHECK_EQ(sley_topic_members("t", pid, 2), 3);
	CHECK_EQ(pid[2], 3); /* untouched */
	CHECK_EQ(sley_topic_members("t", pid, 3), 3);
	CHECK_EQ(pid[0] ^ pid[1] ^ pid[2], b.pid);
	CHECK_EQ(sley_topic_members(NULL, pid, 3), 0);
	hush(&a);
	hush(&b);
	stop(rt);
}

TEST_WORKERS(w39_topics_have_names_of_one_to_63_bytes)
{
	struct sley *rt = start();
	char name[SLEY_NAME_MAX + 2];
	struct listener listener;

	(void)listen(&listener);
	memset(name, 't', sizeof(name));
	name[SLEY_NAME_MAX + 1] = '\0';
	CHECK_EQ(sley_topic_join(name, listener.pid), -EINVAL);
	CHECK_EQ(sley_topic_publish(name, 1, NULL, 0), 0);
	name[SLEY_NAME_MAX] = '\0';
	CHECK_EQ(sley_topic_join(name, listener.pid), 0);
	CHECK_EQ(sley_topic_publish(name, 1, NULL, 0), 1);
	CHECK_EQ(sley_topic_join("", listener.pid), -EINVAL);
	CHECK_EQ(sley_topic_join(NULL, listener.pid), -EINVAL);
	CHECK_EQ(sley_topic_leave("", listener.pid), -ENOENT);
	CHECK_EQ(sley_topic_join("t", listener.pid | 1ull << 63), -ESRCH);
	CHECK_EQ(sley_topic_join("t", SLEY_NO_PID), -ESRCH);
	hush(&listener);
	stop(rt);
}

/* A name and a topic are different things. */
TEST_WORKERS(w39_a_topic_is_no_name)
{
	struct sley *rt = start();
	struct listener listener;

	CHECK_EQ(sley_topic_join("x", listen(&listener)), 0);
	CHECK_EQ(sley_name_find("x"), SLEY_NO_PID);
	CHECK_EQ(sley_name_register("x", listener.pid, NULL), 0);
	CHECK_EQ(sley_topic_leave("x", listener.pid), 0);
	CHECK_EQ(sley_name_find("x"), listener.pid);
	CHECK_EQ(sley_topic_publish("x", 1, NULL, 0), 0);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w39_thousands_get_each_message_once_and_in_order)
{
	enum { N = 3000, ROUNDS = 4 };
	static struct listener listener[N];
	struct sley *rt = start();
	int n = test_scale(N);

	for (int i = 0; i < n; i++)
		CHECK_EQ(sley_topic_join("crowd", listen(&listener[i])), 0);
	for (int i = 1; i <= ROUNDS; i++)
		CHECK_EQ(sley_topic_publish("crowd", (uint64_t)i, NULL, 0), n);
	for (int i = 0; i < n; i++) {
		CHECK_SOON(listener[i].nr == ROUNDS);
		CHECK_EQ(listener[i].sum, ROUNDS * (ROUNDS + 1) / 2);
		CHECK_EQ(listener[i].last, ROUNDS);
	}
	/* Every second one leaves, and its seat is used again. */
	for (int i = 0; i < n; i += 2)
		CHECK_EQ(sley_topic_leave("crowd", listener[i].pid), 0);
	CHECK_EQ(sley_topic_members("crowd", NULL, 0), n / 2);
	for (int i = 0; i < n; i += 2)
		CHECK_EQ(sley_topic_join("crowd", listener[i].pid), 0);
	CHECK_EQ(sley_topic_publish("crowd", 1, NULL, 0), n);
	for (int i = 0; i < n; i++)
		CHECK_SOON(listener[i].nr == ROUNDS + 1);
	for (int i = 0; i < n; i++)
		CHECK_EQ(sley_process_kill(listener[i].pid), 0);
	CHECK_SOON(sley_topic_members("crowd", NULL, 0) == 0);
	stop(rt);
}

static int publisher(void *arg)
{
	sley_pid *pid = arg;

	*pid = sley_self();
	return sley_topic_publish("t", 5, pid, sizeof(*pid)) == 1 ? 0 : -EIO;
}

TEST_WORKERS(w39_a_member_hears_who_has_published)
{
	struct sley *rt = start();
	struct listener listener;
	sley_pid pid = 0, told;

	CHECK_EQ(sley_topic_join("t", listen(&listener)), 0);
	CHECK_EQ(sley_actor_spawn(&told, publisher, &pid, NULL), 0);
	CHECK_SOON(listener.nr == 1);
	CHECK_EQ(listener.from, told);
	CHECK_SOON(!sley_process_alive(told));
	hush(&listener);
	stop(rt);
}

/* One that publishes to itself hears it after its step. */
static int echo(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_topic_join("echo", sley_self()), 0);
	CHECK_EQ(sley_topic_publish("echo", 9, NULL, 0), 1);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->tag, 9);
	CHECK_EQ(msg->from, sley_self());
	return 0;
}

TEST_WORKERS(w39_a_member_can_publish_to_itself)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, echo, NULL, NULL), 0);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_EQ(sley_topic_members("echo", NULL, 0), 0);
	stop(rt);
}

/* ---- members that are full --------------------------------------------------------- */

static struct sley_event gate;

/* Has room for two, and does not look. */
static int looks_away(void *arg)
{
	struct listener *listener = arg;
	struct sley_msg *msg;

	CHECK_EQ(sley_event_wait(&gate), 0);
	while (!sley_receive(&msg) && msg->tag != TAG_END)
		listener_hear(listener, msg);
	return 0;
}

static void publish_five(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 2);
	CHECK_EQ(sley_topic_publish("t", 2, NULL, 0), 2);
	for (uint64_t i = 3; i <= 5; i++)
		CHECK_EQ(sley_topic_publish("t", i, NULL, 0), 1);
}

static void publish_to_full(enum sley_overflow overflow)
{
	struct sley *rt = start();
	struct listener full = { 0 }, other;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_event_init(&gate, false, false);
	CHECK_EQ(sley_actor_spawn(&full.pid, looks_away, &full,
				  SLEY_PROCESS_OPTIONS(.mailbox = 2,
						       .overflow = overflow)),
		 0);
	CHECK_EQ(sley_topic_join("t", full.pid), 0);
	CHECK_EQ(sley_topic_join("t", listen(&other)), 0);
	/* Not even a task, which could, waits for room. */
	sley_spawn(&group, &task, publish_five, NULL);
	sley_join(&group);
	CHECK_SOON(other.nr == 5);
	sley_event_set(&gate);
	CHECK_SOON(full.nr == 2);
	CHECK_EQ(full.sum, 3);
	hush(&full);
	hush(&other);
	stop(rt);
}

TEST_WORKERS(w39_members_that_are_full_do_not_get_it)
{
	publish_to_full(SLEY_REFUSE);
}

TEST_WORKERS(w39_nobody_waits_for_members_that_are_full)
{
	publish_to_full(SLEY_BLOCK);
}

TEST(w39_a_child_of_fork_has_no_topics)
{
	struct sley *rt;
	struct listener listener;
	int status;
	pid_t child;

	skip_where_nobody_forks();
	rt = start();
	CHECK_EQ(sley_topic_join("t", listen(&listener)), 0);
	child = fork();
	if (!child) {
		struct sley *own;

		CHECK_EQ(sley_topic_members("t", NULL, 0), 0);
		own = start();
		CHECK_EQ(sley_topic_join("t", listen(&listener)), 0);
		CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 1);
		CHECK_SOON(listener.nr == 1);
		hush(&listener);
		stop(own);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(sley_topic_members("t", NULL, 0), 1);
	hush(&listener);
	stop(rt);
}
