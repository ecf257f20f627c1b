/* SPDX-License-Identifier: MIT */
/*
 * completion_stray.c - completions that nobody waits for, and commands that nobody
 * completes: W21, W22, T12, T14, T33.
 */
#include "conformance/actor/stepper.h"

enum { CMD = 100, STOP = 1 };

static void handle(sley_handler *handler, void *arg)
{
	CHECK_EQ(sley_command_handle(CMD, handler, arg, NULL), 0);
}

static struct sley_process_info info_of(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info;
}

/*
 * Yields CMD with tags 1 to ->value; counts what comes back in ->arg, an array by
 * tag; ends when it is sent STOP.
 */
static enum sley_step count_done(struct stepper *s, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	int *done = s->arg;

	if (s->steps == 1) {
		for (int i = 1; i <= s->value; i++)
			CHECK_EQ(sley_out_yield(out, CMD, (uint64_t)i, s), 0);
	}
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_MESSAGE)
			return sley_out_done(out, 0);
		CHECK_EQ(msg[i]->kind, SLEY_DONE);
		done[msg[i]->tag] += msg[i]->error ? 100 : 1;
	}
	return SLEY_WAIT;
}

static void stop_stepper(struct stepper *s, sley_pid pid)
{
	CHECK_EQ(sley_send(pid, STOP, NULL, 0), 0);
	CHECK_EQ(stepper_join(s), 0);
}

static int keep(const struct sley_command *command, void *arg)
{
	*(struct sley_command *)arg = *command;
	return 0;
}

/* ---- T14 --------------------------------------------------------------------- */

TEST_WORKERS(t14_a_second_completion_is_a_stray)
{
	int done[4] = { 0 };
	struct stepper s = { .step = count_done, .arg = done, .value = 2 };
	struct sley_command command;
	struct sley *rt = start();
	sley_pid pid;

	handle(keep, &command);
	pid = stepper_spawn(&s);
	CHECK_SOON(info_of(pid).yields == 2);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_command_complete(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_command_complete_error(pid, 1, -EIO), 0);
	CHECK_SOON(info_of(pid).stray == 3);
	CHECK_EQ(info_of(pid).yields, 1);
	stop_stepper(&s, pid);
	CHECK_EQ(done[1], 1);
	CHECK_EQ(done[2], 0);
	stop(rt);
}

TEST_WORKERS(t14_a_completion_of_what_was_never_yielded_is_a_stray)
{
	int done[4] = { 0 };
	struct stepper s = { .step = count_done, .arg = done, .value = 0 };
	struct sley *rt = start();
	sley_pid pid = stepper_spawn(&s);

	CHECK_EQ(sley_command_complete(pid, 3, "text", 4), 0);
	CHECK_EQ(sley_command_complete(pid, UINT64_MAX, NULL, 0), 0);
	CHECK_SOON(info_of(pid).stray == 2);
	stop_stepper(&s, pid);
	CHECK_EQ(done[3], 0);
	stop(rt);
}

TEST_WORKERS(t14_a_completion_after_the_end_finds_nobody)
{
	int done[4] = { 0 };
	struct stepper s = { .step = count_done, .arg = done, .value = 1 };
	struct sley_command command;
	struct sley *rt = start();
	sley_pid pid;

	handle(keep, &command);
	pid = stepper_spawn(&s);
	CHECK_SOON(info_of(pid).yields == 1);
	stop_stepper(&s, pid);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_EQ(sley_command_complete(pid, 1, NULL, 0), -ESRCH);
	CHECK_EQ(sley_command_complete_error(pid, 1, -EIO), -ESRCH);
	CHECK_EQ(sley_command_complete(SLEY_NO_PID, 1, NULL, 0), -ESRCH);
	CHECK_EQ(sley_command_complete(0x7fffffffffffffffu, 1, NULL, 0),
		 -ESRCH);
	stop(rt);
}

static int receive_until_stop(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		CHECK_EQ(msg->kind, SLEY_MESSAGE);
		if (msg->tag == STOP)
			break;
	}
	return 0;
}

TEST_WORKERS(t14_a_completion_for_an_actor_is_a_stray)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, receive_until_stop, NULL, NULL), 0);
	CHECK_EQ(sley_command_complete(pid, 3, NULL, 0), 0);
	CHECK_SOON(info_of(pid).stray == 1);
	CHECK_EQ(sley_send(pid, STOP, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(pid));
	stop(rt);
}

