/* SPDX-License-Identifier: MIT */
/*
 * actor_child.c - how long a child of a supervisor waits for its next life.
 */
#include "harness/test.h"

#include "actor/supervisor/child.h"

#include <sley/error.h>

#define STABLE (5 * SLEY_SEC)

static struct child child;
static struct rand chance;

/* The next pause of one that ended at once. */
static uint64_t next(void)
{
	return child_next_pause(&child, true, child.start_ns, STABLE, &chance);
}

static bool about(uint64_t ns, uint64_t expected)
{
	return ns >= expected * 9 / 10 && ns <= expected * 11 / 10;
}

TEST(t24_the_pauses_really_grow)
{
	child.spec.backoff_ns = SLEY_MSEC;
	for (uint64_t factor = 1; factor < 1 << 16; factor *= 2)
		CHECK(about(next(), factor * SLEY_MSEC));
}

TEST(t24_they_grow_to_90_seconds_and_no_further)
{
	child.spec.backoff_ns = SLEY_SEC;
	for (int i = 0; i < 200; i++)
		CHECK_LE(next(), 90 * SLEY_SEC);
	CHECK(about(next(), 90 * SLEY_SEC));
}

TEST(w43_a_pause_is_a_tenth_more_or_less)
{
	uint64_t least = UINT64_MAX, most = 0;

	child.spec.backoff_ns = SLEY_SEC;
	child.spec.backoff_max_ns = 100 * SLEY_SEC;
	rand_seed(&chance, test_seed());
	for (int i = 0; i < 1000; i++) {
		uint64_t ns;

		child.pause_ns = 0;
		ns = next();
		CHECK(about(ns, SLEY_SEC));
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	CHECK_LT(least, 95 * SLEY_SEC / 100);
	CHECK_GT(most, 105 * SLEY_SEC / 100);
}

TEST(w43_they_grow_to_what_the_user_says)
{
	child.spec.backoff_ns = SLEY_MSEC;
	child.spec.backoff_max_ns = 3 * SLEY_MSEC;
	CHECK(about(next(), SLEY_MSEC));
	CHECK(about(next(), 2 * SLEY_MSEC));
	for (int i = 0; i < 100; i++) {
		CHECK_LE(next(), 3 * SLEY_MSEC);
		CHECK(about(next(), 3 * SLEY_MSEC));
	}
}

TEST(t24_they_begin_anew_after_a_long_life)
{
	child.spec.backoff_ns = SLEY_MSEC;
	for (int i = 0; i < 10; i++)
		(void)next();
	child.start_ns = 1;
	CHECK(about(child_next_pause(&child, true, 1 + STABLE, STABLE, &chance),
		    1024 * SLEY_MSEC)); /* not long enough */
	CHECK(about(child_next_pause(&child, true, 2 + STABLE, STABLE, &chance),
		    SLEY_MSEC));
}

TEST(t24_a_life_shorter_than_the_pause_before_it_is_not_long)
{
	child.spec.backoff_ns = 20 * SLEY_SEC;
	(void)next();
	CHECK(about(child_next_pause(&child, true, 19 * SLEY_SEC, STABLE,
				     &chance),
		    40 * SLEY_SEC));
	CHECK(about(child_next_pause(&child, true, 41 * SLEY_SEC, STABLE,
				     &chance),
		    20 * SLEY_SEC));
}

TEST(who_has_no_back_off_waits_only_if_it_cannot_be_started)
{
	CHECK_EQ(next(), 0);
	CHECK_EQ(next(), 0);
	for (uint64_t factor = 1; factor < 1 << 16; factor *= 2)
		CHECK(about(child_next_pause(&child, false, 0, STABLE, &chance),
			    factor * SLEY_MSEC));
	child.start_ns = 0;
	CHECK_EQ(child_next_pause(&child, true, 1000 * SLEY_SEC, STABLE,
				  &chance),
		 0);
}

TEST(w43_who_is_started_again)
{
	static const int reasons[] = { 0, -ECANCELED, -EIO, SLEY_EKILLED };
	static const bool wanted[3][4] = {
		[SLEY_PERMANENT] = { true, true, true, true },
		[SLEY_TRANSIENT] = { false, false, true, true },
		[SLEY_TEMPORARY] = { false, false, false, false },
	};

	for (int restart = 0; restart < 3; restart++) {
		child.spec.restart = (enum sley_restart)restart;
		for (int i = 0; i < 4; i++)
			CHECK_EQ(child_wants_restart(&child, reasons[i]),
				 wanted[restart][i]);
	}
}
