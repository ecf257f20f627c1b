/* SPDX-License-Identifier: MIT */
/*
 * subprocess_call_ring.c - the program's side of a ring whose other side lies.
 *
 * This test is the subprocess, and writes what a broken subprocess could write.
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

static struct sley_subprocess *subprocess;
static struct subprocess_calls ended;
static struct subprocess_call calls[6];
static struct sley_subprocess_result results[6];

static struct call_slot *slot_of(uint32_t number)
{
	return call_slot(subprocess->ring, DEPTH, number);
}

static void begin_at(uint32_t number)
{
	subprocess = calloc(1, sizeof(*subprocess) +
				       DEPTH * sizeof(subprocess->calls[0]));
	subprocess->ring = aligned_alloc(CACHE_LINE, call_ring_size(DEPTH));
	memset(subprocess->ring, 0, call_ring_size(DEPTH));
	subprocess->options.depth = DEPTH;
	subprocess->endpoint.name = "liar";
	subprocess->phase = LIFE_RUNNING;
	subprocess->life = LIFE;
	subprocess->asked = subprocess->collected = number;
	snprintf(subprocess->death, sizeof(subprocess->death), "is dead");
	call_ring_reset(subprocess->ring, LIFE, number);
	subprocess_calls_init(&subprocess->queue);
	subprocess_calls_init(&ended);
	memset(calls, 0, sizeof(calls));
}

static void end(void)
{
	free(subprocess->ring);
	free(subprocess);
}

static void ask(int nr)
{
	for (int i = 0; i < nr; i++) {
		calls[i].result = &results[i];
		results[i] = (struct sley_subprocess_result){ .data = NULL };
		subprocess_calls_add(&subprocess->queue, &calls[i]);
	}
	CHECK(!subprocess_bring(subprocess));
}

/* As a subprocess that works. */
static void answer(uint32_t number, int code)
{
	struct call_slot *slot = slot_of(number);

	slot->answer_life = LIFE;
	slot->answer_number = number;
	slot->code = code;
	slot->result_size = 0;
	(void)!call_ring_answer(subprocess->ring);
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
	begin_at(COUNT_WORD_MASK - 1); /* counts wrap */
	ask(6);
	CHECK_EQ(subprocess_in_ring(subprocess), DEPTH);
	CHECK(subprocess->queue.first == &calls[4]);
	answer(COUNT_WORD_MASK - 1, 10);
	answer(COUNT_WORD_MASK, 11);
	answer(0, 12);
	subprocess_collect(subprocess, &ended);
	CHECK_EQ(nr_ended(), 3);
	CHECK_EQ(results[2].code, 12);
	CHECK(!calls[3].finished);
	CHECK(!subprocess_bring(subprocess));
	CHECK(!subprocess->queue.first);
	CHECK_EQ(subprocess_in_ring(subprocess), 3);
	CHECK_EQ(slot_of(3)->number, 3);
	CHECK(!subprocess->broken);
	end();
}

TEST(s23_more_answers_than_calls_are_a_lie)
{
	begin_at(5);
	ask(2);
	for (uint32_t i = 5; i < 8; i++)
		answer(i, 0);
	subprocess_collect(subprocess, &ended);
	CHECK(subprocess->broken);
	CHECK_EQ(nr_ended(), 0);
	end();
}

TEST(s23_a_count_that_goes_back_is_a_lie)
{
	begin_at(5);
	ask(2);
	store_relaxed(&subprocess->ring->done, 3 * COUNT_WORD_ONE);
	subprocess_collect(subprocess, &ended);
	CHECK(subprocess->broken);
	end();
}

TEST(s23_an_answer_of_an_earlier_life_is_a_lie)
{
	begin_at(0);
	ask(2);
	answer(0, 1);
	answer(1, 2);
	slot_of(1)->answer_life = LIFE - 1;
	subprocess_collect(subprocess, &ended);
	CHECK_EQ(nr_ended(), 1);
	CHECK(subprocess->broken);
	CHECK(!calls[1].finished);
	end();
}

