/* SPDX-License-Identifier: MIT */
/*
 * subprocess_call_ring.c - the program's side of a ring whose other side lies.
 *
 * The child is this test: it writes what a mad one could.
 */
#include "harness/test.h"

#include "subprocess/subprocess.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 4
#define LIFE 7

static struct sley_subprocess *child;
static struct subprocess_calls ended;
static struct subprocess_call calls[6];
static struct sley_subprocess_result results[6];

static struct call_slot *slot_of(uint32_t number)
{
	return call_slot(child->ring, DEPTH, number);
}

static void begin_at(uint32_t number)
{
	child = calloc(1, sizeof(*child) + DEPTH * sizeof(child->calls[0]));
	child->ring = aligned_alloc(CACHE_LINE, call_ring_size(DEPTH));
	memset(child->ring, 0, call_ring_size(DEPTH));
	child->options.depth = DEPTH;
	child->endpoint.name = "liar";
	child->phase = LIFE_RUNNING;
	child->life = LIFE;
	child->asked = child->collected = number;
	snprintf(child->death, sizeof(child->death), "is dead");
	call_ring_reset(child->ring, LIFE, number);
	subprocess_calls_init(&child->queue);
	subprocess_calls_init(&ended);
	memset(calls, 0, sizeof(calls));
}

static void end(void)
{
	free(child->ring);
	free(child);
}

static void ask(int nr)
{
	for (int i = 0; i < nr; i++) {
		calls[i].result = &results[i];
		results[i] = (struct sley_subprocess_result){ .data = NULL };
		subprocess_calls_add(&child->queue, &calls[i]);
	}
	CHECK(!subprocess_bring(child));
}

/* As a child that is in its right mind. */
static void answer(uint32_t number, int code)
{
	struct call_slot *slot = slot_of(number);

	slot->answer_life = LIFE;
	slot->answer_number = number;
	slot->code = code;
	slot->result_size = 0;
	(void)!call_ring_answer(child->ring);
}

static int nr_ended(void)
{
	int nr = 0;

	for (struct subprocess_call *call = ended.first; call;
	     call = call->next)
		nr++;
	return nr;
}

TEST(answers_come_in_order_and_make_room)
{
	begin_at(CALL_RING_COUNT_MASK - 1); /* counts wrap */
	ask(6);
	CHECK_EQ(subprocess_in_ring(child), DEPTH);
	CHECK(child->queue.first == &calls[4]);
	answer(CALL_RING_COUNT_MASK - 1, 10);
	answer(CALL_RING_COUNT_MASK, 11);
	answer(0, 12);
	subprocess_collect(child, &ended);
	CHECK_EQ(nr_ended(), 3);
	CHECK_EQ(results[2].code, 12);
	CHECK(!calls[3].finished);
	CHECK(!subprocess_bring(child));
	CHECK(!child->queue.first);
	CHECK_EQ(subprocess_in_ring(child), 3);
	CHECK_EQ(slot_of(3)->number, 3);
	CHECK(!child->broken);
	end();
}

TEST(s23_more_answers_than_calls_are_a_lie)
{
	begin_at(5);
	ask(2);
	for (uint32_t i = 5; i < 8; i++)
		answer(i, 0);
	subprocess_collect(child, &ended);
	CHECK(child->broken);
	CHECK_EQ(nr_ended(), 0);
	end();
}

TEST(s23_a_count_that_goes_back_is_a_lie)
{
	begin_at(5);
	ask(2);
	store_relaxed(&child->ring->done, 3 * CALL_RING_ONE);
	subprocess_collect(child, &ended);
	CHECK(child->broken);
	end();
}

TEST(s23_an_answer_of_an_earlier_life_is_a_lie)
{
	begin_at(0);
	ask(2);
	answer(0, 1);
	answer(1, 2);
	slot_of(1)->answer_life = LIFE - 1;
	subprocess_collect(child, &ended);
	CHECK_EQ(nr_ended(), 1);
	CHECK(child->broken);
	CHECK(!calls[1].finished);
	end();
}

