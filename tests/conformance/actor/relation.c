/* SPDX-License-Identifier: MIT */
/*
 * relation.c - links and monitors: W32 to W35, T21 to T23.
 */
#include "conformance/actor/processes.h"

#include <stdio.h>

#define REASON (-77)

static const int reasons[] = { 0, -5, -77, -ECANCELED };

/* ---- W32: monitors -------------------------------------------------------------- */

static int monitor_each_end(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(reasons); i++) {
		sley_pid pid = spawn_mortal_with(i % 2, NULL);
		uint64_t number = 0;

		CHECK_EQ(sley_monitor(pid, &number), 0);
		expect_nothing();
		end_mortal(pid, reasons[i / 2]);
		expect_down(pid, number, reasons[i / 2]);
		CHECK_EQ(sley_send(pid, 0, NULL, 0), -ESRCH);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w32_a_monitor_is_told_once_with_the_reason)
{
	run_actor(monitor_each_end, NULL, false);
}

static int monitor_killed(void *arg)
{
	uint64_t number;

	(void)arg;
	for (int i = 0; i < 4; i++) {
		sley_pid pid = spawn_mortal_with(i % 2, NULL);
		bool kill = i / 2;

		CHECK_EQ(sley_monitor(pid, &number), 0);
		CHECK_EQ(kill ? sley_process_kill(pid)
			      : sley_process_cancel(pid, -5),
			 0);
		expect_down(pid, number, kill ? SLEY_EKILLED : -ECANCELED);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w32_a_monitor_is_told_of_a_kill_and_of_a_cancel)
{
	run_actor(monitor_killed, NULL, false);
}

/* The pid of the process that will have the place of @pid next. */
static sley_pid successor(sley_pid pid)
{
	char text[SLEY_PID_TEXT];
	unsigned int index, generation;
	sley_pid next;

	sley_pid_format(pid, text);
	CHECK_EQ(sscanf(text, "<0.%u.%u>", &index, &generation), 2);
	(void)snprintf(text, sizeof(text), "<0.%u.%u>", index, generation + 1);
	CHECK_EQ(sley_pid_parse(text, &next), 0);
	return next;
}

static int monitor_one_to_come(void *arg)
{
	sley_pid pid = spawn_mortal(), next = successor(pid);
	uint64_t number;

	(void)arg;
	CHECK_EQ(sley_monitor(next, &number), 0);
	for (int i = 0; i < 1000 && !sley_process_alive(next); i++) {
		end_mortal(pid, 0);
		CHECK_SOON(!sley_process_alive(pid));
		pid = spawn_mortal();
	}
	sley_unmonitor(number);
	expect_nothing();
	end_mortal(pid, 0);
	return 0;
}

TEST_WORKERS(w32_a_pid_that_somebody_has_later_is_not_watched)
{
	run_actor(monitor_one_to_come, NULL, false);
}

static int monitor_thrice(void *arg)
{
	sley_pid pid = spawn_mortal();
	uint64_t number[3];

	(void)arg;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_monitor(pid, &number[i]), 0);
	CHECK(number[0] != number[1] && number[1] != number[2]);
	sley_unmonitor(number[1]);
	end_mortal(pid, REASON);
	expect_down(pid, number[0], REASON);
	expect_down(pid, number[2], REASON);
	expect_nothing();
	return 0;
}

TEST_WORKERS(w32_a_process_can_be_monitored_several_times)
{
	run_actor(monitor_thrice, NULL, false);
}

static int monitor_without_number(void *arg)
{
	sley_pid pid = spawn_mortal();
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_monitor(pid, NULL), 0);
	end_mortal(pid, REASON);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->kind, SLEY_DOWN);
	CHECK_EQ(msg->from, pid);
	return 0;
}

TEST_WORKERS(w32_nobody_has_to_know_the_number_of_a_monitor)
{
	run_actor(monitor_without_number, NULL, false);
}

