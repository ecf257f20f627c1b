/* SPDX-License-Identifier: MIT */
/*
 * command.c - commands that steps yield, their handlers and completions: W4, W6,
 * W20 to W23, T3, T14, T33.
 */
#include "conformance/actor/stepper.h"

#include <sched.h>

enum { NOW = 100, LATER, REFUSED, SILENT, SLOW, RACED, OTHER, UNKNOWN = 999 };

/* ---- handlers --------------------------------------------------------------- */

static int complete_now(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, &command->tag,
				     sizeof(command->tag));
}

static int refuse(const struct sley_command *command, void *arg)
{
	(void)command;
	(void)arg;
	return -EBUSY;
}

/* Those that are to be completed by the test. */
static struct pending {
	atomic_int nr;
	struct sley_command command[2048];
} pending;

static int keep(const struct sley_command *command, void *arg)
{
	int i = atomic_load(&pending.nr);

	(void)arg;
	pending.command[i] = *command;
	atomic_store(&pending.nr, i + 1);
	return 0;
}

static void handle(uint32_t command, sley_handler *handler)
{
	CHECK_EQ(sley_command_handle(command, handler, NULL, NULL), 0);
}

static struct sley *start_handlers(void)
{
	atomic_store(&pending.nr, 0);
	handle(NOW, complete_now);
	handle(LATER, keep);
	handle(REFUSED, refuse);
	handle(SILENT, keep);
	return start();
}

/* The bound thread of a runtime without workers has to let others run. */
static void await_pending(int nr)
{
	while (atomic_load(&pending.nr) < nr)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
}

static bool is_done(const struct sley_msg *msg, uint64_t tag)
{
	return msg->kind == SLEY_DONE && msg->tag == tag;
}

/* ---- W4 ------------------------------------------------------------------------ */

static int nr_yields;
static bool is_complete[2048];

static enum sley_step yield_many(struct stepper *s, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	if (s->steps == 1) {
		memset(is_complete, 0, sizeof(is_complete));
		for (int i = 0; i < nr_yields; i++)
			CHECK_EQ(sley_out_yield(out, LATER, (uint64_t)i * 64,
						&is_complete[i]),
				 0);
		return s->arg ? SLEY_CONTINUE : SLEY_WAIT;
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t tag = msg[i]->tag;

		CHECK(is_done(msg[i], tag) && msg[i]->error == 0);
		CHECK(!is_complete[tag / 64]);
		is_complete[tag / 64] = true;
		s->value++;
	}
	return s->value == nr_yields ? sley_out_done(out, 0) : SLEY_WAIT;
}

static void complete_pending(int i)
{
	const struct sley_command *command = &pending.command[i];

	CHECK_EQ(command->command, LATER);
	CHECK_EQ(command->tag, (uint64_t)i * 64);
	CHECK(command->payload == &is_complete[i]);
	CHECK_EQ(sley_command_complete(command->pid, command->tag, NULL, 0), 0);
}

static void check_many(int nr, bool backwards, bool go_on)
{
	struct stepper s = { .step = yield_many, .arg = go_on ? &s : NULL };

	nr_yields = nr;
	atomic_store(&pending.nr, 0);
	(void)stepper_spawn(&s);
	await_pending(nr);
	for (int i = 0; i < nr; i++)
		complete_pending(backwards ? nr - 1 - i : i);
	CHECK_EQ(stepper_join(&s), 0);
	CHECK_EQ(s.value, nr);
}

TEST_WORKERS(w04_any_number_of_yields_in_one_step)
{
	static const int nr[] = { 1, 2, 3, 4, 5, 8, 9, 100, 2000 };
	struct sley *rt = start_handlers();

	for (size_t i = 0; i < ARRAY_SIZE(nr); i++) {
		check_many(nr[i], false, false);
		check_many(nr[i], true, false);
		check_many(nr[i], false, true);
	}
	stop(rt);
}

static enum sley_step end_with_yields(struct stepper *s,
				      struct sley_msg *const *msg, size_t nr,
				      struct sley_out *out)
{
	(void)msg;
	(void)nr;
	for (uint64_t i = 0; i < 10; i++)
		CHECK_EQ(sley_out_yield(out, LATER, i, NULL), 0);
	return sley_out_done(out, s->value);
}

TEST_WORKERS(w04_yields_of_a_step_that_ends_the_process_are_dropped)
{
	struct stepper s = { .step = end_with_yields };
	struct stepper t = { .step = end_with_yields, .value = -EIO };
	struct sley *rt = start_handlers();

	CHECK_EQ(stepper_run(&s), 0);
	CHECK_EQ(stepper_run(&t), -EIO);
	CHECK_EQ(pending.nr, 0);
	stop(rt);
}

