/* SPDX-License-Identifier: MIT */
/*
 * mem_table.c - places by number: each number has one place, in chunks that are made
 * on demand and stay.
 */
#include "harness/test.h"

#include "mem/table.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>

#define CHUNKS 5u
#define LENGTH 4u

struct place {
	uint64_t number; /* 1 + the number of the place, once it was found */
	uint64_t rest[2];
};

static void *directory[2][CHUNKS];

static const struct table fixed = {
	.chunk = directory[0],
	.max_chunks = CHUNKS,
	.length = LENGTH,
	.place_size = sizeof(struct place),
};

static const struct table doubling = {
	.chunk = directory[1],
	.max_chunks = CHUNKS,
	.length = LENGTH,
	.place_size = sizeof(struct place),
	.doubles = true,
};

static const struct table *const tables[] = { &fixed, &doubling };
static const uint32_t nr_places[] = { CHUNKS * LENGTH, 31 * LENGTH };

static struct place *make(const struct table *table, uint32_t index)
{
	CHECK_EQ(table_make(table, index), 0);
	CHECK(table_find(table, index) != NULL);
	return table_find(table, index);
}

TEST(an_unused_table_has_no_place)
{
	for (int t = 0; t < 2; t++) {
		for (uint32_t i = 0; i < nr_places[t] + 2; i++)
			CHECK(!table_find(tables[t], i));
	}
}

TEST(each_number_has_a_zeroed_place_of_its_own)
{
	for (int t = 0; t < 2; t++) {
		for (uint32_t i = 0; i < nr_places[t]; i++) {
			struct place *place = make(tables[t], i);

			CHECK_EQ(place->number, 0);
			CHECK_EQ(place->rest[0] | place->rest[1], 0);
			memset(place, 0xff, sizeof(*place));
			place->number = i + 1;
		}
		for (uint32_t i = 0; i < nr_places[t]; i++) {
			struct place *place = table_find(tables[t], i);

			CHECK_EQ(place->number, i + 1);
			CHECK_EQ(place->rest[1], UINT64_MAX);
		}
	}
}

TEST(a_place_stays_where_it_is)
{
	struct place *place = make(&doubling, 1);

	for (uint32_t i = 0; i < nr_places[1]; i++)
		(void)make(&doubling, i);
	CHECK(make(&doubling, 1) == place);
}

/* Numbers may come in any order: only the chunk of the number is made. */
TEST(one_chunk_is_made_at_a_time)
{
	(void)make(&fixed, 2 * LENGTH + 1);
	for (uint32_t i = 0; i < nr_places[0]; i++)
		CHECK_EQ(table_find(&fixed, i) != NULL, i / LENGTH == 2);
	(void)make(&doubling, 3 * LENGTH);
	for (uint32_t i = 0; i < nr_places[1]; i++)
		CHECK_EQ(table_find(&doubling, i) != NULL,
			 i >= 3 * LENGTH && i < 7 * LENGTH);
}

TEST(there_is_no_place_behind_the_last_chunk)
{
	static const uint32_t beyond[] = { 1, 2, LENGTH, UINT32_MAX / 2 };

	for (int t = 0; t < 2; t++) {
		(void)make(tables[t], nr_places[t] - 1);
		for (int i = 0; i < 4; i++) {
			uint32_t index = nr_places[t] - 1 + beyond[i];

			CHECK_EQ(table_make(tables[t], index), -ENOMEM);
			CHECK(!table_find(tables[t], index));
		}
		CHECK_EQ(table_make(tables[t], UINT32_MAX), -ENOMEM);
		CHECK(!table_find(tables[t], UINT32_MAX));
	}
}

TEST(the_first_published_chunk_stays)
{
	static struct place first[LENGTH], second[LENGTH];

	CHECK(table_publish(&fixed, 1, first));
	CHECK(!table_publish(&fixed, 1, second));
	CHECK(table_find(&fixed, LENGTH + 3) == &first[3]);
	CHECK_EQ(table_make(&fixed, LENGTH), 0);
	CHECK(table_find(&fixed, LENGTH) == &first[0]);
	CHECK(!table_publish(&fixed, CHUNKS, second));
}

/* ---- fork() ----------------------------------------------------------------------- */

static uint32_t nr_walked;

static void walked(void *place)
{
	CHECK_EQ(((struct place *)place)->number, 0);
	((struct place *)place)->number = 1;
	nr_walked++;
}

TEST(a_walk_comes_by_each_place_that_is_made)
{
	(void)make(&doubling, 0);
	(void)make(&doubling, 3 * LENGTH);
	table_walk(&doubling, 5 * LENGTH + 1, walked);
	CHECK_EQ(nr_walked, LENGTH + 2 * LENGTH + 1);
	for (uint32_t i = 0; i < nr_places[1]; i++) {
		struct place *place = table_find(&doubling, i);

		if (place)
			CHECK_EQ(place->number, i <= 5 * LENGTH);
	}
	table_walk(&fixed, nr_places[0], walked);
	CHECK_EQ(nr_walked, LENGTH + 2 * LENGTH + 1);
}

TEST(a_table_that_forgets_goes_on_behind)
{
	struct place *place = make(&fixed, 0), *last = make(&fixed, 3 * LENGTH);

	(void)make(&fixed, LENGTH);
	table_forget(&fixed, 2);
	CHECK(!table_find(&fixed, 0) && !table_find(&fixed, LENGTH));
	CHECK(table_find(&fixed, 3 * LENGTH) == last);
	place->number = 7; /* still mapped */
	CHECK_NE(make(&fixed, 0)->number, 7);
}

/* ---- generations ------------------------------------------------------------------ */

TEST(a_generation_is_followed_by_another_until_the_last)
{
	CHECK_EQ(table_next(0, 3), 1);
	CHECK_EQ(table_next(2, 3), 3);
	CHECK_EQ(table_next(3, 3), 0);
	CHECK_EQ(table_next(UINT32_MAX - 1, UINT32_MAX), UINT32_MAX);
	CHECK_EQ(table_next(UINT32_MAX, UINT32_MAX), 0);
}

TEST(an_id_has_a_generation_and_an_index)
{
	uint64_t id = table_word(0xfedcba98, 0x89abcdef);

	CHECK_EQ(id, 0xfedcba9889abcdef);
	CHECK_EQ(table_generation(id), 0xfedcba98);
}

/* ---- there is no more ------------------------------------------------------------- */

#ifdef SLEY_FAULTS
static bool is_out_of_memory;

static int plan(const struct fault_site *site)
{
	return is_out_of_memory && !strcmp(site->call, "os_map") ? ENOMEM : 0;
}

TEST(running_out_of_memory_is_survived)
{
	struct place *place = make(&fixed, 0);

	fault_set_plan(plan);
	is_out_of_memory = true;
	CHECK_EQ(table_make(&fixed, LENGTH), -ENOMEM);
	CHECK(!table_find(&fixed, LENGTH));
	CHECK_EQ(table_make(&fixed, 1), 0); /* its chunk is there */
	CHECK(table_find(&fixed, 1) == place + 1);
	is_out_of_memory = false;
	(void)make(&fixed, LENGTH);
	fault_set_plan(NULL);
	CHECK_EQ(fault_mapped(), 0); /* chunks are kept: they are no leak */
}
#endif
