/* SPDX-License-Identifier: MIT */
/*
 * actor.c - actors: what they receive, in which order, and until when.
 */
#include <stdlib.h>

#include "conformance/actor/process.h"

/* ---- in order --------------------------------------------------------------------- */

struct reader {
	int nr; /* messages to read */
	atomic_int read;
	atomic_int done;
};

static int reads_in_order(void *arg)
{
	struct reader *r = arg;
	struct sley_msg *msg;

	for (int i = 0; i < r->nr; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->kind, SLEY_MESSAGE);
		CHECK_EQ(msg->tag, i);
		CHECK_EQ(msg->size, sizeof(int));
		CHECK_EQ(*(const int *)msg->data, -i);
		atomic_store(&r->read, i + 1);
	}
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	atomic_store(&r->done, 1);
	return 0;
}

TEST_WORKERS(an_actor_receives_in_the_order_of_sending)
{
	struct sley *rt = start();
	struct reader r = { .nr = test_scale(20000) };
	sley_pid pid = actor(reads_in_order, &r);

	for (int i = 0; i < r.nr; i++) {
		int value = -i;

		CHECK_EQ(sley_send(pid, (uint64_t)i, &value, sizeof(value)), 0);
		if (test_random(500) == 0)
			CHECK_SOON(r.read == i + 1);
	}
	CHECK_SOON(r.done);
	CHECK_SOON(is_gone(pid));
	stop(rt);
}

static int talks_to_itself(void *arg)
{
	struct sley_msg *msg;
	sley_pid self = sley_self();

	CHECK_NE(self, SLEY_NO_PID);
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK_EQ(sley_send(self, i, NULL, 0), 0);
		CHECK_EQ(sley_send(self, i + 1, NULL, 0), 0);
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->tag, i);
		CHECK_EQ(msg->from, self);
		CHECK(msg->data == NULL);
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->tag, i + 1);
	}
	count_task(arg);
	return 0;
}

TEST_WORKERS(an_actor_may_send_to_itself)
{
	struct sley *rt = start();
	atomic_int done = 0;

	for (int i = 0; i < 10; i++)
		(void)actor(talks_to_itself, &done);
	CHECK_SOON(done == 10);
	stop(rt);
}

struct parent {
	sley_pid child;
	atomic_int looked;
};

static int looks_where_its_parent_looks(void *arg)
{
	struct parent *p = arg;

	CHECK_EQ(p->child, sley_self());
	atomic_store(&p->looked, 1);
	return 0;
}

TEST_WORKERS(an_actor_finds_its_pid_where_its_parent_does)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(1000); i++) {
		struct parent p = { .child = SLEY_NO_PID };

		CHECK_EQ(sley_actor_spawn(&p.child,
					  looks_where_its_parent_looks, &p,
					  NULL),
			 0);
		CHECK_SOON(p.looked);
	}
	stop(rt);
}

static void receives(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_self(), SLEY_NO_PID);
	CHECK_EQ(sley_receive(&msg), -EINVAL);
	CHECK_EQ(sley_receive_until(&msg, 0), -EINVAL);
	CHECK_EQ(sley_receive_tag_until(&msg, 1, 0), -EINVAL);
}

static enum sley_step step_receives(struct life *life,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	struct sley_msg *one;

	(void)life;
	(void)msg;
	(void)nr;
	CHECK_EQ(sley_receive(&one), -EINVAL);
	return sley_out_done(out, 0);
}

TEST_WORKERS(only_an_actor_receives)
{
	struct life life = { .then = step_receives };
	struct sley *rt = start();

	receives(NULL);
	CHECK_EQ(sley_schedule(receives, NULL), 0);
	(void)live(&life);
	check_end(&life, 0);
	stop(rt);
	receives(NULL);
}

/* ---- with a deadline ---------------------------------------------------------------- */

static int waits_in_vain(void *arg)
{
	struct sley_msg *msg = (void *)arg;
	uint64_t begin = sley_now();

	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	CHECK_EQ(sley_receive_until(&msg, begin - 1), -ETIMEDOUT);
	CHECK_EQ(sley_receive_until(&msg, begin), -ETIMEDOUT);
	CHECK_EQ(sley_receive_tag_until(&msg, 1, 0), -ETIMEDOUT);
	CHECK(msg == (void *)arg);
	for (unsigned int i = 0; i < 5; i++) {
		uint64_t end = in_ms(i);

		CHECK_EQ(sley_receive_until(&msg, end), -ETIMEDOUT);
		CHECK(sley_now() >= end);
		end = in_ms(i);
		CHECK_EQ(sley_receive_tag_until(&msg, 1, end), -ETIMEDOUT);
		CHECK(sley_now() >= end);
	}
	CHECK(msg == (void *)arg);
	count_task(arg);
	return 0;
}

