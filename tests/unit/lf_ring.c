/* SPDX-License-Identifier: MIT */
/*
 * lf_ring.c - the ring, one thread at a time.
 */
#include "harness/test.h"

#include "base/rand.h"
#include "lf/ring.h"

#include <string.h>

static char item[4 * RING_CAPACITY];

/* Pushes items [from, to). */
static void push_range(struct ring *ring, int from, int to)
{
	for (int i = from; i < to; i++)
		CHECK(ring_push(ring, &item[i]));
}

/* Takes items [from, to), and nothing is left. */
static void take_range(struct ring *ring, int from, int to)
{
	for (int i = from; i < to; i++)
		CHECK(ring_take(ring) == &item[i]);
	CHECK(ring_take(ring) == NULL);
}

TEST(the_owner_takes_the_oldest_first)
{
	static struct ring ring;

	CHECK(ring_take(&ring) == NULL);
	push_range(&ring, 0, 3);
	CHECK_EQ(ring_size(&ring), 3);
	take_range(&ring, 0, 3);
	CHECK_EQ(ring_size(&ring), 0);
}

TEST(a_full_ring_refuses_and_keeps_what_it_has)
{
	static struct ring ring;

	push_range(&ring, 0, RING_CAPACITY);
	CHECK_EQ(ring_size(&ring), RING_CAPACITY);
	CHECK(!ring_push(&ring, &item[RING_CAPACITY]));
	CHECK(ring_take(&ring) == &item[0]);
	CHECK(ring_push(&ring, &item[RING_CAPACITY]));
	take_range(&ring, 1, RING_CAPACITY + 1);
}

TEST(a_thief_gets_half_rounded_up_in_order)
{
	for (int nr = 0; nr <= RING_CAPACITY; nr++) {
		struct ring from = { 0 }, into = { 0 };
		int half = (nr + 1) / 2;

		push_range(&from, 0, nr);
		if (nr == 0) {
			CHECK(ring_steal_half(&from, &into) == NULL);
			CHECK_EQ(ring_size(&into), 0);
			continue;
		}
		CHECK(ring_steal_half(&from, &into) == &item[0]);
		CHECK_EQ(ring_size(&into), half - 1);
		CHECK_EQ(ring_size(&from), nr - half);
		take_range(&into, 1, half);
		take_range(&from, half, nr);
	}
}

TEST(stolen_items_go_behind_those_the_thief_has)
{
	static struct ring from, into;

	push_range(&into, 0, 2);
	push_range(&from, 2, 8);
	CHECK(ring_steal_half(&from, &into) == &item[2]);
	CHECK(ring_take(&into) == &item[0]);
	CHECK(ring_take(&into) == &item[1]);
	take_range(&into, 3, 5);
	take_range(&from, 5, 8);
}

TEST(a_thief_takes_no_more_than_fits)
{
	for (int room = 0; room <= RING_CAPACITY / 2; room++) {
		struct ring from = { 0 }, into = { 0 };
		int start = RING_CAPACITY, nr;

		push_range(&into, 0, RING_CAPACITY - room);
		push_range(&from, start, start + RING_CAPACITY);
		CHECK(ring_steal_half(&from, &into) == &item[start]);
		nr = room + 1 < RING_CAPACITY / 2 ? room + 1
						  : RING_CAPACITY / 2;
		CHECK_EQ(ring_size(&from), RING_CAPACITY - nr);
		for (int i = 0; i < RING_CAPACITY - room; i++)
			CHECK(ring_take(&into) == &item[i]);
		take_range(&into, start + 1, start + nr);
		take_range(&from, start + nr, start + RING_CAPACITY);
	}
}

TEST(the_overflow_is_the_older_half_and_no_more_than_asked)
{
	static struct ring ring;
	void *out[RING_CAPACITY];

	CHECK_EQ(ring_take_half(&ring, out, RING_CAPACITY), 0);
	push_range(&ring, 0, RING_CAPACITY);
	CHECK_EQ(ring_take_half(&ring, out, 0), 0);
	CHECK_EQ(ring_take_half(&ring, out, 3), 3);
	for (int i = 0; i < 3; i++)
		CHECK(out[i] == &item[i]);
	CHECK_EQ(ring_take_half(&ring, out, RING_CAPACITY),
		 (RING_CAPACITY - 3 + 1) / 2);
	CHECK(out[0] == &item[3]);
	CHECK_EQ(ring_size(&ring), (RING_CAPACITY - 3) / 2);
	take_range(&ring, RING_CAPACITY - (RING_CAPACITY - 3) / 2,
		   RING_CAPACITY);
}

TEST(a_single_item_can_be_stolen_and_overflow)
{
	static struct ring ring, thief;
	void *out = NULL;

	push_range(&ring, 0, 1);
	CHECK(ring_steal_half(&ring, &thief) == &item[0]);
	push_range(&ring, 1, 2);
	CHECK_EQ(ring_take_half(&ring, &out, 1), 1);
	CHECK(out == &item[1]);
	CHECK_EQ(ring_size(&ring), 0);
	CHECK_EQ(ring_size(&thief), 0);
}

/* Every operation at random, on rings that start anywhere, against a FIFO. */
TEST(a_long_random_history_keeps_the_order)
{
	static struct ring ring, thief;
	void *out[RING_CAPACITY];
	uint64_t pushed = 0, taken = 0;
	struct rand rand;

	rand_seed(&rand, test_seed());
	ring.head = ring.tail = rand_next(&rand) >> 1;
	thief.head = thief.tail = rand_next(&rand) >> 1;
	for (int step = 0; step < 200000; step++) {
		uint32_t nr = 0;

		switch (rand_below(&rand, 8)) {
		case 0:
			nr = ring_take_half(&ring, out,
					    rand_below(&rand, RING_CAPACITY));
			break;
		case 1:
			out[0] = ring_steal_half(&ring, &thief);
			while (out[nr])
				out[++nr] = ring_take(&thief);
			break;
		case 2:
		case 3:
			out[0] = ring_take(&ring);
			nr = out[0] != NULL;
			break;
		default:
			if (ring_push(&ring, (void *)(pushed + 1)))
				pushed++;
			else
				CHECK_EQ(pushed - taken, RING_CAPACITY);
		}
		for (uint32_t i = 0; i < nr; i++)
			CHECK_EQ((uint64_t)out[i], ++taken);
		CHECK_EQ(ring_size(&ring), pushed - taken);
	}
}

TEST(head_and_tail_and_slots_have_cache_lines_of_their_own)
{
	struct ring ring;

	CHECK_EQ((uintptr_t)&ring.head % CACHE_LINE, 0);
	CHECK_EQ((uintptr_t)&ring.tail % CACHE_LINE, 0);
	CHECK_EQ((uintptr_t)ring.slot % CACHE_LINE, 0);
	CHECK_GE((char *)&ring.tail - (char *)&ring.head, CACHE_LINE);
	CHECK_GE((char *)ring.slot - (char *)&ring.tail, CACHE_LINE);
}
