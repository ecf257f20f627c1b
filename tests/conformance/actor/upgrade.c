/* SPDX-License-Identifier: MIT */
/*
 * upgrade.c - W41: what a step has not taken of its messages is for the behaviour
 * that comes after it: all of it, once, and in its order.
 */
#include "conformance/bound.h"

#define NR_BEHIND 20
#define UPGRADE 1000

static const char long_text[] = "more than sixteen bytes";

/* Messages have the tags 0, 1, 2, ...; one of them is the order to upgrade. */
static struct scene {
	struct sley_event go;
	atomic_int waits; /* the old step: for @go                      */
	size_t at;        /* this one is the order                      */
	size_t takes;     /* of the batch: so many, the order included  */
	size_t keeps;     /* also this one, behind the order; 0: none   */
	struct sley_msg *kept;
	size_t old;         /* what the old step has taken                */
	atomic_size_t new;  /* what the new step has got                  */
	atomic_int cancels; /* what the new step has got of those         */
	atomic_int dones;   /* the same                                   */
} * scene;

/* All four kinds of bytes. */
static void send_one(sley_pid pid, uint64_t tag)
{
	struct sley_blob *blob = NULL;

	switch (tag % 4) {
	case 0:
		CHECK_EQ(sley_send(pid, tag, &tag, sizeof(tag)), 0);
		break;
	case 1:
		CHECK_EQ(sley_send(pid, tag, long_text, sizeof(long_text)), 0);
		break;
	case 2:
		CHECK_EQ(sley_send_owned(pid, tag, strdup(long_text),
					 sizeof(long_text), NULL),
			 0);
		break;
	case 3:
		blob = sley_blob_create(sizeof(long_text));
		CHECK(blob != NULL);
		memcpy(sley_blob_data(blob), long_text, sizeof(long_text));
		CHECK_EQ(sley_send_blob(pid, tag, blob), 0);
		sley_blob_put(blob);
		break;
	}
}

static void check_one(const struct sley_msg *msg, uint64_t tag)
{
	CHECK_EQ(msg->kind, SLEY_MESSAGE);
	CHECK_EQ(msg->tag, tag);
	if (tag % 4)
		CHECK(!strcmp(msg->data, long_text));
	else
		CHECK_EQ(*(const uint64_t *)msg->data, tag);
}

