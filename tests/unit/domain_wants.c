/* SPDX-License-Identifier: MIT */
/*
 * domain_wants.c - src/domain/cores.h and wants.h: what members do with their cores, and
 * with what their peers want.
 */
#include "domain_crowd.h"

static const struct ledger_options options = LEDGER_OPTIONS_DEFAULT;
static const struct ledger_terms humble = { .weight = LEDGER_WEIGHT,
					    .highest = 40 };

/* ---- cores ------------------------------------------------------------------------------ */

TEST(a_member_alone_has_all_cores)
{
	crowd_begin(4, &options);
	crowd_admit(3, &usual);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(3), 4);
	CHECK_EQ(cores_nr_held(&crowd.view[3]), 4);
}

TEST(parking_and_unparking_change_one_word_and_wake_nobody)
{
	struct member_page before;
	uint64_t word;

	crowd_of_two(2, 30, &options);
	memcpy(&before, &crowd.page[0], sizeof(before));
	word = before.core[1];
	wants_leave(&crowd.wants[0], 1);
	CHECK_EQ(core_kind(crowd.page[0].core[1]), CORE_IDLE);
	CHECK_EQ(core_generation(crowd.page[0].core[1]), core_generation(word));
	crowd.page[0].core[1] = word;
	CHECK(memcmp(&before, &crowd.page[0], sizeof(before)) == 0);
	crowd.page[0].core[1] = core_word(core_generation(word), CORE_IDLE, 0);
	CHECK_EQ(cores_resume(&crowd.view[0]), 1);
	CHECK_EQ(cores_resume(&crowd.view[0]), DOMAIN_NO_CORE);
}