static enum sley_step after_upgrade(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	struct stepper *s = *(struct stepper **)self;

	(void)msg;
	CHECK_EQ(nr, 0);
	/* Nothing of the last one is under way: all of its tags are free. */
	for (uint64_t i = 0; i < 10; i++)
		CHECK_EQ(sley_out_yield(out, LATER, i, NULL), 0);
	s->value++;
	return sley_out_done(out, 0);
}

static void close_upgraded(void *self, int reason)
{
	struct stepper *s = *(struct stepper **)self;

	s->reason = reason;
	sley_event_set(&s->ended);
}

static const struct sley_behaviour upgraded = {
	.size = sizeof(struct stepper *),
	.init = stepper_init,
	.step = after_upgrade,
	.close = close_upgraded,
};

static void close_nothing(void *self, int reason)
{
	(void)self;
	CHECK_EQ(reason, 0);
}

static enum sley_step upgrade_with_yields(void *self,
					  struct sley_msg *const *msg,
					  size_t nr, struct sley_out *out)
{
	(void)msg;
	for (uint64_t i = 0; i < 10; i++)
		CHECK_EQ(sley_out_yield(out, LATER, i, NULL), 0);
	return sley_out_upgrade(out, &upgraded, self, sizeof(void *), nr);
}

static const struct sley_behaviour upgrading = {
	.size = sizeof(struct stepper *),
	.init = stepper_init,
	.step = upgrade_with_yields,
	.close = close_nothing,
};

TEST_WORKERS(w04_yields_of_a_step_that_upgrades_are_dropped)
{
	struct stepper s = { .value = 0 }, *input = &s;
	struct sley *rt = start_handlers();
	sley_pid pid;

	CHECK_EQ(sley_process_spawn(&pid, &upgrading, &input, sizeof(input),
				    NULL),
		 0);
	CHECK_EQ(stepper_join(&s), 0);
	CHECK_EQ(s.value, 1);
	CHECK_EQ(pending.nr, 0);
	stop(rt);
}

static enum sley_step yield_without_memory(struct stepper *s,
					   struct sley_msg *const *msg,
					   size_t nr, struct sley_out *out)
{
	int err = 0;
	uint64_t i;

	(void)msg;
	if (s->steps > 1) {
		s->value -= (int)nr;
		return s->value ? SLEY_WAIT : sley_out_done(out, 0);
	}
	test_fail_allocation_after(0);
	for (i = 0; i < 1000 && !err; i++)
		err = sley_out_yield(out, NOW, i, NULL);
	test_fail_allocation_after(-1);
	CHECK_EQ(err, -ENOMEM);
	/* What was accepted is not lost, and it goes on. */
	CHECK_EQ(sley_out_yield(out, NOW, i, NULL), 0);
	s->value = (int)i;
	return SLEY_WAIT;
}

TEST_WORKERS(w04_without_memory_a_yield_is_refused_and_the_others_are_done)
{
	struct stepper s = { .step = yield_without_memory };
	struct sley *rt = start_handlers();

	CHECK_EQ(stepper_run(&s), 0);
	stop(rt);
}

/* ---- W6 -------------------------------------------------------------------------- */

static enum sley_step use_tags_again(struct stepper *s,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	for (size_t i = 0; i < nr; i++)
		CHECK(is_done(msg[i], 7));
	if (s->steps > 5)
		return sley_out_done(out, 0);
	CHECK_EQ(nr, s->steps > 1);
	CHECK_EQ(sley_out_yield(out, NOW, 7, NULL), 0);
	CHECK_EQ(sley_out_yield(out, NOW, 7, NULL), -EEXIST);
	CHECK_EQ(sley_out_yield(out, OTHER, 7, NULL), -EEXIST);
	return SLEY_WAIT;
}

TEST_WORKERS(w06_a_tag_is_used_once_at_a_time)
{
	struct stepper s = { .step = use_tags_again };
	struct sley *rt = start_handlers();

	CHECK_EQ(stepper_run(&s), 0);
	stop(rt);
}

/* Each completion wakes it: it waits for one after the other. */
static enum sley_step count_wakes(struct stepper *s,
				  struct sley_msg *const *msg, size_t nr,
				  struct sley_out *out)
{
	if (s->steps == 1) {
		for (uint64_t i = 0; i < 8; i++)
			CHECK_EQ(sley_out_yield(out, LATER, i, NULL), 0);
		return SLEY_WAIT;
	}
	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(msg[i]->kind, SLEY_DONE);
		atomic_fetch_add((atomic_int *)s->arg, 1);
		s->value++;
	}
	return s->value == 8 ? sley_out_done(out, 0) : SLEY_WAIT;
}

