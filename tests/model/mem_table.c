/* SPDX-License-Identifier: MIT */
/*
 * mem_table.c - src/mem/table.h and table.c: a finder sees a chunk whole or not at
 * all, two makers of one chunk agree on one chunk, and an id of a tenant that is gone
 * finds the place and not the next tenant.
 *
 * The finder has its number without any order: it may come at any time.  The places
 * have generations as in src/core/task/slot.c, under a lock of the place.
 *
 * Complete for two makers and a finder, in a table whose chunks double and in a table
 * whose chunks do not; for a chunk that was filled before; and for a tenant that
 * goes, with and without a generation to follow, against a finder with its id.
 * table_walk() and table_forget() run where there is one thread: the unit test has
 * these.  Not seen: lack of memory, which the unit test covers.
 */
#include "explorer.h"

#include "lf/spin.h"
#include "mem/table.h"
#include "os/map.h"

#include <string.h>

#define CHUNKS 3
#define LENGTH 2u
#define CHUNK_MAX (LENGTH << 1) /* chunk 1 is the longest that is made */
#define MAPS 2

struct place {
	struct spinlock lock;
	uint32_t generation; /* (lock) */
	uint32_t index;      /* written by the maker, or 0 */
	int tenant;          /* (lock) */
	int mark;            /* of the maker with this number */
};

static struct place memory[MAPS][CHUNK_MAX];
static uint32_t nr_mapped, nr_unmapped;
static void *directory[CHUNKS + 1]; /* the last entry is not of the table */
static uint64_t old_id;
static struct ledger {
	int found;
	void *unmapped;
} ledger;

static const struct table fixed = { directory, CHUNKS, LENGTH,
				    sizeof(struct place), false };
static const struct table doubling = { directory, CHUNKS, LENGTH,
				       sizeof(struct place), true };
static const struct table *table;

void *(os_map)(size_t size)
{
	uint32_t i = add_relaxed(&nr_mapped, 1);

	MODEL_CHECK(i < MAPS && size == table_chunk_size(table, 1));
	return model_mapped(memory[i], size);
}

void os_unmap(void *chunk, size_t size)
{
	MODEL_CHECK(size == table_chunk_size(table, 1));
	ledger.unmapped = chunk;
	(void)add_relaxed(&nr_unmapped, 1);
}

static void setup_with(const struct table *which)
{
	table = which;
	memset(memory, 0, sizeof(memory));
	memset(directory, 0, sizeof(directory));
	nr_mapped = nr_unmapped = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_name(&directory[1], "chunk[1]");
	model_name(&nr_mapped, "nr_mapped");
	model_name(&nr_unmapped, "nr_unmapped");
}

static void setup_fixed(void)
{
	setup_with(&fixed);
}

static void setup_doubling(void)
{
	setup_with(&doubling);
}

/* ---- a new chunk -------------------------------------------------------------------- */

/* The places of thread @id: both in chunk 1. */
static uint32_t number(int id)
{
	return LENGTH + (uint32_t)id % 2;
}

static void make(int id)
{
	struct place *place;

	MODEL_CHECK(table_make(table, number(id)) == 0);
	place = table_find(table, number(id));
	MODEL_CHECK(place && place->mark == 0);
	place->mark = id + 1;
}

/* A number that no maker writes to: its place is zero if it is there. */
static void find(int id)
{
	const struct place *place = table_find(&doubling, LENGTH + 2);

	(void)id;
	if (!place)
		return;
	MODEL_CHECK(place->mark == 0 && place->index == 0);
	ledger.found++;
}

/* A reader of the lock-free kind: it looks at a word of a place of the maker's. */
static void glance(int id)
{
	const struct place *place = table_find(table, LENGTH);

	(void)id;
	if (place)
		MODEL_CHECK(load_relaxed(&place->generation) == 0);
}

/* One chunk is kept, and each maker has its place there. */
static void one_chunk(int nr_makers)
{
	MODEL_CHECK(nr_mapped - nr_unmapped == 1);
	MODEL_CHECK(directory[1] && directory[1] != ledger.unmapped);
	MODEL_CHECK(!directory[0] && !directory[2]);
	for (int id = 0; id < nr_makers; id++) {
		const struct place *place = table_find(table, number(id));

		MODEL_CHECK(place->mark == id + 1);
	}
}

