/* SPDX-License-Identifier: MIT */
/*
 * commands.c - commands, calls and mailboxes with a limit: what was accepted is
 * complete, answered or received, also without memory.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <stdatomic.h>

enum { ASK = 1, END };

static struct sley_event over;
static const unsigned char bytes[100]; /* more than travels in a message */

static struct sley *start_trial(void)
{
	struct sley *rt = trial_start(2);

	if (rt)
		trial_mark();
	over = (struct sley_event)SLEY_EVENT_INIT;
	return rt;
}

/* ---- commands ------------------------------------------------------------------ */

enum { NR_YIELDS = 20, NOW = 7, TIMED = 1000 };

static int complete_now(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, bytes,
				     sizeof(bytes));
}

/* Each command that was accepted comes back once. */
static enum sley_step yield_many(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	int *due = self;

	for (uint64_t i = 0; i < NR_YIELDS && !*due && !nr; i++)
		*due += TRY(sley_out_yield(out, i & 1 ? NOW : TIMED, i, NULL),
			    -ENOMEM);
	for (size_t i = 0; i < nr; i++, --*due) {
		CHECK_EQ(msg[i]->kind, SLEY_DONE);
		if (!msg[i]->error)
			continue;
		CHECK_EQ(msg[i]->error, -ENOMEM);
		trial_note_report(NULL, "sley: a command failed");
	}
	return *due ? SLEY_WAIT : sley_out_done(out, 0);
}

static void note_end(void *self, int reason)
{
	(void)self;
	CHECK_EQ(reason, 0);
	sley_event_set(&over);
}

static const struct sley_behaviour yielder = { .size = sizeof(int),
					       .step = yield_many,
					       .close = note_end };

SCENARIO(commands_that_complete_or_fail)
{
	struct sley *rt = start_trial();

	if (!rt)
		return;
	if (TRY(sley_command_handle(NOW, complete_now, NULL, NULL), -ENOMEM) &&
	    TRY(sley_command_handle(
			TIMED, complete_now, NULL,
			SLEY_HANDLER_OPTIONS(.timeout_ns = 3600 * SLEY_SEC)),
		-ENOMEM) &&
	    TRY(sley_process_spawn(NULL, &yielder, NULL, 0,
				   SLEY_PROCESS_OPTIONS(.runtime = rt)),
		-ENOMEM))
		CHECK_EQ(sley_event_wait(&over), 0);
	trial_stop(rt);
}

/* ---- calls ---------------------------------------------------------------------- */

/* One that cannot answer ends, so that nobody waits for it. */
static int server(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0 && msg->tag == ASK)
		if (!TRY(sley_reply(msg, ASK, bytes, sizeof(bytes)), -ENOMEM))
			return -ENOMEM;
	return 0;
}

SCENARIO(calls_of_processes)
{
	struct sley *rt = start_trial();
	struct sley_msg *reply;
	sley_pid pid;

	if (!rt)
		return;
	if (TRY(sley_actor_spawn(&pid, server, NULL,
				 SLEY_PROCESS_OPTIONS(.runtime = rt)),
		-ENOMEM)) {
		for (int i = 0; i < 20; i++)
			if (TRY(sley_call(pid, ASK, bytes, sizeof(bytes),
					  &reply),
				-ENOMEM, -ESRCH))
				sley_msg_free(reply);
		(void)sley_process_kill(pid);
	}
	trial_stop(rt);
}

/* ---- mailboxes with a limit ------------------------------------------------------ */

static atomic_int nr_received;

static int receive_all(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0 && msg->tag == ASK)
		atomic_fetch_add(&nr_received, 1);
	sley_event_set(&over);
	return 0;
}

SCENARIO(mailboxes_with_a_limit)
{
	struct sley *rt = start_trial();
	int nr_sent = 0;
	sley_pid pid;

	if (!rt)
		return;
	atomic_store(&nr_received, 0);
	if (TRY(sley_actor_spawn(&pid, receive_all, NULL,
				 SLEY_PROCESS_OPTIONS(.runtime = rt,
						      .mailbox = 2,
						      .overflow = SLEY_BLOCK)),
		-ENOMEM)) {
		for (int i = 0; i < 20; i++)
			nr_sent +=
				TRY(sley_send_until(pid, ASK, bytes,
						    sizeof(bytes), UINT64_MAX),
				    -ENOMEM);
		if (TRY(sley_send_until(pid, END, NULL, 0, UINT64_MAX),
			-ENOMEM))
			CHECK_EQ(sley_event_wait(&over), 0);
		(void)sley_process_kill(pid);
		while (sley_process_alive(pid))
			test_nap_ms(1);
		CHECK_LE(atomic_load(&nr_received), nr_sent);
		if (sley_event_is_set(&over))
			CHECK_EQ(atomic_load(&nr_received), nr_sent);
	}
	trial_stop(rt);
}