TEST(s23_an_answer_to_another_call_is_a_lie)
{
	begin_at(0);
	ask(2);
	answer(0, 1);
	slot_of(0)->answer_number = 1;
	subprocess_collect(subprocess, &ended);
	CHECK_EQ(nr_ended(), 0);
	CHECK(subprocess->broken);
	end();
}

TEST(s23_a_result_larger_than_its_room_is_a_lie)
{
	begin_at(0);
	ask(1);
	answer(0, 1);
	slot_of(0)->result_size = SLEY_SUBPROCESS_DATA_MAX + 1;
	subprocess_collect(subprocess, &ended);
	CHECK_EQ(nr_ended(), 0);
	CHECK(subprocess->broken);
	end();
}

/* The room of the crate counts, as the program remembers it. */
TEST(s23_a_result_larger_than_its_crate_is_a_lie)
{
	struct crate crate = { .begin = CRATE_UNIT,
			       .size = 2 * CRATE_UNIT,
			       .room = 100000 };

	for (uint64_t more = 0; more < 2; more++) {
		begin_at(0);
		calls[0].crate = &crate;
		ask(1);
		CHECK_EQ(slot_of(0)->result_at, CRATE_UNIT);
		CHECK_EQ(slot_of(0)->crate_end, 3 * CRATE_UNIT);
		CHECK_EQ(slot_of(0)->arg_at, 0);
		answer(0, 1);
		slot_of(0)->result_size = crate.room + more;
		slot_of(0)->result_at = 1; /* nobody reads these again */
		slot_of(0)->crate_end = 1;
		subprocess_collect(subprocess, &ended);
		CHECK_EQ(nr_ended(), !more);
		CHECK_EQ(subprocess->broken, more);
		end();
	}
}

/* What the dead one could write to goes back to its caller: in the ring, in the queue. */
TEST(s24_a_death_sends_crates_with_arguments_back)
{
	struct crate spoilt = { .arg_size = 5000, .life = LIFE };
	struct crate fresh = { .arg_size = 5000, .life = LIFE + 1 };
	struct crate result = { .room = 5000 };

	begin_at(0);
	calls[1].crate = calls[4].crate = &spoilt;
	calls[2].crate = calls[5].crate = &result;
	ask(6);
	call_ring_begin(subprocess->ring, 0);
	subprocess->calls[3].call = NULL; /* given up */
	subprocess->calls[3].crate = &fresh;
	subprocess_take_back(subprocess, &ended);
	CHECK(subprocess->crates.left == &fresh);
	subprocess->life++;
	subprocess_send_spoilt_back(subprocess, &ended);
	CHECK_EQ(nr_ended(), 3);
	CHECK(calls[1].again && calls[4].again);
	CHECK_EQ(results[0].code, SLEY_ECHILD);
	CHECK(!calls[0].again);
	CHECK(subprocess->queue.first == &calls[2]);
	CHECK(calls[2].next == &calls[5]);
	CHECK(subprocess->queue.last == &calls[5].next);
	/* Its caller has written to it in an earlier life, or in this one. */
	subprocess_calls_init(&ended);
	subprocess_enqueue(subprocess, &calls[4], &ended);
	CHECK_EQ(nr_ended(), 1);
	calls[3].crate = &fresh;
	subprocess_enqueue(subprocess, &calls[3], &ended);
	CHECK_EQ(nr_ended(), 1);
	CHECK(calls[5].next == &calls[3]);
	end();
}