TEST(a_core_that_is_given_has_one_taker)
{
	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	CHECK(!cores_hold(&crowd.view[0], 0));
	CHECK_EQ(cores_take(&crowd.view[2]), DOMAIN_NO_CORE);
	CHECK_EQ(cores_take(&crowd.view[0]), DOMAIN_NO_CORE);
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	CHECK_EQ(cores_take(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.core[0].member, 1);
}

TEST(a_second_core_of_one_giver_is_found_without_another_wake)
{
	crowd_of_two(3, 30, &options);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	CHECK(cores_give(&crowd.view[0], 2, 1));
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	CHECK_EQ(cores_take(&crowd.view[1]), 2);
	CHECK_EQ(cores_take(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK(!cores_have_news(&crowd.view[1]));
}

TEST(gives_without_a_core_are_not_believed)
{
	uint64_t generation;

	crowd_of_two(1, 30, &options);
	generation = core_generation(crowd.page[0].core[0]);
	/* Older than what the host has seen, and far too new. */
	crowd.page[1].core[0] = core_word(generation - 1, CORE_GIVEN, 0);
	CHECK_EQ(cores_take_any(&crowd.view[0]), DOMAIN_NO_CORE);
	crowd_admit(2, &usual);
	crowd.page[1].core[0] =
		core_word(generation + 2 * DOMAIN_WINDOW, CORE_GIVEN, 2);
	CHECK_EQ(cores_take_any(&crowd.view[2]), DOMAIN_NO_CORE);
	/* Of a member that does not have the core, as the holder's word says. */
	for (uint32_t i = 1; i <= LEDGER_CLAIMS_MAX; i++) {
		generation = core_generation(crowd.host.core[0]);
		crowd.page[1].core[0] =
			core_word(generation + 3, CORE_GIVEN, 2);
		CHECK_EQ(cores_take_any(&crowd.view[2]), DOMAIN_NO_CORE);
		CHECK_EQ(crowd_tick() >> 1, i == LEDGER_CLAIMS_MAX);
		CHECK(cores_hold(&crowd.view[0], 0));
	}
}

/* As early as that: the host has not ticked yet. */
TEST(a_core_that_the_host_has_kept_comes_of_no_peer)
{
	uint64_t generation;

	crowd_begin(3, &options);
	crowd_admit(0, &usual);
	crowd_admit(1, &usual);
	generation = core_generation(crowd.host.core[0]);
	for (uint32_t core = 0; core < 3; core++)
		crowd.page[1].core[core] =
			core_word(generation + 30 + core, CORE_GIVEN, 0);
	CHECK_EQ(cores_take_any(&crowd.view[0]), DOMAIN_NO_CORE);
	CHECK_EQ(crowd_tick() & 1, 0);
	/* One that was about to be taken when the host took it back. */
	crowd.host.core[1] = core_word(generation, CORE_IDLE, DOMAIN_NOBODY);
	crowd.page[0].core[1] = core_word(generation + 32, CORE_BUSY, 1);
	CHECK(!cores_hold(&crowd.view[0], 1));
	CHECK_EQ(core_kind(crowd.page[0].core[1]), CORE_NONE);
}

TEST(a_peer_cannot_take_a_core_away_by_its_words)
{
	uint64_t word;

	crowd_of_two(1, 30, &options);
	word = crowd.page[0].core[0];
	for (int kind = CORE_NONE; kind <= CORE_PENDING; kind++) {
		crowd.page[1].core[0] = core_word(core_generation(word) + 9,
						  (enum core_kind)kind, 1);
		CHECK(cores_hold(&crowd.view[0], 0));
		CHECK_EQ(crowd.page[0].core[0], word);
	}
}

TEST(a_core_that_the_host_gave_away_is_dropped)
{
	crowd_of_two(1, 30, &options);
	crowd.host.core[0] =
		core_word(core_generation(crowd.page[0].core[0]) + DOMAIN_LEAP,
			  CORE_GIVEN, 1);
	CHECK(!cores_give(&crowd.view[0], 0, 1));
	CHECK_EQ(core_kind(crowd.page[0].core[0]), CORE_NONE);
	CHECK(!cores_hold(&crowd.view[0], 0));
	CHECK_EQ(cores_take_any(&crowd.view[1]), 0);
}

/* ---- wants ------------------------------------------------------------------------------ */

TEST(u06_a_want_of_the_same_level_is_no_reason_to_look_up)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 30);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	CHECK_EQ(wants_look(&crowd.wants[0], 29), WANTS_NOBODY);
	CHECK_EQ(wants_serve(&crowd.wants[0], 0, 30), WANTS_NOBODY);
	CHECK_EQ(wants_look(&crowd.wants[0], 31), 1);
	CHECK(cores_hold(&crowd.view[0], 0));
}

TEST(u06_a_strictly_more_urgent_want_gets_the_core)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 29);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), 1);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 30), WANTS_NOBODY);
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	CHECK_EQ(wants_nr_given(&crowd.wants[0]), 1);
}

TEST(u06_a_want_gets_as_many_cores_as_it_wants)
{
	crowd_of_two(4, 30, &options);
	crowd_want(1, 2, 10);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 30), WANTS_NOBODY);
	CHECK_NE(wants_serve(&crowd.wants[0], 1, 30), WANTS_NOBODY);
	CHECK_EQ(wants_serve(&crowd.wants[0], 2, 30), WANTS_NOBODY);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	crowd_want(1, 1, 10); /* another want */
	CHECK_NE(wants_serve(&crowd.wants[0], 2, 30), WANTS_NOBODY);
}

TEST(u04_of_all_wants_the_most_urgent_is_found)
{
	crowd_begin(1, &options);
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		crowd_admit(i, &usual);
	for (uint32_t i = 1; i < DOMAIN_MEMBERS_MAX; i++)
		crowd_want(i, 1, 10 + (i * 7) % 50);
	crowd_want(41, 1, 3);
	CHECK_EQ(wants_look(&crowd.wants[0], WANTS_ANY_LEVEL), 41);
	CHECK_EQ(wants_look(&crowd.wants[0], 4), 41);
	CHECK_EQ(wants_look(&crowd.wants[0], 3), WANTS_NOBODY);
}

