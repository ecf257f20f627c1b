/* SPDX-License-Identifier: MIT */
/*
 * actor_reminder.c - what a supervisor is reminded of, and what comes too late.
 */
#include "conformance/bound.h"

#include "actor/supervisor/reminder.h"

/* The next message is one of @reminder's: of what? */
static enum reminder_kind next(struct reminder *reminder)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_receive(&msg), 0);
	CHECK(reminder_of(msg) == reminder);
	return reminder_come(reminder);
}

static int be_reminded(void *arg)
{
	struct reminder reminder;
	struct list late;
	uint64_t when_ns = sley_now() + SLEY_MSEC;

	list_init(&late);
	reminder_init(&reminder);
	reminder_set(&reminder, REMINDER_KILL, when_ns, &late);
	CHECK_EQ(next(&reminder), REMINDER_KILL);
	CHECK_GE(sley_now(), when_ns);
	reminder_set(&reminder, REMINDER_START, 0, &late);
	CHECK_EQ(next(&reminder), REMINDER_START);
	/* Called off in time: nothing comes. */
	reminder_set(&reminder, REMINDER_KILL, when_ns + 3600 * SLEY_SEC,
		     &late);
	reminder_clear(&reminder);
	CHECK_EQ(reminder.stale, 0);
	CHECK(list_empty(&late));
	*(bool *)arg = true;
	return 0;
}

static int be_late(void *arg)
{
	struct reminder reminder;
	struct list late;

	list_init(&late);
	reminder_init(&reminder);
	do {
		reminder_set(&reminder, REMINDER_KILL, sley_now(), &late);
		CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
		reminder_clear(&reminder);
	} while (!reminder.stale);
	CHECK_EQ(reminder.stale, 1);
	reminder_set(&reminder, REMINDER_START, sley_now() + SLEY_MSEC, &late);
	CHECK_EQ(next(&reminder), REMINDER_NONE);
	CHECK_EQ(reminder.stale, 0);
	CHECK_EQ(next(&reminder), REMINDER_START);
	*(bool *)arg = true;
	return 0;
}

static int tell_lies(void *arg)
{
	struct reminder reminder, *wrong = &reminder;
	struct list late;
	struct sley_msg *msg;
	uint64_t tag;

	list_init(&late);
	reminder_init(&reminder);
	reminder_set(&reminder, REMINDER_START, 0, &late);
	CHECK_EQ(sley_receive(&msg), 0);
	tag = msg->tag;
	CHECK(reminder_of(msg) == &reminder);
	CHECK_EQ(reminder_come(&reminder), REMINDER_START);
	/* Somebody else, with the same words. */
	CHECK_EQ(sley_send(*(sley_pid *)arg, tag, &wrong, sizeof(wrong)), 0);
	return 0;
}

static int be_told_lies(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_receive(&msg), 0);
	CHECK(reminder_of(msg) == NULL);
	*(bool *)arg = true;
	return 0;
}

static void run(sley_actor_fn *fn, sley_actor_fn *other)
{
	struct sley *rt = start();
	bool done = false;
	sley_pid pid, liar;

	CHECK_EQ(sley_actor_spawn(&pid, fn, &done, NULL), 0);
	if (other)
		CHECK_EQ(sley_actor_spawn(&liar, other, &pid, NULL), 0);
	while (sley_process_alive(pid))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 4), 0);
	stop(rt);
	CHECK(done);
}

TEST_WORKERS(a_reminder_comes_in_time_or_not_at_all)
{
	run(be_reminded, NULL);
}

TEST_WORKERS(what_was_called_off_too_late_comes_and_means_nothing)
{
	run(be_late, NULL);
}

TEST_WORKERS(nobody_else_can_remind)
{
	run(be_told_lies, tell_lies);
}