static int monitor_nobody(void *arg)
{
	sley_pid nobody[] = { SLEY_NO_PID, 1, ~0ull, 0x123456789abcdef,
			      spawn_mortal() };
	uint64_t number;

	(void)arg;
	end_mortal(nobody[4], 0);
	(void)await_end(nobody[4]);
	for (size_t i = 0; i < ARRAY_SIZE(nobody); i++) {
		CHECK_EQ(sley_monitor(nobody[i], &number), 0);
		expect_down(nobody[i], number, -ESRCH);
		CHECK_EQ(sley_monitor(nobody[i], &number), 0);
		sley_unmonitor(number);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w32_a_monitor_of_nobody_is_told_at_once)
{
	run_actor(monitor_nobody, NULL, false);
}

static int spawn_monitored(void *arg)
{
	uint64_t number = 0;
	sley_pid pid;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		pid = spawn_mortal_with(
			i, SLEY_PROCESS_OPTIONS(.monitor = &number));
		end_mortal(pid, REASON);
		expect_down(pid, number, REASON);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w32_a_new_process_can_be_monitored_from_the_start)
{
	run_actor(spawn_monitored, NULL, false);
}

static int relate_with_oneself(void *arg)
{
	uint64_t number;

	(void)arg;
	CHECK_EQ(sley_monitor(sley_self(), &number), -EINVAL);
	CHECK_EQ(sley_link(sley_self()), -EINVAL);
	sley_unlink(sley_self());
	expect_nothing();
	return 0;
}

TEST_WORKERS(t22_nobody_links_or_monitors_itself)
{
	run_actor(relate_with_oneself, NULL, false);
}

static void relate_without_being_one(void *arg)
{
	sley_pid pid = *(sley_pid *)arg;
	uint64_t number;

	CHECK_EQ(sley_monitor(pid, &number), -EINVAL);
	CHECK_EQ(sley_link(pid), -EINVAL);
	CHECK_EQ(sley_actor_spawn(NULL, mortal_actor, NULL,
				  SLEY_PROCESS_OPTIONS(.link = true)),
		 -EINVAL);
	CHECK_EQ(sley_actor_spawn(NULL, mortal_actor, NULL,
				  SLEY_PROCESS_OPTIONS(.monitor = &number)),
		 -EINVAL);
}

TEST_WORKERS(w32_tasks_and_threads_have_no_relations)
{
	struct sley *rt = start();
	sley_pid pid = spawn_mortal();

	relate_without_being_one(&pid);
	run_task(relate_without_being_one, &pid);
	end_mortal(pid, 0);
	stop(rt);
}

static void relate_too_late(void *data)
{
	uint64_t number;

	*(int *)data = 1;
	/* By the sender, if it came too late; by who is about to end. */
	if (sley_self() != SLEY_NO_PID)
		return;
	CHECK_EQ(sley_link(test_pid), -EINVAL);
	CHECK_EQ(sley_monitor(test_pid, &number), -EINVAL);
	sley_unlink(test_pid);
	sley_unmonitor(1);
}

/* What is left in its mailbox is freed by the process, when it is gone. */
static int end_with_mail(void *arg)
{
	uint64_t number;

	(void)arg;
	for (int kind = 0; kind < 2; kind++) {
		sley_pid pid = spawn_mortal_with(
			kind, SLEY_PROCESS_OPTIONS(.monitor = &number));
		int freed[2] = { 0, 0 };

		CHECK_EQ(sley_process_kill(pid), 0);
		for (int i = 0; i < 2; i++)
			(void)sley_send_owned(pid, 0, &freed[i], sizeof(int),
					      relate_too_late);
		expect_down(pid, number, SLEY_EKILLED);
		CHECK(freed[0] && freed[1]);
	}
	return 0;
}

TEST_WORKERS(w32_who_has_ended_has_no_relations_any_more)
{
	run_actor(end_with_mail, NULL, false);
}

TEST_ABORTS(w34_unlink_outside_of_a_process_is_misuse,
	    "only a process can unlink")
{
	sley_unlink(1);
}

TEST_ABORTS(w34_unmonitor_outside_of_a_process_is_misuse,
	    "only a process can take back a monitor")
{
	sley_unmonitor(1);
}

static int keep(void *arg)
{
	sley_pid pid = spawn_mortal();
	struct sley_msg *kept[2];
	uint64_t number;

	(void)arg;
	CHECK_EQ(sley_monitor(pid, &number), 0);
	CHECK_EQ(sley_link(pid), 0);
	end_mortal(pid, REASON);
	kept[0] = expect(SLEY_EXIT, pid);
	sley_msg_keep(kept[0]);
	kept[1] = expect(SLEY_DOWN, pid);
	sley_msg_keep(kept[1]);
	sley_unlink(pid);
	sley_unmonitor(number);
	expect_nothing();
	CHECK_EQ(kept[0]->error, REASON);
	CHECK_EQ(kept[1]->tag, number);
	sley_msg_free(kept[0]);
	sley_msg_free(kept[1]);
	return 0;
}

TEST_WORKERS(w32_what_was_told_can_be_kept)
{
	run_actor(keep, NULL, true);
}

/* ---- W33: links ------------------------------------------------------------------- */

/* Whoever is told of an end by both is told of the link first. */
static int link_and_end(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(reasons); i++) {
		sley_pid pid = spawn_mortal_with(i % 2, NULL);
		int reason = reasons[i / 2];
		uint64_t number;

		CHECK_EQ(sley_link(pid), 0);
		CHECK_EQ(sley_link(pid), 0);
		CHECK_EQ(sley_monitor(pid, &number), 0);
		end_mortal(pid, reason);
		if (reason)
			expect_exit(pid, reason);
		expect_down(pid, number, reason);
		CHECK_EQ(sley_link(pid), -ESRCH);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(t23_a_link_tells_of_failures_and_a_monitor_of_any_end)
{
	run_actor(link_and_end, NULL, true);
}

/* Two of each kind of pair, watched by the test. */
struct pair {
	sley_pid pid[2];
	uint64_t number[2];
};

static void spawn_pair(struct pair *pair, int kinds)
{
	for (int i = 0; i < 2; i++)
		pair->pid[i] = spawn_mortal_with(
			kinds >> i & 1,
			SLEY_PROCESS_OPTIONS(.monitor = &pair->number[i]));
}

static bool is_down_of(const struct sley_msg *msg, void *number)
{
	return msg->kind == SLEY_DOWN && msg->tag == *(uint64_t *)number;
}

/* Wherever it is in the mailbox. */
static void await_down(sley_pid target, uint64_t number, int reason)
{
	struct sley_msg *msg = NULL;

	CHECK_EQ(sley_receive_where_until(&msg, is_down_of, &number,
					  UINT64_MAX),
		 0);
	CHECK_EQ(msg->from, target);
	CHECK_EQ(msg->error, reason);
}

static int fail_one_of_two(void *arg)
{
	(void)arg;
	for (int kinds = 0; kinds < 4; kinds++) {
		struct pair pair;

		spawn_pair(&pair, kinds);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_LINK, pair.pid[1]), 0);
		CHECK_EQ(mortal_do(pair.pid[1], TAG_LINK, pair.pid[0]), 0);
		end_mortal(pair.pid[kinds % 2], REASON);
		/* Which end is told first is open. */
		for (int i = 0; i < 2; i++)
			await_down(pair.pid[i], pair.number[i], REASON);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w33_when_one_fails_the_linked_one_ends_for_the_same_reason)
{
	run_actor(fail_one_of_two, NULL, false);
}

/* To unlink once undoes it. */
static int link_twice(void *arg)
{
	(void)arg;
	for (int kinds = 0; kinds < 4; kinds++) {
		struct pair pair;

		spawn_pair(&pair, kinds);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_LINK, pair.pid[1]), 0);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_LINK, pair.pid[1]), 0);
		CHECK_EQ(mortal_do(pair.pid[1], TAG_LINK, pair.pid[0]), 0);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_UNLINK, pair.pid[1]), 0);
		end_mortal(pair.pid[0], REASON);
		expect_down(pair.pid[0], pair.number[0], REASON);
		end_mortal(pair.pid[1], 0);
		expect_down(pair.pid[1], pair.number[1], 0);
	}
	expect_nothing();
	return 0;
}

