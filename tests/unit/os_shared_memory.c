/* SPDX-License-Identifier: MIT */
/*
 * os_shared_memory.c - src/os/shared_memory.h: a page in place of another.
 */
#include "harness/test.h"

#include "os/clock.h"
#include "os/futex.h"
#include "os/map.h"
#include "os/shared_memory.h"

#include <errno.h>

TEST(a_page_is_replaced_where_it_is_looked_at)
{
	size_t size = os_page_size();
	volatile unsigned char *at = os_map(2 * size);
	void *own;
	int fd = os_shared_page_create("test", size, &own);

	if (fd == -EINVAL)
		test_skip("the kernel cannot seal pages against writers");
	CHECK(fd >= 0);
	CHECK(at);
	at[0] = 1;
	at[size] = 2;
	CHECK_EQ(os_shared_memory_map_over(fd, size, (void *)at), 0);
	CHECK_EQ(at[0], 0);
	*(unsigned char *)own = 3;
	CHECK_EQ(at[0], 3);
	CHECK_EQ(os_shared_memory_blank_over((void *)at, size), 0);
	CHECK_EQ(at[0], 0);
	CHECK_EQ(at[size], 2);
	os_close(fd);
	os_unmap(own, size);
	os_unmap((void *)at, 2 * size);
}

/* Zeroes that nobody can write to are no words for the kernel: such a wait fails. */
TEST(words_of_a_blank_page_can_be_waited_for)
{
	size_t size = os_page_size();
	uint32_t *at = os_map(size);
	const struct os_futex_word word = { .word = at };
	uint64_t deadline = os_now() + 1000000;
	int err;

	CHECK(at);
	CHECK_EQ(os_shared_memory_blank_over(at, size), 0);
	do
		err = os_futex_wait_many(&word, 1, deadline);
	while (!err);
	if (err == -ENOSYS)
		test_skip("this kernel has no futex_waitv");
	CHECK_EQ(err, -ETIMEDOUT);
	os_unmap(at, size);
}

TEST(a_page_that_cannot_be_replaced_stays)
{
	size_t size = os_page_size();
	volatile unsigned char *at = os_map(size);

	CHECK(at);
	at[0] = 1;
	CHECK_EQ(os_shared_memory_map_over(-1, size, (void *)at), -ENOMEM);
	CHECK_EQ(at[0], 1);
	os_unmap((void *)at, size);
}