TEST(s23_an_answer_to_another_call_is_a_lie)
{
	begin_at(0);
	ask(2);
	answer(0, 1);
	slot_of(0)->answer_number = 1;
	subprocess_collect(child, &ended);
	CHECK_EQ(nr_ended(), 0);
	CHECK(child->broken);
	end();
}

TEST(s23_a_result_larger_than_its_room_is_a_lie)
{
	begin_at(0);
	ask(1);
	answer(0, 1);
	slot_of(0)->result_size = SLEY_SUBPROCESS_DATA_MAX + 1;
	subprocess_collect(child, &ended);
	CHECK_EQ(nr_ended(), 0);
	CHECK(child->broken);
	end();
}

TEST(s23_a_liar_is_asked_nothing_more_and_all_it_had_fails)
{
	begin_at(0);
	ask(5);
	child->broken = true;
	CHECK(!subprocess_bring(child));
	CHECK(child->queue.first == &calls[4]);
	subprocess_take_back(child, &ended);
	CHECK_EQ(nr_ended(), 4);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(results[i].code, SLEY_ECHILD);
		CHECK_EQ(results[i].outcome, SLEY_OUTCOME_ENDPOINT);
	}
	CHECK_STR(results[0].text, "liar is dead");
	CHECK(child->queue.first == &calls[4]);
	end();
}

TEST(s22_a_text_without_an_end_is_cut)
{
	begin_at(0);
	ask(1);
	memset(slot_of(0)->text, 'x', SLEY_SUBPROCESS_TEXT_MAX);
	answer(0, -EDOM);
	subprocess_collect(child, &ended);
	CHECK_EQ(nr_ended(), 1);
	CHECK_EQ(strlen(results[0].text), SLEY_SUBPROCESS_TEXT_MAX - 1);
	end();
}

/* Answered, begun, not begun, given up, queued: each goes its way, in order. */
TEST(s24_a_death_takes_what_was_begun)
{
	begin_at(0);
	ask(6);
	answer(0, 3);
	call_ring_begin(child->ring, 1);
	child->calls[2] = NULL; /* given up */
	subprocess_take_back(child, &ended);
	CHECK_EQ(nr_ended(), 2);
	CHECK_EQ(results[0].code, 3);
	CHECK_EQ(results[1].code, SLEY_ECHILD);
	CHECK(child->queue.first == &calls[3]);
	CHECK(calls[3].next == &calls[4]);
	CHECK(calls[4].next == &calls[5]);
	CHECK(child->queue.last == &calls[5].next);
	CHECK_EQ(subprocess_in_ring(child), 0);
	end();
}

TEST(s24_a_liar_about_what_it_began_has_begun_all)
{
	begin_at(10);
	ask(3);
	store_relaxed(&child->ring->begun, 3);
	subprocess_take_back(child, &ended);
	CHECK_EQ(nr_ended(), 3);
	CHECK(!child->queue.first);
	CHECK(child->queue.last == &child->queue.first);
	end();
}

TEST(the_bell_is_rung_for_those_who_wait)
{
	begin_at(0);
	ask(1);
	CHECK(!call_ring_answer(child->ring));
	CHECK_EQ(call_ring_watch(child->ring), 1);
	CHECK(call_ring_answer(child->ring));
	/* Once, until somebody looks. */
	CHECK(!call_ring_answer(child->ring));
	CHECK_EQ(call_ring_done(child->ring), 3);
	end();
}

TEST(stop_is_there_to_stay)
{
	begin_at(0);
	call_ring_stop(child->ring);
	ask(1);
	CHECK_EQ(call_ring_await(child->ring, 0),
		 CALL_RING_ONE | CALL_RING_STOP);
	CHECK_EQ(call_ring_await(child->ring, 1),
		 CALL_RING_ONE | CALL_RING_STOP);
	end();
}