/* ---- T12 ----------------------------------------------------------------------- */

/* A process counts a yield before its handler has the command. */
struct kept {
	struct sley_command command;
	atomic_int nr;
};

static int keep_and_count(const struct sley_command *command, void *arg)
{
	struct kept *kept = arg;

	kept->command = *command;
	atomic_fetch_add(&kept->nr, 1);
	return 0;
}

TEST_WORKERS(t12_a_late_completion_does_not_reach_the_next_tenant)
{
	struct kept kept = { .nr = 0 };
	struct sley *rt = start();

	handle(keep_and_count, &kept);
	for (int i = 0; i < test_scale(200); i++) {
		int done[2][2] = { { 0 } };
		struct stepper s = { count_done, .arg = done[0], .value = 1 };
		struct stepper t = { count_done, .arg = done[1], .value = 1 };
		struct sley_command first;
		sley_pid pid = stepper_spawn(&s);

		CHECK_SOON(atomic_load(&kept.nr) == 2 * i + 1);
		CHECK_EQ(info_of(pid).yields, 1);
		first = kept.command;
		stop_stepper(&s, pid);
		CHECK_SOON(!sley_process_alive(pid));
		pid = stepper_spawn(&t);
		CHECK_EQ(sley_command_complete(first.pid, first.tag, NULL, 0),
			 -ESRCH);
		CHECK_SOON(atomic_load(&kept.nr) == 2 * i + 2);
		CHECK_EQ(sley_command_complete(first.pid, first.tag, NULL, 0),
			 -ESRCH);
		CHECK_EQ(info_of(pid).stray, 0);
		stop_stepper(&t, pid);
		CHECK_EQ(done[1][1], 0);
	}
	stop(rt);
}

/* ---- W21, T33: a handler says too much, or nothing --------------------------------- */

static int complete_and_fail(const struct sley_command *command, void *arg)
{
	(void)arg;
	CHECK_EQ(sley_command_complete(command->pid, command->tag, NULL, 0), 0);
	return -EIO;
}

TEST_WORKERS(w21_of_a_completion_and_an_error_the_first_one_counts)
{
	int done[2] = { 0 };
	struct stepper s = { .step = count_done, .arg = done, .value = 1 };
	struct sley *rt = start();
	sley_pid pid;

	handle(complete_and_fail, NULL);
	pid = stepper_spawn(&s);
	CHECK_SOON(info_of(pid).stray == 1);
	stop_stepper(&s, pid);
	CHECK_EQ(done[1], 1);
	stop(rt);
}

TEST_WORKERS(w22_a_command_that_nobody_completes_is_seen)
{
	int done[4] = { 0 };
	struct stepper s = { .step = count_done, .arg = done, .value = 3 };
	struct sley_command command;
	struct sley *rt = start();
	sley_pid pid;

	handle(keep, &command);
	pid = stepper_spawn(&s);
	CHECK_SOON(info_of(pid).yields == 3);
	CHECK_SOON(info_of(pid).command == CMD);
	CHECK_SOON(info_of(pid).state == SLEY_PROCESS_BLOCKED);
	CHECK_EQ(sley_command_complete(pid, 2, NULL, 0), 0);
	CHECK_SOON(info_of(pid).yields == 2);
	CHECK_EQ(sley_command_complete(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_command_complete(pid, 3, NULL, 0), 0);
	CHECK_SOON(info_of(pid).yields == 0);
	CHECK_SOON(info_of(pid).state == SLEY_PROCESS_IDLE);
	stop_stepper(&s, pid);
	stop(rt);
}

static enum sley_step yield_different(struct stepper *s,
				      struct sley_msg *const *msg, size_t nr,
				      struct sley_out *out)
{
	if (nr && msg[0]->kind == SLEY_MESSAGE)
		return sley_out_done(out, 0);
	for (uint32_t i = 0; i < 5 && s->steps == 1; i++)
		CHECK_EQ(sley_out_yield(out, CMD + i, i, NULL), 0);
	return SLEY_WAIT;
}

TEST_WORKERS(w22_the_oldest_command_is_the_one_that_is_seen)
{
	struct stepper s = { .step = yield_different };
	struct sley_command command;
	struct sley *rt = start();
	sley_pid pid;

	for (uint32_t i = 0; i < 5; i++)
		CHECK_EQ(sley_command_handle(CMD + i, keep, &command, NULL), 0);
	pid = stepper_spawn(&s);
	CHECK_SOON(info_of(pid).yields == 5);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK_SOON(info_of(pid).command == CMD + i);
		CHECK_EQ(sley_command_complete(pid, i, NULL, 0), 0);
		CHECK_SOON(info_of(pid).yields == 4 - i);
	}
	stop_stepper(&s, pid);
	stop(rt);
}