TEST_WORKERS(a_receive_that_nothing_comes_to_ends_at_its_deadline)
{
	struct sley *rt = start();
	atomic_int done = 0;

	for (int i = 0; i < 10; i++)
		(void)actor(waits_in_vain, &done);
	CHECK_SOON(done == 10);
	stop(rt);
}

static int takes_what_is_there(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_send(sley_self(), 5, NULL, 0), 0);
	CHECK_EQ(sley_receive_until(&msg, 0), 0);
	CHECK_EQ(msg->tag, 5);
	CHECK_EQ(sley_send(sley_self(), 6, NULL, 0), 0);
	CHECK_EQ(sley_receive_until(&msg, UINT64_MAX), 0);
	CHECK_EQ(msg->tag, 6);
	CHECK_EQ(sley_send(sley_self(), 7, NULL, 0), 0);
	CHECK_EQ(sley_receive_tag_until(&msg, 7, 1), 0);
	CHECK_EQ(msg->tag, 7);
	count_task(arg);
	return 0;
}

TEST_WORKERS(what_is_there_is_received_after_the_deadline_too)
{
	struct sley *rt = start();
	atomic_int done = 0;

	(void)actor(takes_what_is_there, &done);
	CHECK_SOON(done == 1);
	stop(rt);
}

/* Deadlines and messages in the same moment: each message comes once. */
static int waits_shortly(void *arg)
{
	struct reader *r = arg;
	struct sley_msg *msg;
	int nr_late = 0;

	for (int i = 0; i < r->nr;) {
		uint64_t end = sley_now() + test_random(60000);
		int err =
			i % 2 ? sley_receive_until(&msg, end)
			      : sley_receive_tag_until(&msg, (uint64_t)i, end);

		if (err) {
			CHECK_EQ(err, -ETIMEDOUT);
			nr_late++;
			continue;
		}
		CHECK_EQ(msg->tag, i);
		atomic_store(&r->read, ++i);
	}
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	atomic_store(&r->done, 1 + nr_late);
	return 0;
}

TEST_WORKERS(a_message_at_the_deadline_comes_once)
{
	struct sley *rt = start();
	struct reader r = { .nr = test_scale(3000) };
	sley_pid pid = actor(waits_shortly, &r);

	for (int i = 0; i < r.nr; i++) {
		uint64_t end = sley_now() + test_random(60000);

		while (sley_now() < end)
			;
		CHECK_EQ(sley_send(pid, (uint64_t)i, NULL, 0), 0);
		if (is_single())
			CHECK_SOON(r.read == i + 1);
	}
	CHECK_SOON(r.done);
	stop(rt);
}

/* ---- selective --------------------------------------------------------------------------- */

static void expect_tag(uint64_t tag)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_receive_until(&msg, in_ms(5000)), 0);
	CHECK_EQ(msg->tag, tag);
}

static void send_tags(sley_pid to, const char *tags)
{
	for (; *tags; tags++)
		CHECK_EQ(sley_send(to, (uint64_t)*tags, tags, 1), 0);
}

static int picks_by_tag(void *arg)
{
	struct sley_msg *msg;

	send_tags(sley_self(), "abcbad");
	CHECK_EQ(sley_receive_tag_until(&msg, 'x', 0), -ETIMEDOUT);
	CHECK_EQ(sley_receive_tag_until(&msg, 'x', in_ms(1)), -ETIMEDOUT);
	CHECK_EQ(sley_receive_tag_until(&msg, 'b', 0), 0);
	CHECK_EQ(sley_receive_tag_until(&msg, 'd', UINT64_MAX), 0);
	CHECK_EQ(sley_receive_tag_until(&msg, 'd', 0), -ETIMEDOUT);
	CHECK_EQ(sley_receive_tag_until(&msg, 'a', 0), 0);
	send_tags(sley_self(), "de");
	expect_tag('c');
	expect_tag('b');
	CHECK_EQ(sley_receive_tag_until(&msg, 'e', 0), 0);
	expect_tag('a');
	expect_tag('d');
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	count_task(arg);
	return 0;
}

TEST_WORKERS(what_a_selective_receive_does_not_want_stays_in_order)
{
	struct sley *rt = start();
	atomic_int done = 0;

	(void)actor(picks_by_tag, &done);
	CHECK_SOON(done == 1);
	stop(rt);
}

struct asker {
	atomic_int asked;
	atomic_int waits;
	atomic_int done;
};

static bool wants_data_z(const struct sley_msg *msg, void *arg)
{
	atomic_fetch_add(&((struct asker *)arg)->asked, 1);
	return msg->size == 1 && *(const char *)msg->data == 'z';
}