static enum sley_step new_step(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	(void)self;
	(void)out;
	for (size_t i = 0; i < nr; i++) {
		uint64_t tag = scene->old + scene->new;

		if (msg[i]->kind == SLEY_DONE) {
			scene->dones++;
		} else if (msg[i]->kind == SLEY_CANCEL) {
			CHECK_EQ(scene->new, 0);
			scene->cancels++;
		} else {
			/* The one that the old step has kept is its own. */
			check_one(msg[i],
				  tag + (scene->keeps && tag >= scene->keeps));
			scene->new ++;
		}
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour new_version = { .name = "new",
						   .step = new_step };

static enum sley_step old_step(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	(void)self;
	if (!nr) {
		scene->waits = 1;
		CHECK_EQ(sley_event_wait(&scene->go), 0);
		return SLEY_WAIT;
	}
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind != SLEY_MESSAGE)
			return sley_out_upgrade(out, &new_version, NULL, 0, i);
		if (scene->takes == 0)
			return sley_out_upgrade(out, &new_version, NULL, 0, i);
		check_one(msg[i], scene->old++);
		if (msg[i]->tag != scene->at)
			continue;
		if (scene->keeps) {
			scene->kept = msg[scene->keeps - scene->at + i];
			sley_msg_keep(scene->kept);
		}
		return sley_out_upgrade(out, &new_version, NULL, 0, i + 1);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour old_version = { .name = "old",
						   .step = old_step };

static sley_pid begin(const struct sley_process_options *options)
{
	sley_pid pid = SLEY_NO_PID;

	CHECK_EQ(sley_process_spawn(&pid, &old_version, NULL, 0, options), 0);
	CHECK_SOON(scene->waits);
	return pid;
}

static void end(sley_pid pid)
{
	struct sley_process_info info = { 0 };

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	CHECK_EQ(info.mailbox, 0);
	CHECK_EQ(sley_process_kill(pid), 0);
}

static void upgrade_at(size_t at, const struct sley_process_options *options)
{
	struct scene s = { .go = SLEY_EVENT_INIT, .at = at, .takes = 1 };
	size_t nr = at + 1 + NR_BEHIND;
	sley_pid pid;

	scene = &s;
	pid = begin(options);
	for (size_t i = 0; i < nr; i++)
		send_one(pid, i);
	sley_event_set(&s.go);
	CHECK_SOON(s.new == NR_BEHIND);
	CHECK_EQ(s.old, at + 1);
	end(pid);
}

TEST_WORKERS(w41_what_is_behind_an_upgrade_is_for_the_new_code)
{
	struct sley *rt = start();

	for (size_t at = 0; at < 18; at++)
		upgrade_at(at, NULL);
	stop(rt);
}

TEST_WORKERS(w41_what_is_behind_an_upgrade_in_a_bounded_mailbox_is_not_lost)
{
	struct sley *rt = start();

	for (size_t at = 0; at < 18; at++)
		upgrade_at(at, SLEY_PROCESS_OPTIONS(.mailbox = 64));
	stop(rt);
}

TEST_WORKERS(w41_an_upgrade_may_take_none_of_its_messages)
{
	struct sley *rt = start();

	for (size_t nr = 1; nr < 4; nr++) {
		struct scene s = { .go = SLEY_EVENT_INIT, .takes = 0 };
		sley_pid pid;

		scene = &s;
		pid = begin(NULL);
		sley_event_set(&s.go);
		for (size_t i = 0; i < nr; i++)
			send_one(pid, i);
		CHECK_SOON(s.new == nr);
		CHECK_EQ(s.old, 0);
		end(pid);
	}
	stop(rt);
}

TEST_WORKERS(w41_a_cancel_that_was_not_taken_is_for_the_new_code)
{
	struct scene s = { .go = SLEY_EVENT_INIT, .at = 100, .takes = 1 };
	struct sley *rt = start();
	sley_pid pid;

	scene = &s;
	pid = begin(SLEY_PROCESS_OPTIONS(.traps = true));
	for (size_t i = 0; i < 10; i++)
		send_one(pid, i);
	CHECK_EQ(sley_process_cancel(pid, -EINTR), 0);
	sley_event_set(&s.go);
	CHECK_SOON(s.new == 10);
	CHECK_EQ(s.old, 0);
	CHECK_EQ(s.cancels, 1);
	end(pid);
	stop(rt);
}

TEST_WORKERS(w41_what_the_old_code_has_kept_is_its_own)
{
	struct scene s = {
		.go = SLEY_EVENT_INIT, .at = 2, .takes = 1, .keeps = 5
	};
	struct sley *rt = start();
	sley_pid pid;

	scene = &s;
	pid = begin(NULL);
	for (size_t i = 0; i < 10; i++)
		send_one(pid, i);
	sley_event_set(&s.go);
	CHECK_SOON(s.new == 10 - 3 - 1);
	check_one(s.kept, 5);
	sley_msg_free(s.kept);
	end(pid);
	stop(rt);
}

/* ---- completions of the old code -------------------------------------------------- */

#define CMD 7100

static int completes(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, NULL, 0);
}

static enum sley_step yields(void *self, struct sley_msg *const *msg, size_t nr,
			     struct sley_out *out)
{
	(void)self;
	(void)msg;
	if (nr)
		return sley_out_upgrade(out, &new_version, NULL, 0, 0);
	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(sley_out_yield(out, CMD, i, NULL), 0);
	return SLEY_WAIT;
}

TEST_WORKERS(w41_completions_that_were_not_taken_are_strays)
{
	static const struct sley_behaviour old = { .step = yields };
	struct scene s = { .go = SLEY_EVENT_INIT };
	struct sley_process_info info = { 0 };
	struct sley *rt = start();
	sley_pid pid;

	scene = &s;
	CHECK_EQ(sley_command_handle(CMD, completes, NULL, NULL), 0);
	CHECK_EQ(sley_process_spawn(&pid, &old, NULL, 0, NULL), 0);
	CHECK_SOON(!sley_process_inspect(pid, &info) && info.stray == 3);
	CHECK_EQ(s.dones, 0);
	CHECK_EQ(sley_command_unhandle(CMD), 0);
	end(pid);
	stop(rt);
}

/* ---- misuse ------------------------------------------------------------------------- */

static enum sley_step takes_too_many(void *self, struct sley_msg *const *msg,
				     size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	return sley_out_upgrade(out, &new_version, NULL, 0, nr + 1);
}

TEST_ABORTS(an_upgrade_that_takes_too_many_is_misuse,
	    "): sley_out_upgrade() was told that the "
	    "step took more messages than it was called with")
{
	static const struct sley_behaviour greedy = { .step = takes_too_many };

	(void)start();
	CHECK_EQ(sley_process_spawn(NULL, &greedy, NULL, 0, NULL), 0);
	CHECK_SOON(false);
}
