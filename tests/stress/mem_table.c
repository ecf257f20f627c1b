/* SPDX-License-Identifier: MIT */
/*
 * mem_table.c - threads that make the same chunks at the same time, while others look:
 * a number has one place for all threads, and nothing that was written there is lost.
 *
 * Each thread that finds a place adds 1 to its count.  A chunk that was replaced by
 * the chunk of a slower maker would take the counts with it.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "mem/table.h"
#include "os/map.h"

#define NR_MAKERS 3
#define NR_FINDERS 2
#define CHUNKS 8u
#define LENGTH 4u
#define PLACES (LENGTH * ((1u << CHUNKS) - 1))

struct place {
	uint64_t number; /* 1 + the number of the place; 0: nobody was here */
	uint64_t count;
};

static void *directory[CHUNKS];

static const struct table table = {
	.chunk = directory,
	.max_chunks = CHUNKS,
	.length = LENGTH,
	.place_size = sizeof(struct place),
	.doubles = true,
};

static uint64_t nr_counted[PLACES];
static uint32_t nr_making;

/* False: the place is not there yet. */
static bool visit(uint32_t index)
{
	struct place *place = table_find(&table, index);
	uint64_t number = 0;

	if (!place)
		return false;
	/* relaxed: the same value for all; publishes nothing. */
	if (!cas_relaxed(&place->number, &number, index + 1))
		CHECK_EQ(number, index + 1);
	/* relaxed: a number, read when all threads have ended. */
	(void)add_relaxed(&place->count, 1);
	/* relaxed: as above. */
	(void)add_relaxed(&nr_counted[index], 1);
	return true;
}

/* All makers go the same way, so that they meet at each new chunk. */
static void *make(void *arg)
{
	for (uint32_t index = 0; index < PLACES; index++) {
		CHECK_EQ(table_make(&table, index), 0);
		CHECK(visit(index));
	}
	(void)sub_acq_rel(&nr_making, 1);
	return arg;
}

static void *look(void *arg)
{
	while (load_acquire(&nr_making))
		(void)visit((uint32_t)test_random(PLACES));
	return arg;
}

static void check_and_empty(void)
{
	for (uint32_t index = 0; index < PLACES; index++) {
		const struct place *place = table_find(&table, index);

		CHECK_EQ(place->number, index + 1);
		CHECK_EQ(place->count, nr_counted[index]);
		CHECK_LE(NR_MAKERS, place->count);
		nr_counted[index] = 0;
	}
	for (uint32_t i = 0; i < CHUNKS; i++)
		os_unmap(directory[i], table_chunk_size(&table, i));
	table_forget(&table, CHUNKS);
}

TEST(makers_of_one_chunk_agree)
{
	pthread_t thread[NR_MAKERS + NR_FINDERS];
	int rounds = test_scale(300);

	for (int round = 0; round < rounds; round++) {
		int n = 0;

		nr_making = NR_MAKERS;
		while (n < NR_FINDERS)
			thread[n++] = test_thread(look, NULL);
		while (n < NR_FINDERS + NR_MAKERS)
			thread[n++] = test_thread(make, NULL);
		while (n)
			pthread_join(thread[--n], NULL);
		check_and_empty();
	}
	test_count((uint64_t)rounds * PLACES * NR_MAKERS);
}
