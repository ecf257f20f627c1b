/* SPDX-License-Identifier: MIT */
/*
 * naming.c - names, topics and posts: what there is no memory for did not happen,
 * and what was said to happen does.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define NR_NAMES 100 /* more than a chunk has room for */

static _Atomic int nr_heard;

static enum sley_step hear(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	(void)self;
	(void)out;
	for (size_t i = 0; i < nr; i++)
		nr_heard += msg[i]->kind == SLEY_MESSAGE;
	return SLEY_WAIT;
}

static const struct sley_behaviour hearer = { .name = "hearer", .step = hear };

/* The runtime, with a process and this thread bound to it. */
static struct sley *begin(sley_pid *pid)
{
	struct sley *rt = trial_start(1);

	if (!rt)
		return NULL;
	trial_mark();
	nr_heard = 0;
	if (TRY(sley_process_spawn(pid, &hearer, NULL, 0,
				   SLEY_PROCESS_OPTIONS(.runtime = rt)),
		-ENOMEM))
		return rt;
	trial_stop(rt);
	return NULL;
}

static void end(struct sley *rt, sley_pid pid)
{
	CHECK_EQ(sley_process_kill(pid), 0);
	trial_stop(rt);
	CHECK_EQ(sley_process_count(), 0);
}

SCENARIO(names_of_processes)
{
	sley_pid pid;
	struct sley *rt = begin(&pid);
	char name[16];
	int had = 0;

	if (!rt)
		return;
	for (int i = 0; i < NR_NAMES; i++) {
		bool has;

		(void)snprintf(name, sizeof(name), "name %d", i);
		has = TRY(sley_name_register(name, pid, NULL), -ENOMEM);
		had += has;
		CHECK_EQ(sley_name_find(name), has ? pid : SLEY_NO_PID);
		if (has && i % 3 == 0)
			CHECK_EQ(sley_name_unregister(name), 0);
	}
	CHECK(had || trial_struck());
	end(rt, pid);
	CHECK_EQ(sley_name_find("name 1"), SLEY_NO_PID);
}

SCENARIO(processes_that_are_born_with_a_name)
{
	sley_pid pid, other = SLEY_NO_PID;
	struct sley *rt = begin(&pid);

	if (!rt)
		return;
	if (TRY(sley_process_spawn(&other, &hearer, NULL, 0,
				   SLEY_PROCESS_OPTIONS(.runtime = rt,
							.name = "born")),
		-ENOMEM)) {
		CHECK_EQ(sley_name_find("born"), other);
		CHECK_EQ(sley_process_kill(other), 0);
	} else {
		CHECK_EQ(sley_name_find("born"), SLEY_NO_PID);
	}
	end(rt, pid);
}

static int nr_due;

static int publish(size_t size)
{
	static const unsigned char page[100];
	int nr = sley_topic_publish("t", 1, page, size);

	nr_due += nr > 0 ? nr : 0;
	return nr;
}

SCENARIO(topics)
{
	int joined = 0, matched = 0;
	sley_pid pid;
	struct sley *rt = begin(&pid);

	if (!rt)
		return;
	for (int i = 0; i < NR_NAMES; i++)
		joined += TRY(sley_topic_join("t", pid), -ENOMEM);
	CHECK_EQ(sley_topic_members("t", NULL, 0), joined);
	for (int i = 0; i < NR_NAMES; i++)
		matched += TRY(sley_topic_join_matching("*", pid), -ENOMEM);
	nr_due = 0;
	for (int i = 0; i < 4; i++) {
		int due = nr_due;

		if (TRY(publish(i % 2 ? 100 : 8), -ENOMEM))
			CHECK_EQ(nr_due - due, joined + matched);
	}
	while (nr_heard < nr_due)
		(void)sley_sleep(SLEY_USEC);
	for (int i = 0; i < joined / 2; i++)
		CHECK_EQ(sley_topic_leave("t", pid), 0);
	for (int i = 0; i < matched / 2; i++)
		CHECK_EQ(sley_topic_leave_matching("*", pid), 0);
	end(rt, pid);
	CHECK_EQ(nr_heard, nr_due);
	CHECK_EQ(sley_topic_members("t", NULL, 0), 0);
}

SCENARIO(messages_that_are_sent_later)
{
	static const unsigned char page[100];
	int due = 0;
	sley_pid pid;
	struct sley *rt = begin(&pid);

	if (!rt)
		return;
	if (TRY(sley_bind(rt), -ENOMEM)) {
		for (int i = 0; i < NR_NAMES; i++) {
			uint64_t when = i % 4 ? 100 * SLEY_USEC
					      : 3600 * SLEY_SEC;
			sley_post post = 0;
			bool posted =
				TRY(sley_post_at(pid, 1, page, i % 2 ? 100 : 8,
						 sley_now() + when, &post),
				    -ENOMEM);

			due += posted && i % 4;
			if (posted && i % 8 == 0)
				CHECK_EQ(sley_post_cancel(post), 0);
		}
		/* What was accepted needs no memory when its time comes. */
		while (nr_heard < due)
			(void)sley_sleep(100 * SLEY_USEC);
		sley_unbind(rt);
	}
	end(rt, pid);
	CHECK_EQ(nr_heard, due);
}
