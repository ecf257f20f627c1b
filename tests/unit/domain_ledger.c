/* SPDX-License-Identifier: MIT */
/*
 * domain_ledger.c - src/domain/ledger.h, with the hand that carries it out
 * (src/domain/broker.h): who gets which core, and who is thrown out.
 */
#include "domain_crowd.h"

#include "base/rand.h"

static const struct ledger_options options = LEDGER_OPTIONS_DEFAULT;

/* ---- rule 1 ------------------------------------------------------------------------------ */

TEST(u04_the_most_urgent_want_gets_an_idle_core_within_a_tick)
{
	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	crowd_admit(3, &usual);
	CHECK(cores_leave(&crowd.view[0], 0));
	crowd_run(0, MEMBER_RUNS_NOTHING);
	crowd_want(1, 1, 20);
	crowd_want(2, 1, 5);
	crowd_want(3, 1, 50);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(cores_take(&crowd.view[2]), 0);
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK_EQ(cores_take_any(&crowd.view[3]), DOMAIN_NO_CORE);
	CHECK_EQ(cores_resume(&crowd.view[0]), DOMAIN_NO_CORE);
}

TEST(an_idle_core_stays_where_nobody_wants_it)
{
	crowd_of_two(2, 30, &options);
	CHECK(cores_leave(&crowd.view[0], 0));
	for (int i = 0; i < 20; i++)
		CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(cores_resume(&crowd.view[0]), 0);
}

TEST(the_cores_of_a_dead_member_are_given_on)
{
	crowd_of_two(3, 30, &options);
	crowd_want(1, 3, 40);
	broker_retire(&crowd.broker, 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(1), 3);
	CHECK_EQ(nr_of_kind(1, CORE_BUSY), 3);
}

TEST(a_core_that_a_dead_member_gave_arrives)
{
	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	crowd_want(2, 1, 1);
	/* It died before it could wake the receiver. */
	crowd.page[0].core[0] = core_word(
		core_generation(crowd.page[0].core[0]) + 1, CORE_GIVEN, 1);
	broker_retire(&crowd.broker, 0);
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK_EQ(crowd_tick(), 0);
	CHECK(cores_have_news(&crowd.view[1]));
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	CHECK_EQ(cores_take_any(&crowd.view[2]), DOMAIN_NO_CORE);
}

/* The ticks until member 2 gets the core that member 1 does not take. */
static uint32_t ticks_until_given_on(bool receiver_wants)
{
	uint32_t tick = 0;

	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	crowd_want(1, receiver_wants, 50);
	crowd_want(2, 1, 40);
	while (cores_take_any(&crowd.view[2]) == DOMAIN_NO_CORE) {
		CHECK_EQ(crowd_tick(), 0);
		CHECK(++tick <= 100);
	}
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
	return tick;
}

TEST(a_core_that_nobody_takes_goes_to_another)
{
	uint32_t tick = ticks_until_given_on(true);

	CHECK(tick > options.late_ticks && tick <= options.late_ticks + 2);
	CHECK_EQ(ticks_until_given_on(false), 2);
}

/* Member 0 is not counted: it stands still. */
static void tick_without_the_first(void)
{
	member_beat(&crowd.page[1]);
	CHECK_EQ(broker_tick(&crowd.broker, false), 0);
}

TEST(a_member_that_stands_still_loses_its_cores_to_a_want)
{
	crowd_of_two(2, 30, &options);
	crowd_want(1, 1, 50);
	for (uint32_t i = 0; i < options.late_ticks + 1; i++)
		tick_without_the_first();
	CHECK_EQ(crowd_take(1), 1);
	/* It goes on, and knows what it has lost, and keeps the rest. */
	CHECK_EQ(nr_of_kind(0, CORE_BUSY), 1);
	CHECK_EQ(crowd_tick(), 0);
}

