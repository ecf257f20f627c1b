/* SPDX-License-Identifier: MIT */
/*
 * mem_arena.c - blocks of any size from a piece of memory that has a limit.
 */
#include "harness/test.h"

#include "mem/arena.h"

#include <string.h>

#define SIZE ((size_t)64 << 10)
#define HEADER sizeof(struct arena_block)

static struct arena arena;

static void begin(void)
{
	arena_init(&arena, SIZE + 63); /* rounded down */
	CHECK_EQ(arena.size, SIZE);
}

/* Block by block, they fill it, and know each other. */
static void check_whole(void)
{
	size_t at = 0, used = 0, before = 0;
	bool was_free = false;

	while (at < arena.size) {
		struct arena_block *block = (void *)(arena.base + at);

		CHECK_GE(block->size, 2 * HEADER);
		CHECK_EQ(block->size_before, before);
		CHECK(block->used || !was_free); /* no two side by side */
		was_free = !block->used;
		used += block->used ? block->size : 0;
		before = block->size;
		at += block->size;
	}
	CHECK_EQ(at, arena.size);
	CHECK_EQ(used, arena.used);
}

TEST(a_block_may_be_all_there_is_and_no_more)
{
	struct arena_block *block;

	begin();
	CHECK(arena_fits(&arena, SIZE - HEADER));
	CHECK(!arena_fits(&arena, SIZE - HEADER + 1));
	CHECK(!arena_take(&arena, SIZE));
	CHECK(!arena_take(&arena, SIZE_MAX));
	for (int i = 0; i < 3; i++) {
		block = arena_take(&arena, SIZE - HEADER);
		CHECK(block != NULL);
		CHECK_EQ((uintptr_t)arena_memory(block) % 64, 0);
		memset(arena_memory(block), i, SIZE - HEADER);
		CHECK(!arena_take(&arena, 1));
		arena_give(&arena, block);
	}
	CHECK_EQ(arena.most, SIZE);
	CHECK_EQ(arena.used, 0);
	arena_destroy(&arena);
}

TEST(only_what_begins_a_block_in_use_is_found)
{
	struct arena_block *a, *b;
	char *memory;

	begin();
	CHECK(!arena_find(&arena, &arena)); /* nothing is mapped yet */
	a = arena_take(&arena, 100);
	b = arena_take(&arena, 1000);
	memory = arena_memory(a);
	CHECK(arena_find(&arena, memory) == a);
	CHECK(arena_find(&arena, arena_memory(b)) == b);
	CHECK(!arena_find(&arena, memory + 64));
	CHECK(!arena_find(&arena, memory + 1));
	CHECK(!arena_find(&arena, memory - 64));
	CHECK(!arena_find(&arena, arena.base + SIZE));
	CHECK(!arena_find(&arena, NULL));
	memset(memory, 0xff, 128); /* whatever a user writes there */
	CHECK(!arena_find(&arena, memory + 64));
	arena_give(&arena, a);
	CHECK(!arena_find(&arena, memory));
	arena_give(&arena, b);
	arena_destroy(&arena);
}

TEST(one_that_stays_holds_up_nobody)
{
	struct arena_block *stays;

	begin();
	stays = arena_take(&arena, 100);
	for (int i = 0; i < 1000; i++) {
		struct arena_block *block = arena_take(&arena, 20000);

		CHECK(block != NULL);
		arena_give(&arena, block);
		check_whole();
	}
	arena_give(&arena, stays);
	check_whole();
	arena_destroy(&arena);
}

TEST(whatever_comes_and_goes_the_whole_is_the_sum_of_its_parts)
{
	struct arena_block *held[40] = { NULL };
	unsigned int random = (unsigned int)test_seed();

	begin();
	for (int i = 0; i < 20000; i++) {
		struct arena_block **at;

		random = random * 1664525 + 1013904223;
		at = &held[random >> 16 & 31];
		if (*at) {
			/* Nobody else wrote there. */
			CHECK_EQ(*(unsigned char *)arena_memory(*at),
				 (unsigned char)(at - held));
			arena_give(&arena, *at);
			*at = NULL;
		} else {
			*at = arena_take(&arena, 1 + (random >> 8) % 5000);
			if (*at)
				memset(arena_memory(*at), (int)(at - held),
				       (*at)->size - HEADER);
		}
		if (arena.base && i % 16 == 0)
			check_whole();
	}
	for (int i = 0; i < 40; i++) {
		if (held[i])
			arena_give(&arena, held[i]);
	}
	check_whole();
	CHECK_EQ(arena.used, 0);
	arena_destroy(&arena);
}
