/* SPDX-License-Identifier: MIT */
/*
 * defer.c - what happens at the end of a block.
 */
#include "conformance/bound.h"

static char order[16];

static void note(void *arg)
{
	order[strlen(order)] = *(char *)arg;
}

TEST(m35_deferred_calls_run_at_the_end_of_the_block_in_reverse_order)
{
	{
		SLEY_DEFER(note, "a");
		SLEY_DEFER(note, "b");
		{
			SLEY_DEFER(note, "c");
			CHECK_STR(order, "");
		}
		CHECK_STR(order, "c");
	}
	CHECK_STR(order, "cba");
}

static int leave_early(int way)
{
	int i;

	SLEY_DEFER(note, "f");
	for (i = 0; i < 2; i++) {
		SLEY_DEFER(note, "l");
		if (way == 0)
			return i;
		if (way == 1)
			break;
		if (way == 2)
			continue;
		goto out;
	}
out:
	note("-");
	return i;
}

TEST(m35_every_way_out_of_a_block_counts)
{
	static const char *const expected[] = { "lf", "l-f", "ll-f", "l-f" };
	static const int result[] = { 0, 0, 2, 0 };

	for (int way = 0; way < 4; way++) {
		memset(order, 0, sizeof(order));
		CHECK_EQ(leave_early(way), result[way]);
		CHECK_STR(order, expected[way]);
	}
}

TEST(m35_function_and_argument_are_taken_where_it_stands)
{
	{
		char *arg = "x";

		SLEY_DEFER(note, arg);
		arg = "y";
		note(arg);
	}
	CHECK_STR(order, "yx");
}

static int add_guarded(struct sley_mutex *mutex, int *value)
{
	SLEY_MUTEX_GUARD(mutex);
	CHECK(!sley_mutex_try_lock(mutex));
	if (*value % 2)
		sley_yield();
	return ++*value;
}

struct guarded {
	struct sley_mutex mutex;
	int value;
};

static void add_task(void *arg)
{
	struct guarded *g = arg;

	for (int i = 0; i < 100; i++)
		CHECK_GT(add_guarded(&g->mutex, &g->value), 0);
}

TEST_WORKERS(m35_a_mutex_guard_holds_until_the_end_of_the_block)
{
	struct guarded g = { .value = 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[10];
	struct sley *rt = start();

	for (int i = 0; i < 10; i++)
		sley_spawn(&group, &task[i], add_task, &g);
	sley_join(&group);
	CHECK_EQ(g.value, 1000);
	CHECK(sley_mutex_try_lock(&g.mutex));
	stop(rt);
}