TEST_WORKERS(w33_to_link_twice_is_to_link_once)
{
	run_actor(link_twice, NULL, false);
}

static int end_one_of_two(void *arg)
{
	(void)arg;
	for (int kinds = 0; kinds < 4; kinds++) {
		struct pair pair;

		spawn_pair(&pair, kinds);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_LINK, pair.pid[1]), 0);
		end_mortal(pair.pid[0], 0);
		expect_down(pair.pid[0], pair.number[0], 0);
		CHECK_EQ(mortal_do(pair.pid[1], TAG_LINK, pair.pid[0]), -ESRCH);
		end_mortal(pair.pid[1], -3);
		expect_down(pair.pid[1], pair.number[1], -3);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w33_when_one_ends_for_reason_0_the_linked_one_does_not_hear_of_it)
{
	run_actor(end_one_of_two, NULL, false);
}

static int end_linked(void *arg)
{
	uint64_t number;
	sley_pid pid;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		pid = spawn_mortal_with(
			i,
			SLEY_PROCESS_OPTIONS(.link = true, .monitor = &number));
		end_mortal(pid, REASON);
		expect_exit(pid, REASON);
		expect_down(pid, number, REASON);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(w33_a_new_process_can_be_linked_from_the_start)
{
	run_actor(end_linked, NULL, true);
}

/* ---- W34: undone -------------------------------------------------------------------- */

static int undo_what_is_not(void *arg)
{
	sley_pid pid = spawn_mortal();
	uint64_t number;

	(void)arg;
	sley_unlink(pid);
	sley_unlink(SLEY_NO_PID);
	sley_unlink(~0ull);
	sley_unmonitor(0);
	sley_unmonitor(~0ull);
	CHECK_EQ(sley_monitor(pid, &number), 0);
	CHECK_EQ(sley_link(pid), 0);
	sley_unmonitor(number + 1);
	for (int i = 0; i < 2; i++) {
		sley_unmonitor(number);
		sley_unlink(pid);
	}
	CHECK_EQ(sley_monitor(pid, &number), 0);
	end_mortal(pid, REASON);
	expect_down(pid, number, REASON);
	sley_unmonitor(number);
	sley_unlink(pid);
	expect_nothing();
	return 0;
}

TEST_WORKERS(w34_to_undo_what_is_not_there_is_nothing)
{
	run_actor(undo_what_is_not, NULL, false);
}

static int unlink_either_side(void *arg)
{
	(void)arg;
	for (int kinds = 0; kinds < 8; kinds++) {
		struct pair pair;
		int side = kinds / 4;

		spawn_pair(&pair, kinds);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_LINK, pair.pid[1]), 0);
		CHECK_EQ(mortal_do(pair.pid[side], TAG_UNLINK, pair.pid[!side]),
			 0);
		end_mortal(pair.pid[0], REASON);
		expect_down(pair.pid[0], pair.number[0], REASON);
		end_mortal(pair.pid[1], 0);
		expect_down(pair.pid[1], pair.number[1], 0);
	}
	expect_nothing();
	return 0;
}