TEST(u06_equally_urgent_peers_are_served_in_turn)
{
	crowd_begin(1, &options);
	for (uint32_t i = 0; i < 5; i++)
		crowd_admit(i, &usual);
	crowd_want(4, 1, 30);
	for (uint32_t round = 0; round < 12; round++) {
		uint32_t next = 1 + round % 3;

		for (uint32_t i = 1; i < 4; i++)
			crowd_want(i, 1, 20);
		CHECK_EQ(wants_look(&crowd.wants[0], 32), next);
		(void)wants_serve(&crowd.wants[0], 0, 32);
	}
}

TEST(u05_nobody_looks_at_wants_that_are_no_wants)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 0, 5);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	crowd.page[1].want = want_word(9, 3, 200); /* no level */
	CHECK_EQ(wants_look(&crowd.wants[0], WANTS_ANY_LEVEL), WANTS_NOBODY);
}

TEST(a_core_that_is_left_goes_to_a_peer_that_wants_it)
{
	crowd_of_two(2, 30, &options);
	crowd_want(1, 1, 60);
	wants_leave(&crowd.wants[0], 0);
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	wants_leave(&crowd.wants[0], 1);
	CHECK_EQ(core_kind(crowd.page[0].core[1]), CORE_IDLE);
}

TEST(a_want_asks_the_host_if_there_is_an_idle_core)
{
	crowd_of_two(2, 30, &options);
	crowd_want(1, 1, 10);
	CHECK_EQ(member_asks(&crowd.page[1]), 0);
	crowd_want(1, 0, 0);
	wants_leave(&crowd.wants[0], 1);
	crowd_want(1, 1, 10);
	CHECK_EQ(member_asks(&crowd.page[1]), 1);
	CHECK_EQ(broker_tick(&crowd.broker, true), 0);
	CHECK_EQ(cores_take(&crowd.view[1]), 1);
}

/* ---- races: bits that nobody means ---------------------------------------------------- */

TEST(ru5_the_last_want_counts_whatever_came_before)
{
	crowd_of_two(1, 30, &options);
	for (uint32_t i = 0; i < 100; i++) {
		crowd_want(1, 1, 10);
		CHECK_EQ(wants_look(&crowd.wants[0], 30), 1);
		crowd_want(1, 0, 10);
		CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	}
}

TEST(ru6_a_phantom_gets_one_core_until_the_next_tick)
{
	crowd_of_two(4, 30, &options);
	crowd_want(1, 1, 10);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 30), WANTS_NOBODY);
	for (uint32_t i = 0; i < 100; i++)
		CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	wants_tick(&crowd.wants[0]);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), 1);
}

TEST(ru6_a_peer_that_found_nothing_to_run_is_ignored_for_a_tick)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 10);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 30), WANTS_NOBODY);
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	crowd.page[1].figures.nr_in_vain++;
	CHECK(cores_give(&crowd.view[1], 0, 0));
	CHECK_EQ(cores_take(&crowd.view[0]), 0);
	wants_tick(&crowd.wants[0]);
	crowd_want(1, 1, 10);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	wants_tick(&crowd.wants[0]);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), 1);
}

TEST(ru7_the_want_of_a_dead_member_is_seen_by_nobody)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 0);
	crowd.page[1].levels = ~0ull;
	CHECK_EQ(wants_look(&crowd.wants[0], 30), 1);
	broker_retire(&crowd.broker, 1);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	CHECK(!wants_serve_peer(&crowd.wants[0], 0, 1));
	CHECK_EQ(host_live(&crowd.host), 1);
}

TEST(u15_the_page_of_a_peer_is_never_written)
{
	static struct member_page before;

	crowd_of_two(2, 30, &options);
	crowd_want(1, 1, 10);
	memcpy(&before, &crowd.page[1], sizeof(before));
	(void)wants_look(&crowd.wants[0], 30);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 30), WANTS_NOBODY);
	wants_leave(&crowd.wants[0], 1);
	wants_tick(&crowd.wants[0]);
	CHECK_EQ(crowd_take(0), 0);
	(void)!broker_tick(&crowd.broker, false);
	CHECK(memcmp(&before, &crowd.page[1], sizeof(before)) == 0);
}

/* ---- limits ----------------------------------------------------------------------------- */

