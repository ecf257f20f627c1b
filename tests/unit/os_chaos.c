/* SPDX-License-Identifier: MIT */
/*
 * os_chaos.c - what a seed makes of base/chaos.h.
 */
#include "harness/test.h"

#include "base/chaos.h"
#include "lf/ring.h"
#include "os/futex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_SEEDS 200
#define NR_DRAWS 256

/* What a thread of that number would decide. */
static void draw_all(uint64_t seed, uint32_t stream, uint8_t *out)
{
	chaos_begin(seed);
	chaos_thread(stream);
	for (int i = 0; i < NR_DRAWS; i++)
		out[i] = (uint8_t)chaos_below(256);
}

TEST(a_thread_decides_the_same_under_the_same_seed)
{
	uint8_t first[NR_DRAWS], again[NR_DRAWS], other[NR_DRAWS];

	draw_all(42, 3, first);
	draw_all(42, 3, again);
	CHECK(memcmp(first, again, NR_DRAWS) == 0);
	draw_all(42, 4, other);
	CHECK(memcmp(first, other, NR_DRAWS) != 0);
	draw_all(43, 3, other);
	CHECK(memcmp(first, other, NR_DRAWS) != 0);
}

TEST(without_a_seed_nothing_happens)
{
	if (test_is_chaotic())
		test_skip("there is one");
	for (int i = 0; i < 100000; i++) {
		for (int kind = 0; kind < NR_CHAOS; kind++)
			CHECK(!chaos_says((enum chaos_kind)kind));
	}
	CHECK_EQ(chaos_few(1024, 4), 1024);
}

TEST(some_seeds_have_each_kind_and_some_have_it_not)
{
	for (int kind = 0; kind < NR_CHAOS; kind++) {
		int nr = 0;

		for (uint64_t seed = 0; seed < NR_SEEDS; seed++) {
			chaos_begin(seed);
			nr += sley__chaos.odds[kind] != 0;
		}
		CHECK(nr > NR_SEEDS / 2 && nr < NR_SEEDS);
	}
}

/* The first seed with that kind, and with tiny capacities. */
static void begin_with(enum chaos_kind kind)
{
	uint64_t seed = 0;

	do
		chaos_begin(seed++);
	while (!sley__chaos.odds[kind] || sley__chaos.few != 1);
}

TEST(a_futex_wait_returns_for_no_reason)
{
	uint32_t word = 7;
	int nr = 0;

	begin_with(CHAOS_WAKE);
	for (int i = 0; i < 200; i++)
		nr += os_futex_wait(&word, 7, 1) == 0;
	CHECK_GT(nr, 0);
	CHECK_LT(nr, 200);
}

TEST(a_ring_holds_four_and_keeps_their_order)
{
	static struct ring ring, thief;
	int item[5];

	begin_with(CHAOS_LOSE);
	for (int i = 0; i < 4; i++)
		CHECK(ring_push(&ring, &item[i]));
	CHECK(!ring_push(&ring, &item[4]));
	CHECK(ring_steal_half(&ring, &thief) == &item[0]);
	CHECK(ring_take(&thief) == &item[1]);
	CHECK(ring_take(&ring) == &item[2]);
}

TEST(a_delay_keeps_errno)
{
	uint32_t word = 0;

	begin_with(CHAOS_DELAY);
	for (int i = 0; i < 100000; i++) {
		errno = i;
		(void)add_acq_rel(&word, 1);
		CHECK_EQ(errno, i);
	}
	CHECK_EQ(word, 100000);
}

/* The first runtime says so; the second does not. */
TEST(the_seed_is_announced_once)
{
	char text[512] = "";
	int ends[2];
	ssize_t n;

	CHECK_EQ(pipe(ends), 0);
	begin_with(CHAOS_STEAL);
	CHECK_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	chaos_announce();
	chaos_announce();
	n = read(ends[0], text, sizeof(text) - 1);
	CHECK_GT(n, 0);
	CHECK(strstr(text, "sley: chaos ") == text);
	CHECK(strchr(text, '\n') == text + n - 1);
	CHECK(strstr(text, "capacities tiny"));
}