TEST(a_member_that_stands_still_keeps_what_nobody_wants)
{
	crowd_of_two(2, 30, &options);
	for (uint32_t i = 0; i < 3 * options.late_ticks; i++)
		tick_without_the_first();
	CHECK_EQ(nr_of_kind(0, CORE_BUSY), 2);
}

TEST(looks_between_two_ticks_make_nobody_late)
{
	crowd_of_two(1, 30, &options);
	crowd_want(1, 1, 50);
	for (uint32_t i = 0; i < 100; i++)
		CHECK_EQ(broker_tick(&crowd.broker, true), 0);
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
}

/* ---- rule 2 ------------------------------------------------------------------------------ */

TEST(u05_a_more_urgent_want_gets_its_core_with_the_tick)
{
	crowd_of_two(2, 30, &options);
	crowd_want(1, 1, 29);
	CHECK_EQ(crowd_obey(0), 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_obey(0), 1);
	CHECK_EQ(crowd_take(1), 1);
	crowd_run(1, 29);
	crowd_want(1, 0, 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_obey(0), 0);
}

TEST(u05_the_core_comes_of_the_member_that_runs_the_least_urgent_level)
{
	crowd_of_two(2, 30, &options);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	CHECK_EQ(crowd_take(1), 1);
	crowd_run(1, 50);
	crowd_admit(2, &usual);
	CHECK_EQ(crowd_tick(), 0);
	crowd_want(2, 1, 10);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_obey(0), 0);
	CHECK_EQ(crowd_obey(1), 1);
	CHECK_EQ(crowd_take(2), 1);
}

TEST(a_less_urgent_want_gets_nothing)
{
	crowd_of_two(2, 30, &options);
	crowd_want(1, 2, 31);
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_EQ(crowd_tick(), 0);
		CHECK_EQ(crowd_obey(0), 0);
	}
}

/* ---- rule 3 ------------------------------------------------------------------------------ */

static void equals_share(uint32_t nr_cores, uint32_t nr)
{
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };
	uint32_t ticks = 200 * nr;

	crowd_begin(nr_cores, &options);
	for (uint32_t i = 0; i < nr; i++) {
		crowd_admit(i, &usual);
		CHECK_EQ(crowd_tick(), 0);
		(void)crowd_take(i);
		crowd_run(i, i ? MEMBER_RUNS_NOTHING : 32);
	}
	crowd_compete(nr, ticks, used);
	for (uint32_t i = 0; i < nr; i++)
		crowd_check_share(used[i], (uint64_t)ticks * nr_cores, 1, nr);
}

TEST(equals_share_the_cores_evenly)
{
	equals_share(4, 2);
	equals_share(8, 4);
}

TEST(equals_take_turns_where_cores_cannot_be_divided)
{
	equals_share(1, 2);
	equals_share(1, 3);
	equals_share(3, 2);
	equals_share(2, 5);
}

TEST(even_shares_cost_no_hand_over)
{
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 }, before;

	crowd_of_two(4, 32, &options);
	crowd_compete(2, 50, used);
	before = wants_nr_given(&crowd.wants[0]) +
		 wants_nr_given(&crowd.wants[1]);
	crowd_compete(2, 200, used);
	CHECK_EQ(wants_nr_given(&crowd.wants[0]) +
			 wants_nr_given(&crowd.wants[1]),
		 before);
}

TEST(a_quantum_is_the_shortest_turn)
{
	uint64_t used[DOMAIN_MEMBERS_MAX] = { 0 };

	crowd_of_two(1, 32, &options);
	crowd_compete(2, 10 * options.quantum_ticks, used);
	CHECK_GE(10, wants_nr_given(&crowd.wants[0]) +
			     wants_nr_given(&crowd.wants[1]));
	CHECK_GE(wants_nr_given(&crowd.wants[0]), 3);
}

/*
 * The holder obeys a wish, and has the core again before the host looks: the next wish for the
 * same member is another one, and not the one that was obeyed.
 */
