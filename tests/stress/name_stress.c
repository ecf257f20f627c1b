/* SPDX-License-Identifier: MIT */
/*
 * name_stress.c - names and topics against the end of those that have them, and
 * somebody who looks at everything meanwhile.
 */
#include <stdatomic.h>

#include "stress/stress.h"

#define CROWD 40
#define NAMES 3

static _Atomic int nr_left;

static const char *const names[NAMES] = { "red", "green", "blue" };

/* ---- names ------------------------------------------------------------------------ */

static _Atomic int owners[NAMES];

/* Who has a name has it alone, until it is gone. */
static int wants_a_name(void *arg)
{
	unsigned int i = (unsigned int)test_random(NAMES);
	sley_pid owner = SLEY_NO_PID;
	int err = sley_name_register(names[i], sley_self(), &owner);

	(void)arg;
	if (!err) {
		CHECK_EQ(atomic_fetch_add(&owners[i], 1), 0);
		dawdle();
		CHECK_EQ(sley_name_find(names[i]), sley_self());
		CHECK_EQ(atomic_fetch_sub(&owners[i], 1), 1);
		if (one_in(4))
			CHECK_EQ(sley_name_unregister(names[i]), 0);
	} else {
		CHECK_EQ(err, -EEXIST);
		CHECK_NE(owner, SLEY_NO_PID);
		CHECK_NE(owner, sley_self());
		(void)sley_name_find(names[i]);
	}
	test_count(1);
	nr_left--;
	return 0;
}

static void play_names(void)
{
	sley_pid pid;

	nr_left = CROWD;
	for (int i = 0; i < CROWD; i++) {
		CHECK_EQ(sley_actor_spawn(&pid, wants_a_name, NULL, NULL), 0);
		if (one_in(4))
			dawdle();
	}
	while (nr_left || sley_process_count())
		sley_yield();
	for (int i = 0; i < NAMES; i++)
		CHECK_EQ(sley_name_find(names[i]), SLEY_NO_PID);
}

STRESS(names_have_one_owner_at_a_time, play_names);

/* Somebody else names it, takes the name back, and kills it. */
static int lives(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (!sley_receive(&msg))
		;
	return 0;
}

static void meddle(void *arg)
{
	sley_pid *pid = arg;

	for (int i = 0; i < 20; i++) {
		sley_pid other = pid[test_random(CROWD)];
		const char *name = names[test_random(NAMES)];
		int err = 0;

		switch (test_random(8)) {
		case 0:
			err = sley_name_register(name, other, NULL);
			break;
		case 1:
			err = sley_name_unregister(name);
			break;
		case 2:
			err = sley_topic_join(name, other);
			break;
		case 3:
			err = sley_topic_leave(name, other);
			break;
		case 4:
			(void)sley_topic_publish(name, 1, name, 4);
			break;
		case 5:
			err = sley_process_kill(other);
			break;
		case 6:
			err = sley_topic_join_matching("*e*", other);
			break;
		case 7:
			err = sley_topic_leave_matching("*e*", other);
			break;
		}
		CHECK(err == 0 || err == -EEXIST || err == -ESRCH ||
		      err == -ENOENT);
		test_count(1);
	}
}

static void play_meddling(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	sley_pid pid[CROWD];

	for (int i = 0; i < CROWD; i++)
		CHECK_EQ(sley_actor_spawn(&pid[i], lives, NULL, NULL), 0);
	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &task[i], meddle, pid);
	meddle(pid);
	sley_join(&group);
	for (int i = 0; i < CROWD; i++)
		(void)sley_process_kill(pid[i]);
	while (sley_process_count())
		sley_yield();
	for (int i = 0; i < NAMES; i++) {
		CHECK_EQ(sley_name_find(names[i]), SLEY_NO_PID);
		CHECK_EQ(sley_topic_members(names[i], NULL, 0), 0);
	}
}

STRESS(names_and_topics_are_changed_by_everybody, play_meddling);

/* ---- topics ------------------------------------------------------------------------- */

#define REGULARS 5
#define ISSUES 20

static _Atomic int nr_read[REGULARS];

/* Who is there all the time gets each one once. */
static int reads_all(void *arg)
{
	_Atomic int *nr = arg;
	struct sley_msg *msg;

	while (*nr < ISSUES && !sley_receive(&msg))
		(*nr)++;
	nr_left--;
	return 0;
}

static int comes_and_goes(void *arg)
{
	uint64_t issue = 0;
	struct sley_msg *msg;

	(void)arg;
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(sley_topic_join("news", sley_self()), 0);
		dawdle();
		while (!sley_receive_until(&msg, 0)) {
			/* Once, however often it joins and leaves. */
			CHECK_GT(msg->tag, issue);
			issue = msg->tag;
		}
		if (i < 3)
			CHECK_EQ(sley_topic_leave("news", sley_self()), 0);
	}
	nr_left--;
	return 0;
}

static void play_topics(void)
{
	sley_pid pid, regular[REGULARS];

	nr_left = REGULARS + ISSUES;
	for (int i = 0; i < REGULARS; i++) {
		nr_read[i] = 0;
		CHECK_EQ(sley_actor_spawn(&regular[i], reads_all, &nr_read[i],
					  NULL),
			 0);
		CHECK_EQ(sley_topic_join("news", regular[i]), 0);
	}
	for (uint64_t i = 1; i <= ISSUES; i++) {
		unsigned char page[40] = { 0 };

		CHECK_EQ(sley_actor_spawn(&pid, comes_and_goes, NULL, NULL), 0);
		CHECK_GE(sley_topic_publish("news", i, page,
					    one_in(2) ? sizeof(page) : 8),
			 REGULARS);
		test_count(1);
	}
	while (nr_left || sley_process_count())
		sley_yield();
	for (int i = 0; i < REGULARS; i++)
		CHECK_EQ(nr_read[i], ISSUES);
	CHECK_EQ(sley_topic_members("news", NULL, 0), 0);
}

STRESS(regulars_get_each_issue_once, play_topics);

/* ---- who looks ------------------------------------------------------------------------ */

static _Atomic bool over;

static int short_life(void *arg)
{
	const char *name = names[test_random(NAMES)];
	int err = sley_name_register(name, sley_self(), NULL);
	struct sley_msg *msg;

	(void)arg;
	CHECK(!err || err == -EEXIST);
	CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	dawdle();
	nr_left--;
	return 0;
}

static void *looks_at_all(void *arg)
{
	struct sley_process_info info;
	sley_pid pid = SLEY_NO_PID;

	(void)arg;
	while (!over) {
		pid = sley_process_next(pid);
		if (pid && !sley_process_inspect(pid, &info)) {
			CHECK_EQ(info.pid, pid);
			CHECK(info.actor);
			CHECK_STR(info.label, "short");
			CHECK_LE(info.handled, 1);
			test_count(1);
		}
	}
	return NULL;
}

static void play_looking(void)
{
	pthread_t thread;
	sley_pid pid;

	over = false;
	thread = test_thread(looks_at_all, NULL);
	nr_left = CROWD;
	for (int i = 0; i < CROWD; i++) {
		CHECK_EQ(sley_actor_spawn(
				 &pid, short_life, NULL,
				 SLEY_PROCESS_OPTIONS(.label = "short")),
			 0);
		dawdle();
	}
	while (nr_left || sley_process_count())
		sley_yield();
	over = true;
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

STRESS(processes_are_seen_as_they_are, play_looking);
