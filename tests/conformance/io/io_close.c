/* SPDX-License-Identifier: MIT */
/*
 * io_close.c - sley_io_close() wakes all that wait, and no number is closed under a call.
 */
#include <pthread.h>

#include "conformance/io/pairs.h"
#include "io/descriptor.h"

struct waiting {
	int fd;
	atomic_int begun;
	atomic_int nr_bad;
};

static void wait_for_bytes(void *arg)
{
	struct waiting *waiting = arg;
	char data[8];

	atomic_fetch_add(&waiting->begun, 1);
	if (sley_io_read(waiting->fd, data, sizeof(data)) == -EBADF)
		atomic_fetch_add(&waiting->nr_bad, 1);
}

static void *wait_in_thread(void *arg)
{
	wait_for_bytes(arg);
	return NULL;
}

enum { NR_WAITING = 8 };

TEST_WORKERS(a_close_wakes_all_waiters)
{
	struct sley *rt = start();

	for (enum pair_kind kind = 0; kind < NR_PAIR_KINDS; kind++) {
		struct pair pair = open_pair(kind);
		struct waiting waiting = { .fd = pair.from };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[NR_WAITING];
		pthread_t thread = test_thread(wait_in_thread, &waiting);

		for (int i = 0; i < NR_WAITING; i++)
			sley_spawn(&group, &task[i], wait_for_bytes, &waiting);
		while (atomic_load(&waiting.begun) < NR_WAITING + 1)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		if (kind % 2)
			CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
		CHECK_EQ(sley_io_close(pair.from), 0);
		CHECK_EQ(sley_io_close(pair.from), -EBADF);
		sley_join(&group);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		CHECK_EQ(waiting.nr_bad, NR_WAITING + 1);
		CHECK_EQ(sley_io_close(pair.to), 0);
	}
	stop(rt);
}

/* How many calls use @fd. */
static uint32_t nr_users(int fd)
{
	const struct io_descriptor *descriptor =
		table_find(&descriptor_table, (uint32_t)fd);

	return descriptor
		       ? __atomic_load_n(&descriptor->users, __ATOMIC_ACQUIRE)
		       : 0;
}

/* Its number is used again at once, by a file that has something to read. */
TEST_WORKERS(no_number_is_closed_under_a_call)
{
	struct sley *rt = start();

	for (int i = 0, nr_same = 0; nr_same < test_scale(1000); i++) {
		struct pair first = open_pair(PAIR_UNIX), second;
		struct waiting waiting = { .fd = first.from };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;

		sley_spawn(&group, &task, wait_for_bytes, &waiting);
		while (!nr_users(first.from))
			sley_yield();
		CHECK_EQ(sley_io_close(first.from), 0);
		second = open_pair(PAIR_UNIX);
		/* A worker may get the number for a descriptor of its own. */
		nr_same += second.from == first.from;
		CHECK_LT(i, nr_same + 100);
		CHECK_EQ(write(second.to, "b", 1), 1);
		sley_join(&group);
		CHECK_EQ(waiting.nr_bad, 1);
		close_pair(&second);
		CHECK_EQ(sley_io_close(first.to), 0);
	}
	stop(rt);
}

TEST_WORKERS(a_number_that_is_used_again_starts_anew)
{
	struct sley *rt = start();
	char data[8];

	for (int i = 0; i < test_scale(200); i++) {
		struct pair pair = open_pair((enum pair_kind)(i % 4));

		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(0)),
			 -ETIMEDOUT);
		CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(5000)),
			 3);
		CHECK_EQ(sley_io_close(pair.to), 0);
		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(5000)),
			 0);
		CHECK_EQ(sley_io_close(pair.from), 0);
	}
	stop(rt);
}
