/* SPDX-License-Identifier: MIT */
/*
 * sync_chan_task.c - src/sync/chan.c with tasks: the same promises as in
 * sync_chan.c; and a cancel or a deadline consumes no value and keeps no value from
 * the next task.
 *
 * Complete for one sender and one receiver with up to three values, two senders and
 * a receiver or the reverse with one or two values, a close, and a cancel, a
 * deadline or both for one task.  The models could miss mistakes that take more than
 * one cancel.
 */
#include "chan_scene.h"

static void send_one(int id)
{
	task_begin(id);
	MODEL_CHECK(send_value(id, UINT64_MAX) == 0);
}

static void send_two(int id)
{
	send_one(id);
	send_one(id);
}

static void send_three(int id)
{
	send_two(id);
	send_one(id);
}

/* Waits until cancelled. */
static void send_or_end(int id)
{
	task_begin(id);
	(void)send_value(id, UINT64_MAX);
}

static void send_soon(int id)
{
	task_begin(id);
	(void)send_value(id, LATER);
}

static void recv_one(int id)
{
	task_begin(id);
	MODEL_CHECK(recv_value(id, UINT64_MAX) == 0);
}

static void recv_two(int id)
{
	recv_one(id);
	recv_one(id);
}

static void recv_three(int id)
{
	recv_two(id);
	recv_one(id);
}

static void recv_or_end(int id)
{
	task_begin(id);
	(void)recv_value(id, UINT64_MAX);
}

static void recv_soon(int id)
{
	task_begin(id);
	(void)recv_value(id, LATER);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
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

/* ---- wake-ups ---------------------------------------------------------------------- */

MODEL(two_meet_three_times, .setup = setup_0,
      .threads = { send_three, recv_three }, .finish = nothing_left);
MODEL(one_slot_three_values, .setup = setup_1,
      .threads = { send_three, recv_three }, .finish = nothing_left);
MODEL(two_slots_three_values, .setup = setup_2,
      .threads = { send_three, recv_three }, .finish = nothing_left);
MODEL(two_senders_meet_one_receiver, .setup = setup_0,
      .threads = { send_one, send_one, recv_two }, .finish = nothing_left);
MODEL(one_sender_meets_two_receivers, .setup = setup_0,
      .threads = { send_two, recv_one, recv_one }, .finish = nothing_left);
MODEL(one_slot_two_senders, .setup = setup_1,
      .threads = { send_two, send_one, recv_three }, .finish = nothing_left);
MODEL(two_slots_two_senders, .setup = setup_2,
      .threads = { send_two, send_two, recv_two }, .finish = conserved);
MODEL(the_receiver_may_destroy_it, .setup = setup_0,
      .threads = { send_one, recv_and_destroy }, .finish = gone);
MODEL(the_sender_may_destroy_it, .setup = setup_0,
      .threads = { send_and_destroy, recv_one }, .finish = gone);

/* ---- cancels and deadlines ------------------------------------------------------------ */

/* The first value goes into the buffer, the second may have to wait. */
static void send_two_or_end(int id)
{
	send_or_end(id);
	send_or_end(id);
}

static void cancel_and_send(int id)
{
	cancel_first(id);
	send_one(id);
}

/* Sends each received value again. */
static void recv_and_resend_or_end(int id)
{
	task_begin(id);
	if (recv_value(id, UINT64_MAX) == 0)
		(void)send_value(id, UINT64_MAX);
}

/* Takes any value of the first sender, and waits for the value of the second. */
static void cancel_and_recv_from_second(int id)
{
	cancel_first(id);
	do
		recv_one(id);
	while (!ledger.received[1][0]);
}

MODEL(a_cancelled_receiver_consumes_nothing, .setup = setup_1,
      .threads = { recv_or_end, send_one, cancel_first }, .finish = conserved);
MODEL(a_cancelled_receiver_met_nobody, .setup = setup_0_timed,
      .threads = { recv_or_end, send_soon, cancel_first }, .finish = conserved);
MODEL(a_cancelled_sender_met_nobody, .setup = setup_0_timed,
      .threads = { send_or_end, recv_soon, cancel_first }, .finish = conserved);
MODEL(a_cancelled_sender_has_sent_nothing, .setup = setup_1,
      .threads = { send_two_or_end, recv_one, cancel_first },
      .finish = conserved);
MODEL(a_cancelled_receiver_leaves_it_to_the_next, .setup = setup_1,
      .threads = { recv_and_resend_or_end, recv_one, cancel_and_send },
      .finish = nothing_left);
MODEL(a_cancelled_sender_lets_the_next_one_send, .setup = setup_0,
      .threads = { send_or_end, send_one, cancel_and_recv_from_second },
      .finish = nothing_left);
MODEL(wake_and_deadline_and_cancel, .setup = setup_1_timed,
      .threads = { recv_soon, send_one, cancel_first }, .finish = conserved);
MODEL(wake_and_deadline_and_cancel_of_a_sender, .setup = setup_0_timed,
      .threads = { send_soon, recv_soon, cancel_first }, .finish = conserved);

/* ---- close ------------------------------------------------------------------------------- */

static void close_it(int id)
{
	task_begin(id);
	sley_chan_close(chan);
}

static void send_and_close(int id)
{
	send_one(id);
	sley_chan_close(chan);
}

static void recv_all(int id)
{
	task_begin(id);
	while (recv_value(id, UINT64_MAX) == 0)
		;
}

static void recv_soon_and_again(int id)
{
	recv_soon(id);
	recv_soon(id);
}

MODEL(a_close_ends_who_waits_to_receive, .setup = setup_0,
      .threads = { send_and_close, recv_all, recv_all },
      .finish = nothing_left);
MODEL(a_close_ends_both_sides, .setup = setup_0,
      .threads = { send_two_or_end, recv_all, close_it },
      .finish = nothing_left);
MODEL(a_close_ends_both_sides_of_one_slot, .setup = setup_1,
      .threads = { send_two_or_end, recv_all, close_it },
      .finish = nothing_left);
MODEL(a_close_and_a_cancel, .setup = setup_0,
      .threads = { recv_or_end, close_it, cancel_first },
      .finish = nothing_left);
MODEL(a_close_and_a_deadline, .setup = setup_1_timed,
      .threads = { recv_soon_and_again, send_and_close }, .finish = conserved);
