/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - topics that are joined by a pattern, and what picks out of a mailbox
 * does to the rest of it: W30.
 */
#include <sys/wait.h>

#include "conformance/actor/listener.h"

/* ---- who gets it ------------------------------------------------------------------- */

TEST_WORKERS(w30_a_pattern_joins_all_topics_that_match)
{
	struct sley *rt = start();
	struct listener star, mark;
	int price = 42;

	CHECK_EQ(sley_topic_join_matching("prices.*", listen(&star)), 0);
	CHECK_EQ(sley_topic_join_matching("prices.?", listen(&mark)), 0);
	CHECK_EQ(sley_topic_publish("prices", 1, NULL, 0), 0);
	CHECK_EQ(sley_topic_publish("prices.", 2, NULL, 0), 1);
	CHECK_EQ(sley_topic_publish("prices.a", 4, &price, sizeof(price)), 2);
	CHECK_EQ(sley_topic_publish("prices.a.b", 8, NULL, 0), 1);
	CHECK_EQ(sley_topic_publish("costs.a", 16, NULL, 0), 0);
	CHECK_SOON(star.nr == 3 && mark.nr == 1);
	CHECK_EQ(star.sum, 14);
	CHECK_EQ(mark.sum, 4);
	CHECK_EQ(mark.bytes, 42);
	hush(&star);
	hush(&mark);
	stop(rt);
}

TEST_WORKERS(w30_each_membership_counts_once)
{
	struct sley *rt = start();
	struct listener a, b;

	CHECK_EQ(sley_topic_join("ab", listen(&a)), 0);
	CHECK_EQ(sley_topic_join_matching("a*", a.pid), 0);
	CHECK_EQ(sley_topic_join_matching("*b", a.pid), 0);
	CHECK_EQ(sley_topic_join_matching("*b", a.pid), 0);
	CHECK_EQ(sley_topic_join_matching("a*", listen(&b)), 0);
	CHECK_EQ(sley_topic_publish("ab", 1, NULL, 0), 5);
	CHECK_SOON(a.nr == 4 && b.nr == 1);
	CHECK_EQ(sley_topic_leave_matching("*b", a.pid), 0);
	CHECK_EQ(sley_topic_publish("ab", 1, NULL, 0), 4);
	CHECK_SOON(a.nr == 7 && b.nr == 2);
	/* By its name only. */
	CHECK_EQ(sley_topic_members("ab", NULL, 0), 1);
	CHECK_EQ(sley_topic_members("a*", NULL, 0), 0);
	hush(&a);
	CHECK_EQ(sley_topic_publish("ab", 1, NULL, 0), 1);
	hush(&b);
	CHECK_SOON(sley_topic_publish("ab", 1, NULL, 0) == 0);
	stop(rt);
}

TEST_WORKERS(w30_a_pattern_and_a_name_of_the_same_text_are_two)
{
	struct sley *rt = start();
	struct listener listener;

	CHECK_EQ(sley_topic_join("a*", listen(&listener)), 0);
	CHECK_EQ(sley_topic_leave_matching("a*", listener.pid), -ENOENT);
	CHECK_EQ(sley_topic_publish("ab", 1, NULL, 0), 0);
	CHECK_EQ(sley_topic_publish("a*", 1, NULL, 0), 1);
	CHECK_EQ(sley_topic_join_matching("a*", listener.pid), 0);
	CHECK_EQ(sley_topic_publish("a*", 1, NULL, 0), 2);
	CHECK_EQ(sley_topic_leave("a*", listener.pid), 0);
	CHECK_EQ(sley_topic_leave("a*", listener.pid), -ENOENT);
	CHECK_EQ(sley_topic_publish("a*", 1, NULL, 0), 1);
	CHECK_EQ(sley_topic_leave_matching("a", listener.pid), -ENOENT);
	CHECK_EQ(sley_topic_leave_matching("a*", listener.pid), 0);
	CHECK_EQ(sley_topic_publish("a*", 1, NULL, 0), 0);
	CHECK_SOON(listener.nr == 4);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w30_patterns_have_one_to_63_bytes)
{
	struct sley *rt = start();
	char text[SLEY_NAME_MAX + 2];
	struct listener listener;

	(void)listen(&listener);
	memset(text, '?', sizeof(text));
	text[SLEY_NAME_MAX + 1] = '\0';
	CHECK_EQ(sley_topic_join_matching(text, listener.pid), -EINVAL);
	CHECK_EQ(sley_topic_leave_matching(text, listener.pid), -ENOENT);
	text[SLEY_NAME_MAX] = '\0';
	CHECK_EQ(sley_topic_join_matching(text, listener.pid), 0);
	CHECK_EQ(sley_topic_join_matching("*", listener.pid), 0);
	CHECK_EQ(sley_topic_publish(text, 1, NULL, 0), 2);
	/* What is no name is no topic for a pattern either. */
	CHECK_EQ(sley_topic_publish("", 1, NULL, 0), 0);
	CHECK_EQ(sley_topic_publish(NULL, 1, NULL, 0), 0);
	CHECK_EQ(sley_topic_publish("t", 1, "x", 1ull << 32), -EMSGSIZE);
	CHECK_EQ(sley_topic_join_matching("", listener.pid), -EINVAL);
	CHECK_EQ(sley_topic_join_matching(NULL, listener.pid), -EINVAL);
	CHECK_EQ(sley_topic_join_matching("t", SLEY_NO_PID), -ESRCH);
	hush(&listener);
	CHECK_EQ(sley_topic_join_matching("t", listener.pid), -ESRCH);
	stop(rt);
}

