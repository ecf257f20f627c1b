/* SPDX-License-Identifier: MIT */
/*
 * actors.c - processes: spawned, sent to, upgraded, cancelled and killed.  What
 * there is no memory for is an error of who asked; what was accepted arrives, is
 * closed and is freed.
 */
#include "fault/sweep.h"

#include "mem/alloc.h"

#include <errno.h>
#include <sley/error.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NR_EACH 3
#define NR_MESSAGES 40

static struct {
	struct sley *rt;
	atomic_int inits, closes;
	atomic_int begun, ended;
	atomic_int made, freed;
	atomic_int sent, received;
} all;

/* ---- messages ------------------------------------------------------------------------ */

static void free_thing(void *data)
{
	free(data);
	atomic_fetch_add(&all.freed, 1);
}

static int send_thing(sley_pid to)
{
	void *thing = malloc(8);

	atomic_fetch_add(&all.made, 1);
	return sley_send_owned(to, 1, thing, 8, free_thing);
}

static int send_blob(sley_pid to)
{
	struct sley_blob *blob = sley_blob_create(200);
	int err;

	if (!blob)
		return -ENOMEM;
	err = sley_send_blob(to, 1, blob);
	sley_blob_put(blob);
	return err;
}

static int send_all(sley_pid to)
{
	static const char text[100] = "text";
	static const struct sley_msg_spec spec[] = { { 1, NULL, 0 },
						     { 1, text, 100 },
						     { 1, text, 8 } };
	int nr = 0;

	for (int i = 0; i < NR_MESSAGES; i++) {
		nr += TRY(sley_send(to, 1, NULL, 0), -ENOMEM);
		nr += TRY(sley_send(to, 1, text, sizeof(text)), -ENOMEM);
		nr += TRY(send_thing(to), -ENOMEM);
		nr += TRY(send_blob(to), -ENOMEM);
		nr += 3 * TRY(sley_send_many(to, spec, 3), -ENOMEM);
	}
	return nr;
}

/* ---- step processes ---------------------------------------------------------------------- */

static int init(void *self, const char *method, const void *input, size_t size)
{
	(void)self;
	(void)method;
	(void)input;
	(void)size;
	atomic_fetch_add(&all.inits, 1);
	return 0;
}

static void closed(void *self, int reason)
{
	static const int errors[] = { -ENOMEM, 0 };

	(void)self;
	/* Its upgrade has failed, or it could not be started. */
	if (reason == -ENOMEM)
		(void)trial_failed(TEST_PLACE("upgrade"), reason, errors);
	atomic_fetch_add(&all.closes, 1);
}

static enum sley_step count(void *self, struct sley_msg *const *msg, size_t nr,
			    struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)out;
	atomic_fetch_add(&all.received, (int)nr);
	return SLEY_WAIT;
}

static const struct sley_behaviour small = {
	.size = 8, .init = init, .step = count, .close = closed
};

static const struct sley_behaviour large = {
	.size = 3000, .init = init, .step = count, .close = closed
};

static enum sley_step grow(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	(void)self;
	(void)msg;
	return nr ? sley_out_upgrade(out, &large, NULL, 0, nr) : SLEY_WAIT;
}

static const struct sley_behaviour growing = {
	.size = 8, .init = init, .step = grow, .close = closed
};

/* ---- actors -------------------------------------------------------------------------------- */

static int receive(void *arg)
{
	struct sley_msg *msg;
	int err;

	(void)arg;
	atomic_fetch_add(&all.begun, 1);
	while ((err = sley_receive(&msg)) == 0)
		atomic_fetch_add(&all.received, 1);
	atomic_fetch_add(&all.ended, 1);
	return err;
}

/* ---- the scenarios ------------------------------------------------------------------------------ */

/* So many messages must come. */
static void check_received(int sent)
{
	CHECK_EVENTUALLY(atomic_load(&all.received) == sent);
}