TEST(a_wish_that_was_obeyed_between_two_ticks_is_made_anew)
{
	uint32_t obeyed;

	crowd_of_two(1, 40, &options);
	crowd_want(1, 1, 32);
	CHECK_EQ(crowd_tick(), 0);
	obeyed = host_wish(&crowd.host, 0);
	CHECK_EQ(crowd_obey(0), 1);
	CHECK_EQ(crowd_take(1), 1);
	CHECK(cores_give(&crowd.view[1], 0, 0));
	CHECK_EQ(crowd_take(0), 1);
	crowd_want(1, 1, 32);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(wish_member(host_wish(&crowd.host, 0)), 1);
	CHECK(host_wish(&crowd.host, 0) != obeyed);
}

/* ---- options ----------------------------------------------------------------------------- */

/* Does member 1 get the core of member 0, which runs a level more urgent? */
static bool gets_old_enough(uint32_t age_ticks, uint32_t ticks)
{
	struct ledger_options ageing = options;

	ageing.age_ticks = age_ticks;
	crowd_of_two(1, 20, &ageing);
	crowd_want(1, 1, 24);
	for (uint32_t i = 0; i < ticks; i++) {
		CHECK_EQ(crowd_tick(), 0);
		if (crowd_obey(0))
			return true;
	}
	return false;
}

TEST(ru8_a_want_that_waits_becomes_more_urgent_if_the_host_is_told_so)
{
	CHECK(gets_old_enough(10, 60));
	CHECK(!gets_old_enough(10, 30));
}

TEST(ru8_without_ageing_a_less_urgent_want_waits_for_ever)
{
	CHECK(!gets_old_enough(0, 10000));
}

TEST(ru8_a_member_is_no_more_urgent_than_it_may_be)
{
	const struct ledger_terms humble = { .weight = LEDGER_WEIGHT,
					     .highest = 40 };

	crowd_begin(1, &options);
	crowd_admit(0, &usual);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(0), 1);
	crowd_run(0, 30);
	crowd_admit(1, &humble);
	crowd_want(1, 1, 0);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(crowd_tick(), 0);
		CHECK_EQ(crowd_obey(0), 0);
	}
}

TEST(ru8_a_member_runs_no_more_urgent_than_it_may)
{
	const struct ledger_terms humble = { .weight = LEDGER_WEIGHT,
					     .highest = 40 };

	crowd_begin(1, &options);
	crowd_admit(0, &humble);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(0), 1);
	crowd_run(0, 0);
	crowd_admit(1, &usual);
	crowd_want(1, 1, 39);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_obey(0), 1);
	CHECK_EQ(crowd_take(1), 1);
}

/* The limit is where its age begins to count. */
TEST(ru8_a_want_above_its_limit_grows_older_from_the_limit_on)
{
	const struct ledger_terms humble = { .weight = LEDGER_WEIGHT,
					     .highest = 34 };
	struct ledger_options ageing = options;
	uint32_t ticks = 0;

	ageing.age_ticks = 10;
	crowd_begin(1, &ageing);
	crowd_admit(0, &usual);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(0), 1);
	crowd_run(0, 30);
	crowd_admit(1, &humble);
	crowd_want(1, 1, 0);
	while (!crowd_obey(0)) {
		CHECK_EQ(crowd_tick(), 0);
		CHECK(++ticks <= 100);
	}
	/* After four times its age it is an equal. */
	CHECK_GE(ticks, 4 * ageing.age_ticks - 1);
	CHECK_GE(5 * ageing.age_ticks, ticks);
}

/* ---- members that lie --------------------------------------------------------------------- */

TEST(u15_a_core_is_not_got_by_claiming_it)
{
	uint64_t word;

	crowd_of_two(2, 30, &options);
	word = crowd.page[0].core[0];
	crowd.page[1].core[0] =
		core_word(core_generation(word) + 1, CORE_BUSY, DOMAIN_HOST);
	CHECK_EQ(crowd_tick(), 1u << 1);
	CHECK_EQ(crowd.broker.ledger.member[1].fault, LEDGER_CLAIMS);
	CHECK(cores_hold(&crowd.view[0], 0));
	CHECK_EQ(crowd_take(0), 0);
	CHECK(cores_hold(&crowd.view[0], 0));
	CHECK_EQ(host_live(&crowd.host), 1);
}

