/* SPDX-License-Identifier: MIT */
/*
 * options.c - a word that is reserved in a struct of options must be zero: a later
 * library may give it a meaning, which this library would ignore.
 *
 * Graphs, nodes, plans and subprocesses have the same in their own tests.
 */
#include <errno.h>

#include "conformance/bound.h"

static int return_0(void *arg)
{
	(void)arg;
	return 0;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void nothing_in_range(size_t begin, size_t end, void *arg)
{
	(void)begin, (void)end, (void)arg;
}

static enum sley_step stop_at_once(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	(void)self, (void)msg, (void)nr;
	return sley_out_done(out, 0);
}

static int keep(const struct sley_command *command, void *arg)
{
	(void)command, (void)arg;
	return 0;
}

TEST(reserved_words_of_a_config_are_refused)
{
	struct sley_config config = config_of(1);
	struct sley *rt = NULL;

	config.reserved[ARRAY_SIZE(config.reserved) - 1] = 1;
	CHECK_EQ(sley_create(&rt, &config), -E2BIG);
	CHECK(!rt);
}

TEST_WORKERS(reserved_words_of_tasks_and_loops_are_refused)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley_options options = sley_options_default();
	struct sley_how how = sley_how_default();

	options.reserved[ARRAY_SIZE(options.reserved) - 1] = 1;
	CHECK_EQ(sley_spawn_with(&group, &task, nothing, NULL, &options),
		 -E2BIG);
	how.reserved[ARRAY_SIZE(how.reserved) - 1] = 1;
	CHECK_EQ(sley_for_with(0, 1, nothing_in_range, NULL, &how), -E2BIG);
	stop(rt);
}

TEST_WORKERS(reserved_words_of_processes_are_refused)
{
	static const struct sley_behaviour behaviour = { .step = stop_at_once };
	struct sley_process_options options = {
		.size = sizeof(options),
		.reserved[ARRAY_SIZE(options.reserved) - 1] = 1
	};
	struct sley_handler_options slow = sley_handler_options_default();
	struct sley_supervisor_options often =
		sley_supervisor_options_default();
	struct sley_child child = { .fn = return_0 };
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, return_0, NULL, &options), -E2BIG);
	CHECK_EQ(sley_process_spawn(&pid, &behaviour, NULL, 0, &options),
		 -E2BIG);
	slow.reserved[ARRAY_SIZE(slow.reserved) - 1] = 1;
	CHECK_EQ(sley_command_handle(7, keep, NULL, &slow), -E2BIG);
	often.reserved[ARRAY_SIZE(often.reserved) - 1] = 1;
	CHECK_EQ(sley_supervise(&pid, &often, &child, 1), -E2BIG);
	child.reserved[ARRAY_SIZE(child.reserved) - 1] = 1;
	CHECK_EQ(sley_supervise(&pid, NULL, &child, 1), -E2BIG);
	stop(rt);
}

TEST(reserved_words_of_a_stock_are_refused)
{
	struct sley_stock_config config = sley_stock_config_default();
	struct sley_stock *stock = NULL;

	config.object_size = 8;
	config.reserved[ARRAY_SIZE(config.reserved) - 1] = 1;
	CHECK_EQ(sley_stock_create(&stock, &config), -E2BIG);
}