/* A step without messages is nothing special, and takes nothing away. */
static enum sley_step step_for_nothing(struct stepper *s,
				       struct sley_msg *const *msg, size_t nr,
				       struct sley_out *out)
{
	if (s->steps == 1)
		CHECK_EQ(sley_out_yield(out, CMD, 1, NULL), 0);
	if (nr) {
		CHECK_EQ(msg[0]->kind, SLEY_DONE);
		return sley_out_done(out, 0);
	}
	return s->steps < 100 ? SLEY_CONTINUE : SLEY_WAIT;
}

TEST_WORKERS(t33_steps_without_messages_change_nothing)
{
	struct stepper s = { .step = step_for_nothing };
	struct sley_command command;
	struct sley *rt = start();
	sley_pid pid;

	handle(keep, &command);
	pid = stepper_spawn(&s);
	CHECK_SOON(info_of(pid).steps >= 100);
	CHECK_EQ(info_of(pid).yields, 1);
	CHECK_EQ(sley_command_complete(pid, 1, NULL, 0), 0);
	CHECK_EQ(stepper_join(&s), 0);
	stop(rt);
}

/* ---- what the process was before ---------------------------------------------- */

static atomic_int nr_told;

static enum sley_step told_nothing(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	(void)self;
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_MESSAGE)
			return sley_out_done(out, 0);
		atomic_fetch_add(&nr_told, 1);
	}
	return SLEY_WAIT;
}

static enum sley_step upgrades_when_told(void *self,
					 struct sley_msg *const *msg, size_t nr,
					 struct sley_out *out)
{
	static const struct sley_behaviour next = { .step = told_nothing };

	(void)self;
	(void)msg;
	if (nr)
		return sley_out_upgrade(out, &next, NULL, 0, nr);
	for (uint64_t i = 0; i < 40; i++)
		CHECK_EQ(sley_out_yield(out, CMD, i, NULL), 0);
	return SLEY_WAIT;
}

static int complete_at_once(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, NULL, 0);
}

/* All are complete, but only some of them fit into the step that upgrades. */
TEST_WORKERS(t14_what_came_before_an_upgrade_is_a_stray_after_it)
{
	static const struct sley_behaviour first = {
		.step = upgrades_when_told
	};
	struct sley *rt = start();
	sley_pid pid;

	handle(complete_at_once, NULL);
	CHECK_EQ(sley_process_spawn(&pid, &first, NULL, 0,
				    SLEY_PROCESS_OPTIONS(.budget = 1)),
		 0);
	CHECK_SOON(info_of(pid).stray == 39);
	CHECK_EQ(nr_told, 0);
	CHECK_EQ(sley_send(pid, STOP, NULL, 0), 0);
	stop(rt);
}

static int begin_region(const struct sley_command *command, void *arg)
{
	(void)command;
	(void)arg;
	CHECK_EQ(sley_blocking_begin(), 0);
	return 0;
}

static void run_handler_that_begins_a_region(void)
{
	static const struct sley_behaviour first = {
		.step = upgrades_when_told
	};
	sley_pid pid;

	(void)!start();
	CHECK_EQ(sley_command_handle(CMD, begin_region, NULL,
				     SLEY_HANDLER_OPTIONS(.timeout_ns =
								  SLEY_SEC)),
		 0);
	CHECK_EQ(sley_process_spawn(&pid, &first, NULL, 0,
				    SLEY_PROCESS_OPTIONS(.label = "opener")),
		 0);
	CHECK_SOON(!sley_process_alive(pid));
}

TEST_ABORTS(a_handler_that_does_not_end_its_region_aborts,
	    "): its step or the handler of its command returned inside a "
	    "blocking region: call sley_blocking_end() first")
{
	run_handler_that_begins_a_region();
}

TEST_ABORTS(a_process_whose_handler_does_not_end_its_region_is_named,
	    "> opener (function ")
{
	run_handler_that_begins_a_region();
}