TEST(a_member_that_believed_a_liar_stays)
{
	uint64_t generation;

	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	/* The liar has given the core, and hides it. */
	generation = core_generation(crowd.page[0].core[0]) + 2;
	crowd.page[2].core[0] = core_word(generation, CORE_BUSY, 1);
	CHECK_EQ(crowd_tick(), 0);
	CHECK(!cores_hold(&crowd.view[2], 0));
	CHECK(cores_hold(&crowd.view[0], 0));
	/* With another one it does not get through with it. */
	crowd_admit(3, &usual);
	generation = core_generation(crowd.host.core[0]) + 2;
	crowd.page[3].core[0] = core_word(generation, CORE_BUSY, 1);
	CHECK_EQ(crowd_tick(), 1u << 1);
	CHECK_EQ(crowd.broker.ledger.member[1].fault, LEDGER_DISPUTES);
}

/* Member 0 has all cores, and lies; the others are honest. */
static void crowd_with_a_liar(uint32_t nr_cores, uint32_t nr)
{
	crowd_of_two(nr_cores, 30, &options);
	for (uint32_t i = 2; i < nr; i++)
		crowd_admit(i, &usual);
}

/* The liar gives @core to @to, which takes it; then it hides that.  Where it was. */
static uint64_t fool(uint32_t core, uint32_t to)
{
	uint64_t word = crowd.page[0].core[core];

	CHECK(cores_give(&crowd.view[0], core, to));
	CHECK_EQ(cores_take(&crowd.view[to]), (int)core);
	crowd.page[0].core[core] = word;
	return word;
}

/* How many members think that they have @core. */
static uint32_t nr_holders(uint32_t core)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		nr += crowd.broker.page[i] && cores_hold(&crowd.view[i], core);
	return nr;
}

TEST(a_member_that_was_fooled_for_all_cores_at_once_stays)
{
	crowd_with_a_liar(2 * LEDGER_DENIALS_MAX, 3);
	for (uint32_t core = 0; core < 2 * LEDGER_DENIALS_MAX; core++)
		(void)fool(core, 1);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(broker_tick(&crowd.broker, true), 0);
	for (uint32_t core = 0; core < 2 * LEDGER_DENIALS_MAX; core++)
		CHECK_EQ(nr_holders(core), 1);
}

TEST(a_member_that_was_fooled_believes_the_host_alone)
{
	crowd_with_a_liar(2, 3);
	(void)fool(0, 1);
	/* It keeps the core idle, and does not look at it any more. */
	CHECK(cores_leave(&crowd.view[1], 0));
	CHECK_EQ(crowd_tick(), 0);
	for (uint32_t i = 0; i < 2 * LEDGER_CLAIMS_MAX; i++) {
		(void)crowd_take(0);
		CHECK(cores_give(&crowd.view[0], 0, 1));
		CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
		CHECK(cores_give(&crowd.view[0], 1, 2));
		CHECK_EQ(cores_take_any(&crowd.view[2]), 1);
		CHECK(cores_give(&crowd.view[2], 1, 0));
		(void)crowd_take(0);
		CHECK_EQ(crowd_tick(), 0);
		/* The host has seen that this one was no lie. */
		CHECK_EQ(crowd_tick(), 0);
		(void)crowd_take(1);
		(void)cores_resume(&crowd.view[1]);
		CHECK(cores_give(&crowd.view[1], 0, 0));
		/* Nor does the liar believe it. */
		CHECK_EQ(crowd_tick(), 0);
		CHECK_EQ(crowd_tick(), 0);
	}
}