/* Member 0 has the core; 1 may be no more urgent than level 40; 2 is like any other. */
static void with_a_humble_peer(void)
{
	crowd_begin(1, &options);
	crowd_admit(0, &usual);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(0), 1);
	crowd_admit(1, &humble);
	crowd_admit(2, &usual);
}

TEST(ru8_a_want_counts_no_more_than_its_member_may)
{
	with_a_humble_peer();
	crowd_want(1, 1, 0);
	CHECK_EQ(wants_look(&crowd.wants[0], 40), WANTS_NOBODY);
	CHECK_EQ(wants_serve(&crowd.wants[0], 0, 40), WANTS_NOBODY);
	CHECK_EQ(wants_look(&crowd.wants[0], 41), 1);
	/* A want between the claim and the limit goes before it, on both sides of it. */
	crowd_want(2, 1, 39);
	CHECK_EQ(wants_look(&crowd.wants[0], 41), 2);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 41), WANTS_NOBODY);
	CHECK_EQ(crowd_take(2), 1);
	CHECK_EQ(crowd_take(1), 0);
}

TEST(ru8_a_limit_is_no_reason_to_wait_below_it)
{
	with_a_humble_peer();
	crowd_want(1, 1, 45);
	CHECK_EQ(wants_look(&crowd.wants[0], 45), WANTS_NOBODY);
	CHECK_EQ(wants_look(&crowd.wants[0], 46), 1);
	/* As urgent as its limit, it takes turns with others of that level. */
	crowd_want(1, 1, 0);
	crowd_want(2, 1, 40);
	CHECK_EQ(wants_look(&crowd.wants[0], 50), 1);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 50), WANTS_NOBODY);
	CHECK_EQ(crowd_take(1), 1);
	CHECK_EQ(wants_look(&crowd.wants[1], 0), WANTS_NOBODY);
}

TEST(ru8_a_member_gives_its_core_for_what_its_own_work_counts)
{
	with_a_humble_peer();
	crowd_want(1, 1, 0);
	CHECK_NE(wants_serve(&crowd.wants[0], 0, 50), WANTS_NOBODY);
	CHECK_EQ(crowd_take(1), 1);
	crowd_want(1, 0, 0);
	crowd_want(0, 1, 40);
	CHECK_EQ(wants_look(&crowd.wants[1], 0), WANTS_NOBODY);
	crowd_want(0, 1, 39);
	CHECK_EQ(wants_look(&crowd.wants[1], 0), 0);
	CHECK_NE(wants_serve(&crowd.wants[1], 0, 0), WANTS_NOBODY);
	CHECK_EQ(crowd_take(0), 1);
}

TEST(ru8_what_runs_counts_no_more_than_it_may)
{
	with_a_humble_peer();
	crowd_run(0, MEMBER_RUNS_NOTHING);
	crowd_run(1, 0);
	crowd_run(2, 38);
	/* The urgent work of a member above its limit overtakes nothing above it. */
	CHECK(wants_runs_below(&crowd.wants[0], 39));
	CHECK(!wants_runs_below(&crowd.wants[0], 40));
	crowd_run(0, 39);
	CHECK(!wants_runs_below(&crowd.wants[1], 0));
	crowd_run(0, 41);
	CHECK(wants_runs_below(&crowd.wants[1], 0));
}

TEST(a_limit_that_changes_counts_from_then_on)
{
	with_a_humble_peer();
	crowd_want(1, 1, 0);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
	broker_set_terms(&crowd.broker, 1, &usual);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), 1);
	broker_set_terms(&crowd.broker, 1, &humble);
	CHECK_EQ(wants_look(&crowd.wants[0], 30), WANTS_NOBODY);
}

TEST(the_next_member_of_a_seat_has_no_limit_of_the_last)
{
	with_a_humble_peer();
	broker_retire(&crowd.broker, 1);
	CHECK_EQ(crowd_tick(), 0);
	crowd_admit(1, &usual);
	crowd_want(1, 1, 5);
	CHECK_EQ(wants_look(&crowd.wants[0], 6), 1);
}