static void one_maker(void)
{
	one_chunk(1);
	MODEL_CHECK(nr_mapped == 1);
}

static void two_makers(void)
{
	one_chunk(2);
}

MODEL(a_finder_comes_while_a_chunk_is_made, .setup = setup_doubling,
      .threads = { make, find, glance }, .finish = one_maker);

MODEL(a_finder_in_chunks_of_one_length, .setup = setup_fixed,
      .threads = { make, glance }, .finish = one_maker);

MODEL(two_make_the_same_chunk, .setup = setup_fixed, .threads = { make, make },
      .finish = two_makers);

MODEL(a_finder_beside_two_makers, .setup = setup_doubling,
      .threads = { make, make, find }, .finish = two_makers);

/* ---- a chunk that was filled before ---------------------------------------------------- */

static void fill_and_publish(int id)
{
	struct place *chunk = memory[0];

	(void)id;
	for (uint32_t i = 0; i < LENGTH; i++)
		chunk[i].index = table_first_of(table, 1) + i;
	MODEL_CHECK(table_publish(table, 1, chunk));
}

static void find_filled(int id)
{
	const struct place *place = table_find(table, LENGTH + 1);

	(void)id;
	if (!place)
		return;
	MODEL_CHECK(place->index == LENGTH + 1);
	ledger.found++;
}

static void is_filled(void)
{
	int found = ledger.found;

	find_filled(0);
	MODEL_CHECK(ledger.found == found + 1);
	MODEL_CHECK(!table_publish(table, 1, memory[1]));
	MODEL_CHECK(!table_publish(table, CHUNKS, memory[1]));
}

MODEL(a_filled_chunk_is_found_filled, .setup = setup_fixed,
      .threads = { fill_and_publish, find_filled, find_filled },
      .finish = is_filled);

/* ---- old ids -------------------------------------------------------------------------- */

#define LAST 7u

/* Place 0 has tenant 1, of generation @generation. */
static void setup_tenant(uint32_t generation)
{
	setup_with(&fixed);
	directory[0] = memory[0];
	memory[0][0].generation = generation;
	memory[0][0].tenant = 1;
	old_id = table_word(generation, 0);
	model_lock_word(&memory[0][0].lock.word);
	model_name(&memory[0][0].lock.word, "lock");
}

static void setup_young(void)
{
	setup_tenant(1);
}

static void setup_last(void)
{
	setup_tenant(LAST);
}

/* Tenant 1 goes; tenant 2 comes, unless the generations are used up. */
static void change_tenant(int id)
{
	struct place *place = table_find(table, 0);

	(void)id;
	spin_lock(&place->lock);
	place->generation = table_next(place->generation, LAST);
	place->tenant = 0;
	spin_unlock(&place->lock);
	if (!place->generation)
		return;
	spin_lock(&place->lock);
	place->tenant = 2;
	spin_unlock(&place->lock);
}

static void find_by_old_id(int id)
{
	struct place *place = table_find(table, (uint32_t)old_id);

	(void)id;
	MODEL_CHECK(place == &memory[0][0]);
	spin_lock(&place->lock);
	if (place->generation == table_generation(old_id)) {
		MODEL_CHECK(place->tenant == 1);
		ledger.found++;
	}
	spin_unlock(&place->lock);
}

static void next_tenant(void)
{
	int found = ledger.found;

	MODEL_CHECK(memory[0][0].tenant == 2);
	find_by_old_id(0);
	MODEL_CHECK(ledger.found == found);
}

static void no_tenant(void)
{
	int found = ledger.found;

	MODEL_CHECK(memory[0][0].tenant == 0);
	find_by_old_id(0);
	MODEL_CHECK(ledger.found == found);
}

MODEL(an_old_id_does_not_find_the_next_tenant, .setup = setup_young,
      .threads = { change_tenant, find_by_old_id }, .finish = next_tenant);

MODEL(the_last_generation_has_no_next_tenant, .setup = setup_last,
      .threads = { change_tenant, find_by_old_id }, .finish = no_tenant);
