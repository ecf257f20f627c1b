/* SPDX-License-Identifier: MIT */
/*
 * actor_yield.c - src/actor/command/yield.c: commands by tag, in the order of their yields,
 * however many there are.
 */
#include "harness/test.h"

#include "actor/command/command.h"
#include "actor/command/yield.h"

#include <errno.h>
#include <string.h>

#define MANY 600

static struct sley rt;
static struct worker home = { .rt = &rt };
static struct process process = { .home = &home };

/* What should be in it, oldest first. */
static struct {
	uint64_t tag[MANY];
	uint32_t nr, given;
} mirror;

static void begin(void)
{
	mem_init(&rt.mem, &test_config()->allocator);
	process.yields = NULL;
	mirror.nr = mirror.given = 0;
}

static void end(void)
{
	yields_drop(&process);
	CHECK(!process.yields);
	CHECK_EQ(mem_allocated(&rt.mem), 0);
}

static uint32_t command_of(uint64_t tag)
{
	return (uint32_t)(tag * 7 + 1);
}

static int find(uint64_t tag)
{
	for (uint32_t i = 0; i < mirror.nr; i++)
		if (mirror.tag[i] == tag)
			return (int)i;
	return -1;
}

static void add(uint64_t tag)
{
	int err = yields_add(&process, command_of(tag), tag, &mirror.tag[5]);

	CHECK_EQ(err, find(tag) < 0 ? 0 : -EEXIST);
	if (!err)
		mirror.tag[mirror.nr++] = tag;
}

static void complete(uint64_t tag)
{
	int i = find(tag);

	CHECK_EQ(yields_complete(&process, tag), i >= 0);
	if (i < 0)
		return;
	mirror.nr--;
	if ((uint32_t)i < mirror.given)
		mirror.given--;
	memmove(&mirror.tag[i], &mirror.tag[i + 1],
		(mirror.nr - (uint32_t)i) * sizeof(mirror.tag[0]));
}

/* Those that were not given to a handler come in order, and once. */
static void give_all(void)
{
	struct yield *yield;

	while ((yield = yields_next_fresh(&process))) {
		CHECK_LT(mirror.given, mirror.nr);
		CHECK_EQ(yield_tag(yield), mirror.tag[mirror.given]);
		CHECK_EQ(yield->command, command_of(yield_tag(yield)));
		CHECK(yield->payload == &mirror.tag[5]);
		CHECK(yield->done && !yield->timeout);
		mirror.given++;
	}
	CHECK_EQ(mirror.given, mirror.nr);
}

static void check(void)
{
	uint32_t command = 0;

	CHECK_EQ(yields_count(&process, &command), mirror.nr);
	if (mirror.nr)
		CHECK_EQ(command, command_of(mirror.tag[0]));
	for (uint32_t i = 0; i < mirror.nr; i++)
		CHECK(yields_find(&process, mirror.tag[i]) != NULL);
}

TEST(an_empty_table_has_nothing)
{
	begin();
	CHECK(!yields_next_fresh(&process));
	CHECK(!yields_find(&process, 0));
	CHECK(!yields_complete(&process, 0));
	end();
}

TEST(a_tag_is_there_once)
{
	begin();
	for (int i = 0; i < 3; i++) {
		add(9);
		add(9);
		check();
		complete(9);
		complete(9);
		check();
	}
	end();
}

TEST(those_not_given_are_given_in_order)
{
	begin();
	for (uint64_t tag = 0; tag < 10; tag++)
		add(tag);
	complete(0); /* the one that would be next */
	complete(4);
	complete(9); /* the last one */
	give_all();
	add(20);
	add(4);
	give_all();
	check();
	end();
}

/* Tags that are multiples of a power of two, or all alike in their low bits. */
TEST(any_tags_in_any_order)
{
	for (int shift = 0; shift < 56; shift += 11) {
		begin();
		for (int i = 0; i < test_scale(8000); i++) {
			uint64_t tag = test_random(MANY) << shift;

			if (test_random(5) < 3 && mirror.nr < MANY)
				add(tag);
			else
				complete(tag);
			if (test_random(16) == 0)
				give_all();
			if (test_random(64) == 0)
				check();
		}
		end();
	}
}

TEST(what_is_under_way_is_forgotten)
{
	begin();
	for (uint64_t tag = 0; tag < MANY; tag++)
		add(tag);
	check();
	CHECK_GT(mem_allocated(&rt.mem), 0);
	end();
}

TEST(without_memory_nothing_changes)
{
	begin();
	for (uint64_t tag = 0; tag < 4; tag++)
		add(tag);
	test_fail_allocation_after(0);
	CHECK_EQ(yields_add(&process, 1, 77, NULL), -ENOMEM);
	CHECK_EQ(yields_add(&process, 1, 3, NULL), -EEXIST);
	test_fail_allocation_after(-1);
	check();
	add(77);
	check();
	end();
}