static void try_steps(void)
{
	sley_pid pid;
	int sent = atomic_load(&all.received);

	for (int i = 0; i < NR_EACH; i++) {
		if (!TRY(sley_process_spawn(
				 &pid, i ? &small : &large, NULL, 0,
				 SLEY_PROCESS_OPTIONS(.runtime = all.rt)),
			 -ENOMEM))
			continue;
		sent += send_all(pid);
		check_received(sent);
		if (i == 1)
			CHECK_EQ(sley_process_kill(pid), 0);
		else
			(void)TRY(sley_process_cancel(pid, 0), -ENOMEM);
	}
	if (TRY(sley_process_spawn(&pid, &growing, NULL, 0,
				   SLEY_PROCESS_OPTIONS(.runtime = all.rt)),
		-ENOMEM))
		(void)TRY(sley_send(pid, 1, NULL, 0), -ENOMEM);
}

static void try_actors(void)
{
	sley_pid pid;
	int sent = atomic_load(&all.received);

	for (int i = 0; i < NR_EACH; i++) {
		uint32_t stack_kib = i == 2 ? 512 : 0;

		if (!TRY(sley_actor_spawn(
				 &pid, receive, NULL,
				 SLEY_PROCESS_OPTIONS(.runtime = all.rt,
						      .mailbox = 1000 * (i == 1),
						      .stack_kib = stack_kib)),
			 -ENOMEM))
			continue;
		sent += send_all(pid);
		check_received(sent);
		if (i)
			CHECK_EQ(sley_process_kill(pid), 0);
	}
}

static void play(void (*scene)(void))
{
	uint64_t before = mem_allocated(&sley__program_mem);

	all.rt = trial_start(2);
	if (!all.rt)
		return;
	trial_mark();
	scene();
	trial_stop(all.rt);
	CHECK_EQ(atomic_load(&all.closes), atomic_load(&all.inits));
	CHECK_EQ(atomic_load(&all.ended), atomic_load(&all.begun));
	CHECK_EQ(atomic_load(&all.freed), atomic_load(&all.made));
	CHECK_EQ(sley_process_count(), 0);
	CHECK_EQ(mem_allocated(&sley__program_mem), before);
}

SCENARIO(step_processes)
{
	play(try_steps);
}

SCENARIO(actors)
{
	play(try_actors);
}

/* ---- commands ----------------------------------------------------------------------------------- */

#define NR_YIELDS 40
#define COMMAND 40000 /* one of many: its part of the table is new */

static atomic_int yielded, handled;

static int handle(const struct sley_command *command, void *arg)
{
	(void)arg;
	atomic_fetch_add(&handled, 1);
	if (TRY(sley_command_complete(command->pid, command->tag, NULL, 0),
		-ENOMEM))
		return 0;
	return -EIO;
}

static enum sley_step yield_many(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	if (nr)
		return SLEY_WAIT;
	for (uint64_t i = 0; i < NR_YIELDS; i++)
		atomic_fetch_add(&yielded,
				 TRY(sley_out_yield(out, COMMAND, i, NULL),
				     -ENOMEM));
	atomic_fetch_add(&all.received, 1);
	return SLEY_WAIT;
}

static const struct sley_behaviour yielding = {
	.size = 8, .init = init, .step = yield_many, .close = closed
};

static void try_commands(void)
{
	sley_pid pid;

	if (!TRY(sley_command_handle(COMMAND, handle, NULL, NULL), -ENOMEM))
		return;
	if (TRY(sley_process_spawn(&pid, &yielding, NULL, 0,
				   SLEY_PROCESS_OPTIONS(.runtime = all.rt)),
		-ENOMEM)) {
		check_received(1);
		CHECK_EVENTUALLY(atomic_load(&handled) ==
				 atomic_load(&yielded));
	}
	CHECK_EQ(sley_command_unhandle(COMMAND), 0);
}

SCENARIO(commands)
{
	play(try_commands);
}
