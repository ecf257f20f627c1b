/* SPDX-License-Identifier: MIT */
/*
 * io_parts.c - io/parts.h: a list of parts that is written with pauses.
 */
#include "harness/test.h"

#include "io/parts.h"

#include <string.h>

enum { NR_PARTS = 25 };

static char memory[NR_PARTS][16];

/* Parts of 0, 1, 2, ... bytes; the bytes are numbered. */
static size_t make(struct parts *parts, struct iovec *part)
{
	size_t size = 0;
	char next = 0;

	for (size_t i = 0; i < NR_PARTS; i++) {
		/* Ten empty parts in a row: more than a window has. */
		size_t length = i < 10 ? i % 7 : i < NR_PARTS - 3 ? 0 : 5;

		part[i] = (struct iovec){ memory[i], length };
		for (size_t k = 0; k < part[i].iov_len; k++)
			memory[i][k] = next++;
	}
	CHECK_EQ(parts_init(parts, part, NR_PARTS, &size), 0);
	CHECK_EQ(size, (size_t)next);
	return size;
}

/* Takes @n bytes of the window, at most. */
static size_t take(const struct parts *parts, size_t n, char *next)
{
	size_t done = 0;

	for (size_t i = 0; i < parts->nr_window; i++) {
		const char *bytes = parts->window[i].iov_base;

		for (size_t k = 0; k < parts->window[i].iov_len; k++) {
			if (done == n)
				return done;
			CHECK_EQ(bytes[k], (*next)++);
			done++;
		}
	}
	return done;
}

/* Whatever the kernel takes at a time, and whatever fits into a window. */
TEST(each_byte_comes_once_and_in_order)
{
	for (size_t step = 1; step < 40; step++) {
		for (size_t most = 1; most < 40; most++) {
			struct iovec part[NR_PARTS];
			struct parts parts;
			size_t size = make(&parts, part), done = 0;
			char next = 0;

			while (done < size) {
				size_t n;

				parts_window(&parts, most);
				n = take(&parts, step, &next);
				CHECK_GT(n, 0);
				CHECK_LE(n, most);
				parts_advance(&parts, n);
				done += n;
			}
			CHECK_EQ(done, size);
			parts_window(&parts, most);
			CHECK_EQ(take(&parts, step, &next), 0);
		}
	}
}

TEST(a_list_that_is_too_long_is_refused)
{
	struct iovec part[2] = { { memory, SSIZE_MAX }, { memory, 1 } };
	struct parts parts;
	size_t size;

	CHECK_EQ(parts_init(&parts, part, -1, &size), -EINVAL);
	CHECK_EQ(parts_init(&parts, part, IOV_MAX + 1, &size), -EINVAL);
	CHECK_EQ(parts_init(&parts, part, 2, &size), -EINVAL);
	CHECK_EQ(parts_init(&parts, part, 1, &size), 0);
	CHECK_EQ(size, SSIZE_MAX);
	CHECK_EQ(parts_init(&parts, part, 0, &size), 0);
	CHECK_EQ(size, 0);
}