/* Core 0 goes from member 0 to @a and to @b. */
static void give_on(uint32_t a, uint32_t b)
{
	CHECK(cores_give(&crowd.view[0], 0, a));
	CHECK_EQ(cores_take(&crowd.view[a]), 0);
	CHECK(cores_give(&crowd.view[a], 0, b));
	CHECK_EQ(cores_take(&crowd.view[b]), 0);
}

TEST(a_member_that_gave_on_what_a_liar_gave_stays)
{
	uint64_t word;

	crowd_with_a_liar(1, 5);
	word = crowd.page[0].core[0];
	give_on(1, 2);
	crowd.page[0].core[0] = word;
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(nr_holders(0), 1);
	/* It may have had it of anybody, and believes nobody for a while. */
	(void)crowd_take(0);
	CHECK(cores_give(&crowd.view[0], 0, 3));
	CHECK_EQ(cores_take(&crowd.view[3]), 0);
	CHECK(cores_give(&crowd.view[3], 0, 1));
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(cores_take_any(&crowd.view[1]), 0);
	/* A liar says that often. */
	for (uint32_t i = 2; i <= LEDGER_CLAIMS_MAX; i++) {
		word = core_word(core_generation(crowd.host.core[0]) + 3,
				 CORE_GIVEN, 2);
		crowd.page[4].core[0] = word;
		CHECK_EQ(crowd_tick(), 0);
	}
	crowd.page[4].core[0] = core_word(
		core_generation(crowd.host.core[0]) + 3, CORE_GIVEN, 2);
	CHECK_EQ(crowd_tick(), 1u << 4);
}

TEST(members_to_which_a_liar_gave_one_core_do_not_contradict_each_other)
{
	uint64_t word;

	crowd_with_a_liar(1, 6);
	/* The first way: of one generation, and given on. */
	(void)fool(0, 1);
	CHECK(cores_give(&crowd.view[0], 0, 2));
	CHECK_EQ(cores_take(&crowd.view[2]), 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(nr_holders(0), 1);
	(void)crowd_take(2);
	CHECK(cores_give(&crowd.view[2], 0, 0));
	(void)crowd_take(0);
	CHECK_EQ(crowd_tick(), 0);
	/* The second: the receivers have given it on. */
	word = crowd.page[0].core[0];
	give_on(3, 4);
	crowd.page[0].core[0] = word;
	give_on(2, 5);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(nr_holders(0), 1);
}

TEST(a_member_that_a_liar_fooled_before_its_death_stays)
{
	crowd_with_a_liar(2, 3);
	(void)fool(0, 1);
	(void)fool(1, 1);
	CHECK(cores_give(&crowd.view[1], 1, 2));
	broker_retire(&crowd.broker, 0);
	CHECK_EQ(crowd_tick(), 0);
	for (uint32_t i = 0; i < 3 * LEDGER_RUMOUR_TICKS; i++)
		CHECK_EQ(crowd_tick(), 0);
}

TEST(a_give_at_the_end_of_the_window_is_no_nonsense_of_its_receiver)
{
	uint64_t word;

	crowd_with_a_liar(1, 3);
	word = crowd.page[0].core[0];
	crowd.page[0].core[0] =
		core_word(core_generation(word) + DOMAIN_WINDOW, CORE_GIVEN, 1);
	CHECK_EQ(cores_take_any(&crowd.view[1]), 0);
	CHECK(cores_give(&crowd.view[1], 0, 2));
	crowd.page[0].core[0] = word;
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(nr_holders(0), 1);
}

TEST(a_word_that_says_that_it_has_no_core_claims_none)
{
	crowd_with_a_liar(1, 3);
	crowd.page[1].core[0] = core_word(
		core_generation(crowd.page[0].core[0]) + 5, CORE_NONE, 1);
	CHECK_EQ(crowd_tick(), 0);
	CHECK(cores_hold(&crowd.view[0], 0));
	CHECK_GE(core_generation(crowd.host.core[0]),
		 core_generation(crowd.page[1].core[0]));
}

/* ---- what the host does beside its members ------------------------------------------------ */

/* A tick in which the words of the core did not stand still. */
static void tick_blindly(void)
{
	struct ledger_sights sights = crowd.broker.sights;

	sights.blurred[0] = true;
	ledger_tick(&crowd.broker.ledger, &sights, false);
	CHECK_EQ(crowd.broker.ledger.ejected, 0);
}

TEST(what_a_dead_member_did_is_not_forgotten_before_it_is_seen)
{
	const struct ledger *ledger = &crowd.broker.ledger;

	crowd_with_a_liar(1, 3);
	give_on(1, 2);
	broker_retire(&crowd.broker, 1);
	tick_blindly();
	CHECK_EQ(ledger->leaving, 1u << 1);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(ledger->leaving, 0);
	CHECK_EQ(ledger->core[0].member, 2);
	CHECK_EQ(ledger->core[0].state, LEDGER_HELD);
	CHECK_EQ(ledger->member[2].disputes, 0);
	CHECK(cores_hold(&crowd.view[2], 0));
}

TEST(a_core_that_a_dead_member_gave_unseen_is_not_freed)
{
	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	broker_retire(&crowd.broker, 0);
	tick_blindly();
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.broker.ledger.core[0].member, 1);
	CHECK(cores_hold(&crowd.view[1], 0));
}

