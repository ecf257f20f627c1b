/* SPDX-License-Identifier: MIT */
/*
 * subprocess_crate.c - ranges of the file of crates, and their memory.
 */
#include "harness/test.h"

#include "mem/alloc.h"
#include "subprocess/crate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

static struct crates crates;

static struct crate *make(uint64_t arg_size, uint64_t room)
{
	struct crate *crate;

	CHECK_EQ(crate_make(&crates, &crate, arg_size, room), 0);
	CHECK_EQ(crates_take(&crates, crate), 0);
	CHECK_GT(crate->begin, 0);
	CHECK_EQ(crate->begin % CRATE_UNIT, 0);
	CHECK_GE(crate->begin + crate->size, crate_result_at(crate) + room);
	return crate;
}

static void drop(struct crate *crate)
{
	crate_discard(&crates, crate);
	crates_remove(&crates, crate);
	crate_free(crate);
}

static void end(void)
{
	CHECK(!crates.first);
	CHECK_EQ(mem_allocated(&sley__program_mem), 0);
	crates_close(&crates);
}

static uint64_t memory(void)
{
	struct stat status;

	CHECK_EQ(fstat(crates.file, &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

TEST(ranges_are_apart_and_the_lowest_that_is_free_is_taken)
{
	struct crate *a, *b, *c, *d;

	CHECK_EQ(crates_open(&crates), 0);
	a = make(5000, 0);
	b = make(CRATE_UNIT + 1, 0);
	c = make(0, 5000);
	CHECK_EQ(a->begin, CRATE_UNIT);
	CHECK_EQ(b->begin, 2 * CRATE_UNIT);
	CHECK_EQ(c->begin, 4 * CRATE_UNIT);
	drop(b);
	d = make(3 * CRATE_UNIT, 0);
	CHECK_EQ(d->begin, 5 * CRATE_UNIT);
	b = make(1000, CRATE_UNIT);
	CHECK_EQ(b->begin, 2 * CRATE_UNIT);
	drop(a);
	a = make(1, 1);
	CHECK_EQ(a->begin, CRATE_UNIT);
	drop(d);
	drop(a);
	drop(c);
	drop(b);
	end();
}

TEST(ranges_taken_at_random_never_overlap)
{
	struct crate *all[16] = { NULL };

	CHECK_EQ(crates_open(&crates), 0);
	for (int i = 0; i < 20000; i++) {
		uint32_t k = (uint32_t)test_random(16);
		uint64_t end = CRATE_UNIT;

		if (all[k]) {
			drop(all[k]);
			all[k] = NULL;
		} else {
			all[k] = make(test_random(MIB), test_random(MIB));
		}
		for (struct crate *p = crates.first; p; p = p->next) {
			CHECK_GE(p->begin, end);
			end = p->begin + p->size;
		}
		/* No range is far away. */
		CHECK_LE(end, 16 * (2 * MIB + 2 * CRATE_UNIT) * 2);
	}
	for (int k = 0; k < 16; k++) {
		if (all[k])
			drop(all[k]);
	}
	end();
}

TEST(sizes_that_no_file_has_are_refused)
{
	struct crate *crate;

	CHECK_EQ(crates_open(&crates), 0);
	CHECK_EQ(crate_make(&crates, &crate, UINT64_MAX, 0), -EMSGSIZE);
	CHECK_EQ(crate_make(&crates, &crate, 0, UINT64_MAX), -EMSGSIZE);
	CHECK_EQ(crate_make(&crates, &crate, UINT64_MAX / 2 + 1,
			    UINT64_MAX / 2 + 1),
		 -EMSGSIZE);
	CHECK_EQ(crate_make(&crates, &crate, crates.size, 0), -EMSGSIZE);
	drop(make(crates.size - CRATE_UNIT, 0));
	drop(make(0, crates.size - CRATE_UNIT));
	end();
}

TEST(without_a_file_all_sizes_are_refused)
{
	struct crate *crate;

	crates.file = -1;
	CHECK_EQ(crate_make(&crates, &crate, 5000, 0), -EMSGSIZE);
	CHECK_EQ(crate_make(&crates, &crate, 0, 5000), -EMSGSIZE);
	end();
}

TEST(a_full_file_is_an_error)
{
	struct rlimit limit;
	struct crate *a, *b;

	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 10 * CRATE_UNIT + 17;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_EQ(crates_open(&crates), 0);
	CHECK_EQ(crates.size, 10 * CRATE_UNIT);
	a = make(6 * CRATE_UNIT, 0);
	CHECK_EQ(crate_make(&crates, &b, 4 * CRATE_UNIT, 0), 0);
	CHECK_EQ(crates_take(&crates, b), -ENOMEM);
	CHECK(crates.first == a && !a->next);
	crate_free(b);
	b = make(3 * CRATE_UNIT, 0);
	drop(a);
	drop(b);
	end();
}

TEST(bytes_come_back_and_memory_is_kept_up_to_a_limit)
{
	const size_t size = 20 * MIB;
	char *in = malloc(size), *out = malloc(size);
	struct crate *a, *b;

	CHECK_EQ(crates_open(&crates), 0);
	memset(in, 'x', size);
	a = make(100, size);
	b = make(0, size);
	for (int i = 0; i < 2; i++) {
		struct crate *crate = i ? b : a;

		in[size - 1] = (char)i;
		CHECK_EQ(crate_write(&crates, crate,
				     crate_result_at(crate) - crate->begin, in,
				     size),
			 0);
		CHECK_EQ(crate_read_result(&crates, crate, out, size), 0);
		CHECK_EQ(memcmp(in, out, size), 0);
	}
	CHECK_GE(memory(), 2 * size);
	drop(b);
	CHECK_LE(memory(), CRATES_KEPT);
	CHECK_GE(memory(), CRATES_KEPT - 2 * CRATE_UNIT);
	/* The other crate has all its bytes. */
	in[size - 1] = 0;
	CHECK_EQ(crate_read_result(&crates, a, out, size), 0);
	CHECK_EQ(memcmp(in, out, size), 0);
	drop(a);
	CHECK_GE(memory(), CRATES_KEPT - 2 * CRATE_UNIT);
	end();
	free(in);
	free(out);
}
