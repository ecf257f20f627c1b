/* SPDX-License-Identifier: MIT */
/*
 * ipc_ring_set.c - which ring the taker looks at next, with words in plain memory.  The
 * sleep of workers and clients is in tests/model/ipc_server.c.
 */
#include "harness/test.h"

#include "ipc/ring_set.h"

#include <string.h>

#define NR 5
#define FULL 1000000 /* requests: more than a test takes */

struct ring {
	struct ring_member member;
	uint32_t word;
	uint32_t nr_taken;
	uint32_t nr_turns;
};

static struct ring rings[NR];
static struct ring_member *active[NR];
static struct ring_set set;

/* The client publishes @nr requests. */
static void publish(uint32_t i, uint32_t nr)
{
	(void)!count_word_add(&rings[i].word, nr);
}

static void begin(void)
{
	memset(rings, 0, sizeof(rings));
	set = (struct ring_set){ .max = NR, .active = active };
	for (uint32_t i = 0; i < NR; i++)
		ring_set_add(&set, &rings[i].member, &rings[i].word, 0);
}

/* The taker's next turn: takes one request of a ring, and says which ring it was. */
static uint32_t turn(enum ring_found found)
{
	struct ring_member *member = ring_set_next(&set);
	struct ring *ring = container_of(member, struct ring, member);

	CHECK(member != NULL);
	ring->nr_turns++;
	ring->nr_taken++;
	ring_set_looked(&set, member, ring->nr_taken * COUNT_WORD_ONE, found);
	return (uint32_t)(ring - rings);
}

/* C36. */
TEST(c36_each_ring_has_its_turn_before_a_ring_has_a_second_one)
{
	begin();
	for (uint32_t i = 0; i < NR; i++)
		publish(i, FULL);
	for (uint32_t round = 1; round <= 10; round++) {
		for (uint32_t i = 0; i < NR; i++)
			(void)turn(RING_FOUND_SOME);
		for (uint32_t i = 0; i < NR; i++)
			CHECK_EQ(rings[i].nr_turns, round);
	}
}

/* How many turns of others a single request of ring @i waits for. */
static uint32_t turns_until(uint32_t i)
{
	uint32_t nr = 0;

	while (turn(RING_FOUND_SOME) != i)
		CHECK_LE(++nr, NR * NR);
	return nr;
}

/* All other rings are full, and the request comes after any number of turns. */
TEST(c36_each_ring_waits_for_one_turn_of_each_other_ring)
{
	for (uint32_t i = 0; i < NR; i++) {
		begin();
		for (uint32_t other = 0; other < NR; other++)
			publish(other, other == i ? 0 : FULL);
		for (uint32_t before = 0; before < 3 * NR; before++) {
			publish(i, 1);
			CHECK_LE(turns_until(i), NR - 1);
			for (uint32_t k = 0; k < before; k++)
				CHECK_NE(turn(RING_FOUND_SOME), i);
		}
	}
}

/* A client that has been silent for long is not forgotten by those that were not. */
TEST(c36_each_ring_that_was_quiet_has_its_turn)
{
	for (uint32_t i = 0; i < NR; i++) {
		begin();
		for (int arms = 0; arms < RING_SET_ARMS; arms++)
			CHECK(!ring_set_arm(&set));
		CHECK(ring_set_is_empty(&set));
		for (uint32_t other = 0; other < NR; other++) {
			publish(other, other == i ? 1 : FULL);
			if (other != i)
				ring_set_heard(&set, &rings[other].member);
		}
		for (int k = 0; k < 7; k++)
			CHECK_NE(turn(RING_FOUND_SOME), i);
		ring_set_heard(&set, &rings[i].member);
		CHECK_LE(turns_until(i), NR - 1);
	}
}

/*
 * The last ring takes the place of a ring that leaves, which may have had its turn: a
 * ring that is moved so waits for one more round.  Here the ring that has had its turn
 * always leaves, and comes again at once.
 */
TEST(c36_each_ring_has_its_turn_while_others_leave_and_come)
{
	begin();
	for (uint32_t i = 0; i < NR; i++)
		publish(i, FULL);
	for (uint32_t k = 0; k < 100 * NR; k++) {
		uint32_t i = turn(RING_FOUND_NO_QUOTA);

		CHECK_EQ(rings[i].member.state, RING_HELD);
		ring_set_recheck(&set, &rings[i].member);
	}
	for (uint32_t i = 0; i < NR; i++)
		CHECK_GE(rings[i].nr_turns, 100 / 2);
}

TEST(a_ring_that_is_held_has_no_turn)
{
	begin();
	publish(0, FULL);
	publish(1, FULL);
	CHECK_EQ(turn(RING_FOUND_NO_QUOTA), 0);
	for (int k = 0; k < 5; k++)
		CHECK_EQ(turn(RING_FOUND_SOME), 1);
	ring_set_recheck(&set, &rings[0].member);
	CHECK_EQ(turn(RING_FOUND_SOME), 0);
	CHECK_EQ(turn(RING_FOUND_END), 1);
	ring_set_recheck(&set, &rings[1].member);
	CHECK_EQ(rings[1].member.state, RING_OUT);
	CHECK_EQ(turn(RING_FOUND_SOME), 0);
}

TEST(a_set_without_news_has_no_next_ring)
{
	begin();
	CHECK(!ring_set_next(&set));
	CHECK(!ring_set_has(&set));
	ring_set_poke(&set, &rings[3].member);
	CHECK(ring_set_has(&set));
	CHECK(ring_set_next(&set) == &rings[3].member);
	CHECK(!ring_set_next(&set));
}