TEST_WORKERS(w30_a_pattern_may_have_thousands_of_members)
{
	enum { N = 1000 };
	static struct listener listener[N];
	struct sley *rt = start();
	int n = test_scale(N);

	for (int i = 0; i < n; i++)
		CHECK_EQ(sley_topic_join_matching("c*d", listen(&listener[i])),
			 0);
	CHECK_EQ(sley_topic_publish("crowd", 1, NULL, 0), n);
	CHECK_EQ(sley_topic_publish("crow", 1, NULL, 0), 0);
	for (int i = 0; i < n; i++) {
		CHECK_SOON(listener[i].nr == 1);
		CHECK_EQ(sley_process_kill(listener[i].pid), 0);
	}
	CHECK_SOON(sley_topic_publish("crowd", 1, NULL, 0) == 0);
	stop(rt);
}

/* ---- order --------------------------------------------------------------------------- */

#define NR_SENDERS 12

struct order {
	int nr;
	atomic_int next_sender, received;
	int next[NR_SENDERS];
};

static int hear_in_order(void *arg)
{
	struct order *o = arg;
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0) {
		const int *value = msg->data;

		CHECK_EQ(value[1], o->next[value[0]]++);
		atomic_fetch_add(&o->received, 1);
	}
	return 0;
}

static void *publish_in_order(void *arg)
{
	static const char *const topic[] = { "ta", "tb", "tc" };
	struct order *o = arg;
	int sender = atomic_fetch_add(&o->next_sender, 1);

	for (int i = 0; i < o->nr; i++) {
		int value[2] = { sender, i };

		CHECK_EQ(sley_topic_publish(topic[i % 3], 1, value,
					    sizeof(value)),
			 1);
	}
	return NULL;
}

static void publish_in_order_task(void *arg)
{
	(void)publish_in_order(arg);
}

TEST_WORKERS(w30_each_sender_is_heard_in_its_order_whatever_the_topic)
{
	struct order o = { .nr = test_scale(500) };
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, hear_in_order, &o, NULL), 0);
	CHECK_EQ(sley_topic_join_matching("t?", pid), 0);
	run_beside(publish_in_order_task, publish_in_order, &o);
	CHECK_SOON(o.received == NR_SENDERS * o.nr);
	stop(rt);
}

/* ---- while others come and go ---------------------------------------------------------- */

struct traffic {
	sley_pid stays, comes;
	int nr;
	atomic_int published;
};

static void come_and_go(struct traffic *t)
{
	static const char *const pattern[] = { "x*", "*y", "?z*", "x?" };

	for (int i = 0; i < t->nr; i++) {
		const char *text = pattern[i % 4];

		CHECK_EQ(sley_topic_join_matching(text, t->comes), 0);
		/* One that stays hears each message once. */
		CHECK(sley_topic_publish("xy", 1, NULL, 0) >= 1);
		atomic_fetch_add(&t->published, 1);
		CHECK_EQ(sley_topic_leave_matching(text, t->comes), 0);
	}
}

static void come_and_go_task(void *arg)
{
	come_and_go(arg);
}

static void *come_and_go_thread(void *arg)
{
	come_and_go(arg);
	return NULL;
}

