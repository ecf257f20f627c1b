/* SPDX-License-Identifier: MIT */
/*
 * modules_file_table.c - numbers of files, and files that are closed under their users.
 */
#include "harness/test.h"

#include "modules/file_table.h"

#include <errno.h>
#include <sley/task.h>
#include <sley/time.h>
#include <stdatomic.h>

static struct file_table table;

/* A number without a file behind it. */
static uint64_t open_none(void)
{
	struct open_file *file = file_table_take(&table);

	return file ? file_table_fill(&table, file, -1) : 0;
}

static struct sley *start(uint32_t max)
{
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(file_table_init(&table, rt, 7, max), 0);
	return rt;
}

static void stop(struct sley *rt)
{
	file_table_fini(&table);
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST(a_place_whose_generations_are_used_up_is_not_used_again)
{
	struct sley *rt = start(2);
	uint64_t number;

	table.file[0].generation = UINT32_MAX - 1;
	number = open_none();
	CHECK_EQ(number >> 32, UINT32_MAX);
	CHECK_EQ(file_number_container(number), 7);
	CHECK_EQ(file_table_remove(&table, number), -1);
	/* Place 1 is left, again and again. */
	for (int i = 1; i < 5; i++) {
		number = open_none();
		CHECK_EQ(number, (uint64_t)i << 32 | 7 << 16 | 1);
		CHECK_EQ(open_none(), 0);
		CHECK_EQ(file_table_remove(&table, number), -1);
		CHECK_EQ(file_table_remove(&table, number), -EBADF);
	}
	stop(rt);
}

static bool is_closing(const struct open_file *file)
{
	bool result;

	sley_mutex_lock(&table.lock);
	result = file->phase == FILE_CLOSING;
	sley_mutex_unlock(&table.lock);
	return result;
}

struct remover {
	uint64_t number;
	atomic_bool over;
};

static void remove_file(void *arg)
{
	struct remover *remover = arg;

	CHECK_EQ(file_table_remove(&table, remover->number), -1);
	atomic_store(&remover->over, true);
}

TEST_WORKERS(a_file_is_not_closed_before_its_last_user_has_left)
{
	struct sley *rt = start(4);
	struct remover remover = { .number = open_none() };
	struct open_file *first = file_table_enter(&table, remover.number);
	struct open_file *second = file_table_enter(&table, remover.number);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK(first && first == second);
	sley_spawn(&group, &task, remove_file, &remover);
	while (!is_closing(first))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
	/* No caller enters, and no place is free for the next file. */
	CHECK(!file_table_enter(&table, remover.number));
	CHECK_EQ(file_table_remove(&table, remover.number), -EBADF);
	CHECK_NE(open_none() & 0xffff, 0);
	file_table_leave(&table, first, (struct file_moved){ .reads = 1 });
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	CHECK(!atomic_load(&remover.over));
	file_table_leave(&table, second, (struct file_moved){ .reads = 1 });
	sley_join(&group);
	CHECK(atomic_load(&remover.over));
	CHECK_EQ(table.moved.reads, 2);
	CHECK_EQ(table.nr_open, 1);
	stop(rt);
}
