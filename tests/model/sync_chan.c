/* SPDX-License-Identifier: MIT */
/*
 * sync_chan.c - src/sync/chan.c with plain threads: each value that goes in comes
 * out once, in the order of its sender, or stays in the buffer; a close leaves no
 * thread waiting, and loses no sent value.
 *
 * A value is the address of plain memory that the sender has written before.  The
 * buffer has one or two slots, and begins with the last slot, so that the buffer
 * wraps around at once; with capacity 0 the two sides meet.  Memory is the
 * explorer's: a buffer that is freed too early, twice or never is seen.
 *
 * Complete for one sender and one receiver with up to three values, two of one and
 * one of the other with one or two values, a close or a deadline against both, and
 * two senders that grow an unbounded channel at once, which begins with one slot
 * here.  sync_chan_task.c has the same with tasks, and cancels; sync_select.c waits
 * for several channels.  The models could miss mistakes that take more than two
 * values in a bounded buffer.
 */
#include "chan_scene.h"

static void send_one(int id)
{
	MODEL_CHECK(send_value(id, UINT64_MAX) == 0);
}

static void send_two(int id)
{
	send_one(id);
	send_one(id);
}

static void send_three(int id)
{
	send_one(id);
	send_two(id);
}

static void send_soon(int id)
{
	(void)send_value(id, LATER);
}

static void send_try(int id)
{
	(void)send_value(id, 0);
}

static void recv_one(int id)
{
	MODEL_CHECK(recv_value(id, UINT64_MAX) == 0);
}

static void recv_two(int id)
{
	recv_one(id);
	recv_one(id);
}

static void recv_three(int id)
{
	recv_one(id);
	recv_two(id);
}

static void recv_soon(int id)
{
	(void)recv_value(id, LATER);
}

static void recv_try(int id)
{
	(void)recv_value(id, 0);
}

/* What it got it sends again. */
static void recv_and_resend(int id)
{
	if (recv_value(id, LATER) == 0)
		send_one(id);
}

static void recv_and_destroy(int id)
{
	recv_one(id);
	sley_chan_destroy(chan);
	chan = NULL;
}

static void send_and_destroy(int id)
{
	send_one(id);
	sley_chan_destroy(chan);
	chan = NULL;
}

/* ---- capacity 0 ------------------------------------------------------------------ */

MODEL(two_meet, .setup = setup_0, .threads = { send_one, recv_one },
      .finish = nothing_left);
MODEL(two_meet_twice, .setup = setup_0, .threads = { send_two, recv_two },
      .finish = nothing_left);
MODEL(the_receiver_may_destroy_it, .setup = setup_0,
      .threads = { send_one, recv_and_destroy }, .finish = gone);
MODEL(the_sender_may_destroy_it, .setup = setup_0,
      .threads = { send_and_destroy, recv_one }, .finish = gone);
MODEL(two_meet_or_time_out, .setup = setup_0,
      .threads = { send_soon, recv_soon }, .finish = conserved);
MODEL(two_senders_meet_one_receiver, .setup = setup_0,
      .threads = { send_one, send_one, recv_two }, .finish = nothing_left);
MODEL(two_senders_time_out_or_meet_one_receiver, .setup = setup_0,
      .threads = { send_soon, send_soon, recv_soon }, .finish = conserved);
MODEL(one_sender_meets_two_receivers_or_they_time_out, .setup = setup_0,
      .threads = { send_soon, recv_soon, recv_soon }, .finish = conserved);
MODEL(a_deadline_does_not_keep_it_from_the_next, .setup = setup_0,
      .threads = { send_one, recv_one, recv_and_resend },
      .finish = nothing_left);
MODEL(who_only_tries_meets_who_waits, .setup = setup_0,
      .threads = { send_try, recv_soon, recv_try }, .finish = conserved);

/* ---- capacity 1 and 2 --------------------------------------------------------------- */

MODEL(one_slot_three_values, .setup = setup_1,
      .threads = { send_three, recv_three }, .finish = nothing_left);
MODEL(two_slots_three_values, .setup = setup_2,
      .threads = { send_three, recv_three }, .finish = nothing_left);
MODEL(one_slot_and_the_receiver_destroys_it, .setup = setup_1,
      .threads = { send_one, recv_and_destroy }, .finish = gone);
MODEL(one_slot_two_senders, .setup = setup_1,
      .threads = { send_one, send_one, recv_two }, .finish = nothing_left);
MODEL(one_slot_two_receivers, .setup = setup_1,
      .threads = { send_two, recv_one, recv_one }, .finish = nothing_left);
MODEL(one_slot_and_deadlines, .setup = setup_1,
      .threads = { send_soon, send_soon, recv_soon }, .finish = conserved);
MODEL(one_slot_and_who_only_tries, .setup = setup_1,
      .threads = { send_soon, send_try, recv_try }, .finish = conserved);

/* ---- close ----------------------------------------------------------------------------- */

/* Until it is closed. */
static void recv_all(int id)
{
	while (recv_value(id, UINT64_MAX) == 0)
		;
}

static void send_until_closed(int id)
{
	(void)(send_value(id, UINT64_MAX) || send_value(id, UINT64_MAX));
}

static void send_and_close(int id)
{
	send_one(id);
	sley_chan_close(chan);
}

static void close_it(int id)
{
	(void)id;
	sley_chan_close(chan);
}

MODEL(a_close_comes_after_what_was_sent, .setup = setup_1,
      .threads = { send_and_close, recv_all }, .finish = nothing_left);
MODEL(a_close_ends_who_waits_to_receive, .setup = setup_0,
      .threads = { send_and_close, recv_all, recv_all },
      .finish = nothing_left);
MODEL(a_close_ends_both_sides, .setup = setup_0,
      .threads = { send_until_closed, recv_all, close_it },
      .finish = nothing_left);
MODEL(a_close_ends_both_sides_of_one_slot, .setup = setup_1,
      .threads = { send_until_closed, recv_all, close_it },
      .finish = nothing_left);
MODEL(a_close_ends_senders_of_a_full_one, .setup = setup_1,
      .threads = { send_until_closed, send_until_closed, close_it },
      .finish = conserved);

/* ---- unbounded -------------------------------------------------------------------------- */

MODEL(two_grow_it_at_once, .setup = setup_unbounded,
      .threads = { send_one, send_one, recv_soon }, .finish = conserved);
MODEL(who_grows_it_slowly_does_not_shrink_it, .setup = setup_unbounded,
      .threads = { send_one, send_three }, .finish = conserved);
MODEL(it_grows_while_it_is_wrapped, .setup = setup_unbounded,
      .threads = { send_three, recv_two }, .finish = conserved);