static int picks_by_data(void *arg)
{
	struct asker *a = arg;
	struct sley_msg *msg;

	send_tags(sley_self(), "abc");
	atomic_store(&a->waits, 1);
	CHECK_EQ(sley_receive_where_until(&msg, wants_data_z, a, UINT64_MAX),
		 0);
	CHECK_EQ(msg->tag, 'z');
	CHECK_EQ(*(const char *)msg->data, 'z');
	CHECK_EQ(a->asked, 3 + 100 + 1);
	expect_tag('a');
	expect_tag('b');
	expect_tag('c');
	for (int i = 0; i < 100; i++)
		expect_tag('n');
	atomic_store(&a->done, 1);
	return 0;
}

TEST_WORKERS(a_predicate_sees_the_data_and_is_asked_once_for_each)
{
	struct sley *rt = start();
	struct asker a = { 0 };
	sley_pid pid = actor(picks_by_data, &a);

	CHECK_SOON(a.waits);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(sley_send(pid, 'n', "n", 1), 0);
		if (i % 10 == 0)
			CHECK_SOON(a.asked == 3 + i + 1);
	}
	CHECK_EQ(sley_send(pid, 'z', "z", 1), 0);
	CHECK_SOON(a.done);
	stop(rt);
}

/* ---- kept and sent on ----------------------------------------------------------------------- */

static int keeps_some(void *arg)
{
	struct sley_msg *kept[64];
	struct sley_msg *msg;

	for (int i = 0; i < 128; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		if (i % 2)
			continue;
		sley_msg_keep(msg);
		kept[i / 2] = msg;
	}
	for (int i = 0; i < 64; i++) {
		CHECK_EQ(kept[i]->tag, 2 * i);
		CHECK_EQ(*(const int *)kept[i]->data, 2 * i);
		sley_msg_free(kept[i]);
	}
	sley_msg_free(NULL);
	count_task(arg);
	return 0;
}

TEST_WORKERS(a_message_that_is_kept_stays_as_it_is)
{
	struct sley *rt = start();
	atomic_int done = 0;
	sley_pid pid = actor(keeps_some, &done);

	for (int i = 0; i < 128; i++)
		CHECK_EQ(sley_send(pid, (uint64_t)i, &i, sizeof(i)), 0);
	CHECK_SOON(done == 1);
	stop(rt);
}

struct post_office {
	sley_pid to;
	atomic_ullong from;
	sley_pid office;
	atomic_int done;
};

static int sends_on(void *arg)
{
	struct post_office *p = arg;
	struct sley_msg *msg;

	for (int i = 0; i < 100; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		sley_msg_keep(msg);
		CHECK_EQ(sley_msg_forward(p->to, msg), 0);
	}
	CHECK_EQ(sley_receive(&msg), 0);
	sley_msg_keep(msg);
	CHECK_EQ(sley_msg_forward(SLEY_NO_PID, msg), -ESRCH);
	return 0;
}

static int gets_what_was_sent_on(void *arg)
{
	struct post_office *p = arg;
	struct sley_msg *msg;

	for (uint64_t i = 0; i < 100; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->tag, i);
		CHECK_EQ(msg->from, p->from);
		CHECK_EQ(msg->size, (i % 2 ? 4000 : 3));
		CHECK_EQ(((const char *)msg->data)[msg->size - 1],
			 (char)msg->size);
	}
	atomic_store(&p->done, 1);
	return 0;
}

static int sends_first(void *arg)
{
	static char bytes[4000];
	struct post_office *p = arg;

	atomic_store(&p->from, sley_self());
	bytes[2] = 3;
	bytes[3999] = (char)4000;
	for (uint64_t i = 0; i < 101; i++)
		CHECK_EQ(sley_send(p->office, i, bytes, i % 2 ? 4000 : 3), 0);
	return 0;
}

TEST_WORKERS(what_is_sent_on_keeps_its_sender_and_its_bytes)
{
	struct sley *rt = start();
	struct post_office p = { 0 };

	p.to = actor(gets_what_was_sent_on, &p);
	p.office = actor(sends_on, &p);
	(void)actor(sends_first, &p);
	CHECK_SOON(p.done);
	stop(rt);
}

static int frees_what_it_has_not_kept(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	sley_msg_free(msg);
	return 0;
}

TEST_ABORTS(freeing_a_message_that_was_not_kept_aborts,
	    "sley: misuse in sley_msg_free: the message was not kept: call "
	    "sley_msg_keep() first")
{
	struct sley *rt = start();

	(void)actor(frees_what_it_has_not_kept, NULL);
	CHECK_SOON(rt == NULL);
}
