/* SPDX-License-Identifier: MIT */
/*
 * tour_actors.c - stops of the tour: actors, and the list of processes.
 */
#include "tour.h"

#include "screen.h"

#include <sley/sley.h>
#include <string.h>

/* ---- ping, pong ----------------------------------------------------------------- */

#define NR_PINGS 100000L

enum { PING, PONG, PLAY };

static int pong(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0)
		sley_send(msg->from, PONG, msg->data, msg->size);
	return 0;
}

/* Answers the call to play with the sum of the numbers that came back. */
static int ping(void *arg)
{
	const sley_pid *other = arg;
	struct sley_msg *call, *msg;
	long sum = 0;

	if (sley_receive(&call))
		return 0;
	sley_msg_keep(call);
	for (long i = 1; i <= NR_PINGS; i++) {
		sley_send(*other, PING, &i, sizeof(i));
		if (sley_receive(&msg))
			break;
		sum += *(const long *)msg->data;
	}
	sley_reply(call, PLAY, &sum, sizeof(sum));
	sley_msg_free(call);
	return 0;
}

void tour_actors(struct outcome *out)
{
	char each[SCREEN_NUMBER_SIZE];
	sley_pid player, other;
	struct sley_msg *reply;
	long sum = 0;
	int err = sley_actor_spawn(&other, pong, NULL, NULL);

	if (!err)
		err = sley_actor_spawn(&player, ping, &other, NULL);
	outcome_start(out);
	if (!err)
		err = sley_call(player, PLAY, NULL, 0, &reply);
	outcome_stop(out);
	if (err) {
		outcome_trouble(out, "a call: %s", sley_strerror(err));
		return;
	}
	sum = *(const long *)reply->data;
	sley_msg_free(reply);
	if (sum != NR_PINGS * (NR_PINGS + 1) / 2)
		outcome_trouble(out, "what came back adds up to %ld", sum);
	outcome_result(out, "%s each",
		       screen_time(each, outcome_ns(out) / NR_PINGS));
}

/* ---- the list of processes ------------------------------------------------------ */

#define NR_MESSAGES 5

static int read_messages(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0)
		sley_reply(msg, 0, NULL, 0);
	return 0;
}

/* Waits for a message that never comes. */
static int wait_for_another(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	return sley_receive_tag_until(&msg, 1, SLEY_FOREVER);
}

static int sleep_long(void *arg)
{
	(void)arg;
	return sley_sleep(3600 * SLEY_SEC);
}

static const struct sley_child readers[] = {
	{ "reader", read_messages, .restart = SLEY_PERMANENT, .count = 2 },
};

static const struct sley_child house[] = {
	{ "desk", .children = readers, .nr_children = 1 },
	{ "waiter", wait_for_another, .restart = SLEY_PERMANENT },
	{ "sleeper", sleep_long, .restart = SLEY_PERMANENT },
};

static const char *name_of_state(enum sley_process_state state)
{
	static const char *const names[] = {
		[SLEY_PROCESS_READY] = "ready",
		[SLEY_PROCESS_RUNNING] = "running",
		[SLEY_PROCESS_BLOCKED] = "blocked",
		[SLEY_PROCESS_IDLE] = "idle",
	};

	return names[state];
}

static void note_process(struct outcome *out,
			 const struct sley_process_info *info)
{
	char pid[SLEY_PID_TEXT], parent[SLEY_PID_TEXT] = "";
	char handled[SCREEN_NUMBER_SIZE];
	const char *name = info->name[0] ? info->name : info->label;

	sley_pid_format(info->pid, pid);
	if (info->parent)
		sley_pid_format(info->parent, parent);
	outcome_note(out, "%-12s %-12s %-10s %-8s %4u %7s %5u", pid, parent,
		     name ? name : "", name_of_state(info->state),
		     info->mailbox, screen_count(handled, info->handled),
		     info->links);
}

/* Writes a line for each process; returns the number of processes. */
static int note_processes(struct outcome *out)
{
	struct sley_process_info info;
	sley_pid pid = SLEY_NO_PID;
	int nr = 0;

	outcome_note(out, "%-12s %-12s %-10s %-8s %4s %7s %5s", "process",
		     "parent", "name", "state", "mail", "handled", "links");
	while ((pid = sley_process_next(pid))) {
		if (sley_process_inspect(pid, &info) == 0) {
			note_process(out, &info);
			nr++;
		}
	}
	return nr;
}

/* Sends messages to the readers, and to the waiter, which does not read them. */
static void send_messages(struct outcome *out, sley_pid desk)
{
	struct sley_process_info info;
	sley_pid pid = SLEY_NO_PID;
	int err = 0;

	for (int i = 0; i < NR_MESSAGES; i++)
		sley_send(sley_name_find("waiter"), 0, NULL, 0);
	while ((pid = sley_process_next(pid))) {
		if (sley_process_inspect(pid, &info) || info.parent != desk)
			continue;
		for (int i = 0; i < NR_MESSAGES && !err; i++)
			err = sley_call(pid, 0, NULL, 0, NULL);
	}
	if (err)
		outcome_trouble(out, "a call: %s", sley_strerror(err));
}

/* Waits until waiter and sleeper are in their final states; false: after 10 s. */
static bool wait_until_settled(void)
{
	uint64_t end_ns = sley_after(10 * SLEY_SEC);
	struct sley_process_info waiter, sleeper;

	while (sley_now() < end_ns) {
		if (sley_process_inspect(sley_name_find("waiter"), &waiter) ==
			    0 &&
		    sley_process_inspect(sley_name_find("sleeper"), &sleeper) ==
			    0 &&
		    waiter.state == SLEY_PROCESS_IDLE &&
		    waiter.mailbox == NR_MESSAGES &&
		    sleeper.state == SLEY_PROCESS_BLOCKED)
			return true;
		sley_sleep(100 * SLEY_USEC);
	}
	return false;
}

void tour_inspect(struct outcome *out)
{
	sley_pid pid;
	int nr, err;

	outcome_start(out);
	err = sley_supervise(
		&pid,
		SLEY_SUPERVISOR_OPTIONS(.process = SLEY_PROCESS_OPTIONS(
							.name = "house")),
		house, 3);
	if (err) {
		outcome_trouble(out, "no supervisor: %s", sley_strerror(err));
		return;
	}
	send_messages(out, sley_name_find("desk"));
	if (!wait_until_settled())
		outcome_trouble(out,
				"a process has no messages, or does not sleep");
	nr = note_processes(out);
	outcome_stop(out);
	if (nr != 6)
		outcome_trouble(out, "%d of 6 processes were there", nr);
	outcome_result(out, "%d listed", nr);
}