TEST_WORKERS(w06_each_completion_wakes_the_process)
{
	atomic_int seen = 0;
	struct stepper s = { .step = count_wakes, .arg = &seen };
	struct sley *rt = start_handlers();
	static const uint64_t order[] = { 3, 7, 0, 1, 6, 2, 5, 4 };
	sley_pid pid = stepper_spawn(&s);

	await_pending(8);
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(sley_command_complete(pid, order[i], NULL, 0), 0);
		while (atomic_load(&seen) != i + 1)
			CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	}
	CHECK_EQ(stepper_join(&s), 0);
	stop(rt);
}

/* ---- W20 --------------------------------------------------------------------------- */

TEST(w20_a_command_has_one_handler)
{
	static const uint32_t ids[] = { 0, 1, 255, 256, 4711, 65535 };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		CHECK_EQ(sley_command_unhandle(ids[i]), -ENOENT);
		CHECK_EQ(sley_command_handle(ids[i], keep, NULL, NULL), 0);
		CHECK_EQ(sley_command_handle(ids[i], keep, NULL, NULL),
			 -EEXIST);
		CHECK_EQ(sley_command_handle(ids[i], refuse, &pending, NULL),
			 -EEXIST);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		CHECK_EQ(sley_command_unhandle(ids[i]), 0);
		CHECK_EQ(sley_command_unhandle(ids[i]), -ENOENT);
		CHECK_EQ(sley_command_handle(ids[i], refuse, NULL, NULL), 0);
	}
}

TEST(w20_what_cannot_be_registered_is_said)
{
	struct newer {
		struct sley_handler_options options;
		uint64_t more;
	} newer = { .options = { .size = sizeof(newer) } };

	CHECK_EQ(sley_command_handle(SLEY_COMMAND_MAX + 1, keep, NULL, NULL),
		 -EINVAL);
	CHECK_EQ(sley_command_unhandle(SLEY_COMMAND_MAX + 1), -ENOENT);
	CHECK_EQ(sley_command_handle(NOW, NULL, NULL, NULL), -EINVAL);
	newer.options.size = 0;
	CHECK_EQ(sley_command_handle(NOW, keep, NULL, &newer.options), -EINVAL);
	newer.options.size = sizeof(newer);
	newer.more = 1;
	CHECK_EQ(sley_command_handle(NOW, keep, NULL, &newer.options), -E2BIG);
	newer.more = 0;
	CHECK_EQ(sley_command_handle(NOW, keep, NULL, &newer.options), 0);
}

static int complete_with_arg(const struct sley_command *command, void *arg)
{
	return sley_command_complete(command->pid, command->tag, &arg,
				     sizeof(arg));
}

static int complete_with_other(const struct sley_command *command, void *arg)
{
	return complete_with_arg(command, (char *)arg + 1);
}

static char places[2][2];

/* Nobody gets the function of one handler with the argument of another. */
static enum sley_step look_for_handlers(struct stepper *s,
					struct sley_msg *const *msg, size_t nr,
					struct sley_out *out)
{
	for (size_t i = 0; i < nr; i++) {
		const char *got;

		if (msg[i]->error) {
			CHECK_EQ(msg[i]->error, -ENOSYS);
			continue;
		}
		memcpy(&got, msg[i]->data, sizeof(got));
		CHECK(got == &places[0][0] || got == &places[1][1]);
	}
	if (atomic_load((atomic_bool *)s->arg))
		return sley_out_done(out, 0);
	CHECK_EQ(sley_out_yield(out, OTHER, (uint64_t)s->steps, NULL), 0);
	return SLEY_WAIT;
}

static void replace_handlers(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		int which = i & 1;

		CHECK_EQ(sley_command_handle(OTHER,
					     which ? complete_with_other
						   : complete_with_arg,
					     &places[which][0], NULL),
			 0);
		if (i % 64 == 0)
			CHECK_EQ(sley_sleep(1), 0);
		CHECK_EQ(sley_command_unhandle(OTHER), 0);
	}
}

TEST_WORKERS(w20_handlers_come_and_go_while_commands_are_yielded)
{
	atomic_bool over = false;
	struct stepper s = { .step = look_for_handlers, .arg = &over };
	struct sley *rt = start();

	(void)stepper_spawn(&s);
	replace_handlers(test_scale(20000));
	atomic_store(&over, true);
	CHECK_EQ(stepper_join(&s), 0);
	stop(rt);
}