TEST(a_crate_that_was_given_up_is_left_when_its_answer_comes)
{
	struct crate crate = { .arg_size = 5000, .room = 5000 };

	begin_at(0);
	calls[0].crate = &crate;
	ask(2);
	subprocess->calls[0].call = NULL;
	subprocess_collect(subprocess, &ended);
	CHECK(!subprocess->crates.left);
	CHECK(!subprocess_wants_care(subprocess));
	answer(0, 0);
	answer(1, 0);
	subprocess_collect(subprocess, &ended);
	CHECK_EQ(nr_ended(), 1);
	CHECK(subprocess->crates.left == &crate);
	CHECK(subprocess_wants_care(subprocess));
	end();
}

TEST(s23_a_liar_is_asked_nothing_more_and_all_it_had_fails)
{
	begin_at(0);
	ask(5);
	subprocess->broken = true;
	CHECK(!subprocess_bring(subprocess));
	CHECK(subprocess->queue.first == &calls[4]);
	subprocess_take_back(subprocess, &ended);
	CHECK_EQ(nr_ended(), 4);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(results[i].code, SLEY_ECHILD);
		CHECK_EQ(results[i].outcome, SLEY_OUTCOME_ENDPOINT);
	}
	CHECK_STR(results[0].text, "liar is dead");
	CHECK(subprocess->queue.first == &calls[4]);
	end();
}

TEST(s22_a_text_without_an_end_is_cut)
{
	begin_at(0);
	ask(1);
	memset(slot_of(0)->text, 'x', SLEY_SUBPROCESS_TEXT_MAX);
	answer(0, -EDOM);
	subprocess_collect(subprocess, &ended);
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
	call_ring_begin(subprocess->ring, 1);
	subprocess->calls[2].call = NULL; /* given up */
	subprocess_take_back(subprocess, &ended);
	CHECK_EQ(nr_ended(), 2);
	CHECK_EQ(results[0].code, 3);
	CHECK_EQ(results[1].code, SLEY_ECHILD);
	CHECK(subprocess->queue.first == &calls[3]);
	CHECK(calls[3].next == &calls[4]);
	CHECK(calls[4].next == &calls[5]);
	CHECK(subprocess->queue.last == &calls[5].next);
	CHECK_EQ(subprocess_in_ring(subprocess), 0);
	end();
}

TEST(s24_a_liar_about_what_it_began_has_begun_all)
{
	begin_at(10);
	ask(3);
	store_relaxed(&subprocess->ring->begun, 3);
	subprocess_take_back(subprocess, &ended);
	CHECK_EQ(nr_ended(), 3);
	CHECK(!subprocess->queue.first);
	CHECK(subprocess->queue.last == &subprocess->queue.first);
	end();
}

TEST(the_eventfd_is_signalled_for_callers_that_wait)
{
	begin_at(0);
	ask(1);
	CHECK(!call_ring_answer(subprocess->ring));
	CHECK_EQ(call_ring_watch(subprocess->ring, CALL_RING_COLLECTOR), 1);
	CHECK_EQ(call_ring_answer(subprocess->ring), CALL_RING_COLLECTOR);
	/* Once, until somebody looks. */
	CHECK(!call_ring_answer(subprocess->ring));
	CHECK_EQ(call_ring_watch(subprocess->ring, CALL_RING_WORKER), 3);
	CHECK_EQ(call_ring_answer(subprocess->ring), CALL_RING_WORKER);
	CHECK_EQ(call_ring_watch(subprocess->ring, CALL_RING_SIGNALS), 4);
	CHECK_EQ(call_ring_answer(subprocess->ring), CALL_RING_SIGNALS);
	CHECK(!call_ring_answer(subprocess->ring));
	CHECK_EQ(call_ring_done(subprocess->ring), 6);
	end();
}

TEST(stop_is_there_to_stay)
{
	begin_at(0);
	call_ring_stop(subprocess->ring);
	ask(1);
	CHECK_EQ(call_ring_await(subprocess->ring, 0),
		 COUNT_WORD_ONE | COUNT_WORD_STOP);
	CHECK_EQ(call_ring_await(subprocess->ring, 1),
		 COUNT_WORD_ONE | COUNT_WORD_STOP);
	end();
}