TEST(a_core_that_never_stands_still_keeps_no_seat_for_ever)
{
	const struct ledger *ledger = &crowd.broker.ledger;
	uint32_t tick = 0;

	crowd_of_two(1, 30, &options);
	broker_retire(&crowd.broker, 0);
	do
		tick_blindly();
	while (ledger->leaving && ++tick < 100);
	CHECK_EQ(tick, LEDGER_RUMOUR_TICKS - 1);
	CHECK(ledger->core[0].state == LEDGER_FREE ||
	      ledger->core[0].member == 1);
}

TEST(what_a_giver_gave_the_host_confirms_and_does_not_give_again)
{
	uint64_t generation;

	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	crowd_want(1, 1, 20);
	CHECK(cores_give(&crowd.view[0], 0, 1));
	generation = core_generation(crowd.page[0].core[0]);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd.host.core[0], core_word(generation, CORE_GIVEN, 1));
	/* The receiver takes it of either, and once. */
	CHECK_EQ(cores_take(&crowd.view[1]), 0);
	CHECK(cores_give(&crowd.view[1], 0, 2));
	CHECK_EQ(cores_take(&crowd.view[2]), 0);
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK_EQ(nr_holders(0), 1);
	CHECK_EQ(crowd_tick(), 0);
}

TEST(a_member_may_give_a_core_often_between_two_ticks)
{
	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	for (uint32_t round = 0; round < 50; round++) {
		for (uint32_t hop = 0; hop <= test_random(30); hop++) {
			uint32_t from = crowd.broker.ledger.core[0].member;
			uint32_t to;

			for (from = 0; !cores_hold(&crowd.view[from], 0);)
				from++;
			to = (from + 1 + (uint32_t)test_random(2)) % 3;
			CHECK(cores_give(&crowd.view[from], 0, to));
			CHECK_EQ(cores_take(&crowd.view[to]), 0);
		}
		CHECK_EQ(crowd_tick(), 0);
	}
}