TEST_WORKERS(w30_patterns_may_come_and_go_while_others_publish)
{
	struct traffic t = { .nr = test_scale(500) };
	struct sley *rt = start();
	struct listener stays, comes;

	t.stays = listen(&stays);
	t.comes = listen(&comes);
	CHECK_EQ(sley_topic_join_matching("x?", t.stays), 0);
	run_beside(come_and_go_task, come_and_go_thread, &t);
	CHECK_SOON(stays.nr == (uint64_t)t.published);
	CHECK_EQ(sley_topic_leave_matching("x?", t.stays), 0);
	CHECK_EQ(sley_topic_publish("xy", 1, NULL, 0), 0);
	hush(&stays);
	hush(&comes);
	stop(rt);
}

TEST(w30_a_child_of_fork_has_no_patterns)
{
	struct sley *rt;
	struct listener listener;
	int status;
	pid_t child;

	skip_where_nobody_forks();
	rt = start();
	CHECK_EQ(sley_topic_join_matching("*", listen(&listener)), 0);
	child = fork();
	if (!child) {
		struct sley *own = start();

		CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 0);
		CHECK_EQ(sley_topic_join_matching("*", listen(&listener)), 0);
		CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 1);
		CHECK_SOON(listener.nr == 1);
		hush(&listener);
		stop(own);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(sley_topic_publish("t", 1, NULL, 0), 1);
	hush(&listener);
	stop(rt);
}

/* ---- within a process -------------------------------------------------------------------- */

enum { DATA = 1, CLOSE, OTHER, GO };

static struct sley_event all_sent;

/* DATA and OTHER in turn, then CLOSE, and then GO; then it ends. */
static int sender(void *arg)
{
	sley_pid to = *(sley_pid *)arg;

	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_send(to, i % 2 ? OTHER : DATA, &i, sizeof(i)), 0);
	CHECK_EQ(sley_send(to, CLOSE, NULL, 0), 0);
	CHECK_EQ(sley_send(to, GO, NULL, 0), 0);
	return 0;
}

static bool of_stream(const struct sley_msg *msg, void *arg)
{
	(void)arg;
	return msg->kind == SLEY_MESSAGE &&
	       (msg->tag == DATA || msg->tag == CLOSE);
}

static bool is_down(const struct sley_msg *msg, void *arg)
{
	(void)arg;
	return msg->kind == SLEY_DOWN;
}

static void expect_value(struct sley_msg *msg, uint64_t tag, int value)
{
	CHECK_EQ(msg->tag, tag);
	CHECK_EQ(*(const int *)msg->data, value);
}

/* Everything is there before any of it is asked for, and the sender is gone. */
static int pick(void *arg)
{
	sley_pid self = sley_self();
	struct sley_msg *msg;

	CHECK_EQ(sley_actor_spawn(
			 NULL, sender, &self,
			 SLEY_PROCESS_OPTIONS(.monitor = &(uint64_t){ 0 })),
		 0);
	CHECK_EQ(sley_receive_tag_until(&msg, GO, UINT64_MAX), 0);
	CHECK_EQ(sley_receive_where_until(&msg, is_down, NULL, UINT64_MAX), 0);
	for (int i = 0; i < 20; i += 2) {
		CHECK_EQ(sley_receive_where_until(&msg, of_stream, NULL, 0), 0);
		expect_value(msg, DATA, i);
		if (i != 10)
			continue;
		/* What was passed over is still ahead of what came later. */
		CHECK_EQ(sley_receive_until(&msg, 0), 0);
		expect_value(msg, OTHER, 1);
	}
	CHECK_EQ(sley_receive_where_until(&msg, of_stream, NULL, 0), 0);
	CHECK_EQ(msg->tag, CLOSE);
	CHECK_EQ(sley_receive_where_until(&msg, of_stream, NULL, 0),
		 -ETIMEDOUT);
	/* Nobody asked for these. */
	for (int i = 3; i < 20; i += 2) {
		CHECK_EQ(sley_receive_until(&msg, 0), 0);
		expect_value(msg, OTHER, i);
	}
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	sley_event_set(arg);
	return 0;
}

static void check_picking(uint32_t limit)
{
	struct sley *rt = start();

	all_sent = (struct sley_event)SLEY_EVENT_INIT;
	CHECK_EQ(sley_actor_spawn(NULL, pick, &all_sent,
				  SLEY_PROCESS_OPTIONS(.mailbox = limit)),
		 0);
	CHECK_EQ(sley_event_wait(&all_sent), 0);
	stop(rt);
}

TEST_WORKERS(w30_what_is_not_asked_for_stays_queued_in_order)
{
	check_picking(0);
}

TEST_WORKERS(w30_a_closing_message_does_not_overtake_retained_data)
{
	check_picking(0);
	check_picking(22); /* all of it, and no more */
}
