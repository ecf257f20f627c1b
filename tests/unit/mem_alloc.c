/* SPDX-License-Identifier: MIT */
/*
 * mem_alloc.c - zeroed, aligned, counted, and from the user's hook if given.
 */
#include "harness/test.h"

#include "mem/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A hook that fills memory with dirt and notes what it was asked for. */
struct dirty {
	size_t size, align, freed;
	int nr_alloc, nr_free;
	bool empty;
	size_t offset; /* breaks the alignment */
};

static void *dirty_alloc(void *self, size_t size, size_t align)
{
	struct dirty *d = self;
	char *memory;

	d->nr_alloc++;
	d->size = size;
	d->align = align;
	if (d->empty)
		return NULL;
	memory = aligned_alloc(align, size + align);
	memset(memory, 0xa5, size + align);
	return memory + d->offset;
}

static void dirty_free(void *self, void *memory, size_t size)
{
	struct dirty *d = self;

	d->nr_free++;
	d->freed = size;
	free(memory);
}

static struct sley_allocator hook_of(struct dirty *d)
{
	return (struct sley_allocator){ dirty_alloc, dirty_free, d };
}

static bool is_zero(const char *memory, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (memory[i])
			return false;
	}
	return true;
}

TEST(memory_is_zeroed_aligned_and_counted)
{
	static const size_t sizes[] = { 1, 63, 64, 65, 4096, 100000 };
	const struct sley_allocator zero = { 0 };
	struct mem mem;

	mem_init(&mem, NULL);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 6; i++) {
			char *p = mem_alloc(&mem, sizes[i]);

			CHECK(p);
			CHECK_EQ((uintptr_t)p % CACHE_LINE, 0);
			CHECK(is_zero(p, sizes[i]));
			CHECK_EQ(mem_allocated(&mem), sizes[i]);
			memset(p, 0xff, sizes[i]);
			mem_free(&mem, p, sizes[i]);
			CHECK_EQ(mem_allocated(&mem), 0);
		}
		mem_init(&mem, &zero); /* the same as NULL */
	}
}

TEST(a_hook_gets_all_calls_and_its_dirt_is_wiped)
{
	struct dirty d = { 0 };
	struct sley_allocator hook = hook_of(&d);
	struct mem mem;
	char *p;

	mem_init(&mem, &hook);
	p = mem_alloc(&mem, 640);
	CHECK(is_zero(p, 640));
	CHECK_EQ(d.size, 640);
	CHECK_EQ(d.align, CACHE_LINE);
	mem_free(&mem, p, 640);
	CHECK_EQ(d.freed, 640);
	p = mem_alloc_aligned(&mem, 8192, 4096);
	CHECK_EQ(d.align, 4096);
	CHECK_EQ((uintptr_t)p % 4096, 0);
	mem_free(&mem, p, 8192);
	CHECK_EQ(d.nr_alloc, 2);
	CHECK_EQ(d.nr_free, 2);
}

TEST(running_out_returns_null_and_counts_nothing)
{
	struct dirty d = { .empty = true };
	struct sley_allocator hook = hook_of(&d);
	struct mem mem;

	mem_init(&mem, &hook);
	CHECK(mem_alloc(&mem, 64) == NULL);
	CHECK_EQ(mem_allocated(&mem), 0);
	mem_free(&mem, NULL, 64);
	CHECK_EQ(mem_allocated(&mem), 0);
	CHECK_EQ(d.nr_free, 0);
}

TEST(a_size_beyond_the_address_space_returns_null)
{
	struct mem mem;

	mem_init(&mem, NULL);
	CHECK(mem_alloc(&mem, SIZE_MAX) == NULL);
	CHECK_EQ(mem_allocated(&mem), 0);
}

TEST_ABORTS(a_hook_that_misaligns_is_misuse, "aligned as asked")
{
	struct dirty d = { .offset = 8 };
	struct sley_allocator hook = hook_of(&d);
	struct mem mem;

	mem_init(&mem, &hook);
	CHECK(mem_alloc(&mem, 64));
}

TEST_ABORTS(a_hook_without_free_is_misuse, "both alloc and free")
{
	struct sley_allocator hook = { .alloc = dirty_alloc };
	struct mem mem;

	mem_init(&mem, &hook);
}

static void *alloc_and_free(void *arg)
{
	struct mem *mem = arg;

	for (size_t i = 1; i <= 5000; i++) {
		void *p = mem_alloc(mem, i % 256 + 1);

		CHECK(p);
		mem_free(mem, p, i % 256 + 1);
	}
	return NULL;
}

TEST(the_count_is_exact_after_many_threads)
{
	pthread_t thread[4];
	struct mem mem;
	void *kept;

	mem_init(&mem, NULL);
	kept = mem_alloc(&mem, 100);
	for (int i = 0; i < 4; i++)
		thread[i] = test_thread(alloc_and_free, &mem);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(mem_allocated(&mem), 100);
	mem_free(&mem, kept, 100);
}