/* Every word of the page by chance, again and again, beside two honest members. */
static void live_beside_nonsense(uint32_t nr_cores, struct rand *rand)
{
	uint64_t *words = (uint64_t *)&crowd.page[2];
	uint64_t ejected = 0;

	crowd_of_two(nr_cores, 30, &options);
	crowd_admit(2, &usual);
	for (uint32_t tick = 0; tick < 20; tick++) {
		for (uint32_t i = 0; i < DOMAIN_PAGE_SIZE / 8; i++)
			words[i] = rand_next(rand);
		(void)crowd_take(0);
		(void)crowd_take(1);
		(void)wants_look(&crowd.wants[0], 64);
		(void)wants_serve(&crowd.wants[0], tick % nr_cores, 30);
		wants_tick(&crowd.wants[0]);
		ejected |= crowd_tick();
		if (ejected && crowd.broker.page[2])
			broker_retire(&crowd.broker, 2);
	}
	CHECK_EQ(ejected, 1u << 2);
	/* Nothing is lost: the two have, or get, all cores. */
	crowd_want(1, nr_cores, 40);
	for (uint32_t tick = 0; tick < 2 * options.late_ticks; tick++) {
		CHECK_EQ(crowd_tick(), 0);
		(void)crowd_take(0);
		(void)crowd_take(1);
	}
	CHECK_EQ(nr_of_kind(0, CORE_BUSY) + nr_of_kind(1, CORE_BUSY), nr_cores);
}

TEST(u15_a_page_full_of_nonsense_harms_its_writer_alone)
{
	struct rand rand;

	rand_seed(&rand, test_random(UINT64_MAX));
	for (uint32_t i = 0; i < 50; i++)
		live_beside_nonsense(1 + i % 8, &rand);
}

TEST(pages_full_of_nonsense_everywhere_end_no_tick_late)
{
	struct rand rand;

	rand_seed(&rand, test_random(UINT64_MAX));
	crowd_begin(DOMAIN_CORES_MAX, &options);
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		crowd_admit(i, &usual);
	for (uint32_t i = 0; i < sizeof(crowd.page) / 8; i++)
		((uint64_t *)crowd.page)[i] = rand_next(&rand);
	CHECK(crowd_tick() != 0);
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		broker_retire(&crowd.broker, i);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(host_live(&crowd.host), 0);
}

TEST(ru7_a_dead_member_is_nowhere_after_the_next_tick)
{
	crowd_of_two(2, 30, &options);
	crowd_want(0, 1, 1);
	crowd_admit(2, &usual);
	broker_retire(&crowd.broker, 0);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(host_live(&crowd.host), 6);
	for (uint32_t core = 0; core < 2; core++) {
		CHECK(core_member(crowd.host.core[core]) != 0);
		CHECK(wish_member(host_wish(&crowd.host, core)) != 0);
	}
	/* The index may be given to another one. */
	crowd_admit(0, &usual);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(cores_nr_held(&crowd.view[0]), 0);
}

/* The word of the giver is still there, and names the index. */
TEST(ru7_the_next_life_of_an_index_gets_nothing_that_the_dead_one_was_given)
{
	crowd_of_two(1, 30, &options);
	crowd_admit(2, &usual);
	crowd_admit(3, &usual);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(cores_give(&crowd.view[i], 0, i + 1));
		CHECK(i == 2 || cores_take(&crowd.view[i + 1]) == 0);
	}
	broker_retire(&crowd.broker, 1);
	CHECK_EQ(crowd_tick(), 0);
	crowd_admit(1, &usual);
	CHECK_EQ(cores_take_any(&crowd.view[1]), DOMAIN_NO_CORE);
	CHECK_EQ(cores_take(&crowd.view[3]), 0);
}

TEST(a_host_is_quiet_with_fewer_than_two_members)
{
	crowd_begin(2, &options);
	crowd_admit(0, &usual);
	CHECK(!ledger_is_quiet(&crowd.broker.ledger));
	CHECK_EQ(crowd_tick(), 0);
	CHECK(ledger_is_quiet(&crowd.broker.ledger));
	crowd_admit(1, &usual);
	CHECK(!ledger_is_quiet(&crowd.broker.ledger));
	broker_retire(&crowd.broker, 1);
	CHECK(!ledger_is_quiet(&crowd.broker.ledger));
	CHECK_EQ(crowd_tick(), 0);
	CHECK(ledger_is_quiet(&crowd.broker.ledger));
}