TEST_WORKERS(w34_a_link_is_undone_from_either_side)
{
	run_actor(unlink_either_side, NULL, false);
}

static bool is_numbered(const struct sley_msg *msg, void *arg)
{
	return msg->kind == SLEY_DOWN && msg->tag == *(const uint64_t *)arg;
}

/* They have come, and wait to be received. */
static int undo_too_late(void *arg)
{
	sley_pid pid = spawn_mortal();
	uint64_t first, second, last;
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_monitor(pid, &first), 0);
	CHECK_EQ(sley_monitor(pid, &second), 0);
	CHECK_EQ(sley_monitor(pid, &last), 0);
	CHECK_EQ(sley_link(pid), 0);
	end_mortal(pid, REASON);
	CHECK_EQ(sley_receive_where_until(&msg, is_numbered, &last, UINT64_MAX),
		 0);
	sley_unmonitor(first);
	sley_unlink(pid);
	expect_down(pid, second, REASON);
	expect_nothing();
	return 0;
}

TEST_WORKERS(w34_what_was_undone_does_not_come_even_if_it_was_told)
{
	run_actor(undo_too_late, NULL, true);
}

/* ---- T23: who traps ------------------------------------------------------------------ */

static int toggle_traps(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	for (int kinds = 0; kinds < 4; kinds++) {
		struct pair pair;
		sley_pid next;

		spawn_pair(&pair, kinds);
		CHECK_EQ(mortal_do(pair.pid[0], TAG_LINK, pair.pid[1]), 0);
		CHECK_EQ(mortal_do(pair.pid[1], TAG_TRAP, true), 0);
		end_mortal(pair.pid[0], -3);
		expect_down(pair.pid[0], pair.number[0], -3);
		CHECK_EQ(sley_receive_tag_until(&msg, TAG_SAW, UINT64_MAX), 0);
		CHECK_EQ(*(const int *)msg->data, -3);
		next = spawn_mortal();
		CHECK_EQ(mortal_do(pair.pid[1], TAG_LINK, next), 0);
		CHECK_EQ(mortal_do(pair.pid[1], TAG_TRAP, false), 0);
		end_mortal(next, -4);
		expect_down(pair.pid[1], pair.number[1], -4);
	}
	expect_nothing();
	return 0;
}

TEST_WORKERS(t23_whether_it_traps_is_decided_at_the_end_of_the_other_one)
{
	run_actor(toggle_traps, NULL, false);
}

static int fail_by_itself(void *arg)
{
	uint64_t number;
	sley_pid pid;

	(void)arg;
	pid = spawn_mortal_with(true, SLEY_PROCESS_OPTIONS(.link = true,
							   .monitor = &number));
	CHECK_EQ(sley_process_kill(pid), 0);
	expect_exit(pid, SLEY_EKILLED);
	expect_down(pid, number, SLEY_EKILLED);
	pid = spawn_mortal_with(
		false, SLEY_PROCESS_OPTIONS(.link = true, .monitor = &number));
	CHECK_EQ(sley_process_cancel(pid, -9), 0);
	expect_exit(pid, -ECANCELED);
	expect_down(pid, number, -ECANCELED);
	expect_nothing();
	return 0;
}

TEST_WORKERS(t23_a_kill_and_a_cancel_are_failures)
{
	run_actor(fail_by_itself, NULL, true);
}
