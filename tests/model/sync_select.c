/* SPDX-License-Identifier: MIT */
/*
 * sync_select.c - src/sync/select.c with plain threads and with tasks: two
 * selecters that meet in two channels, a selecter against a send, a close, a
 * deadline and a cancel.
 *
 * The channels have capacity 0, so each value that goes in must come out.  A value
 * is the address of plain memory that the sender has written.  Each select may begin
 * with either of its cases.  Where no other thread needs the channels after the
 * select, the selecter frees the channels at once, so that a peer that still touches
 * a channel is seen.
 *
 * Complete for two selecters of two cases, alone and with a third party that
 * receives, closes or cancels, and for one selecter against two other threads.  The
 * models could miss mistakes that take three channels, two cases of one channel with
 * a selecting peer, or buffers: buffers are in sync_chan.c, where they are under the
 * same lock.
 */
#include "tasks_only.h"

#include "sync/chan.h"
#include "sync/select.h"

static struct sley_chan *chan[2];
static int payload[2]; /* for each channel, by its only sender */
static struct ledger {
	int sent[2], got[2]; /* per channel */
	int closed, gave_up;
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	for (int i = 0; i < 2; i++) {
		payload[i] = 0;
		chan[i] = model_alloc(sizeof(*chan[i]));
		chan[i]->value_size = sizeof(int *);
		model_lock_word(&chan[i]->recv.word);
		model_name(&chan[i]->recv.word, "chan%d", i);
	}
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void free_channels(void)
{
	for (int i = 0; i < 2; i++) {
		MODEL_CHECK(!chan[i]->recv.first && !chan[i]->send.first);
		model_free(chan[i]);
	}
}

/* All values that went in came out. */
static void settled(void)
{
	for (int i = 0; i < 2; i++)
		MODEL_CHECK(ledger.sent[i] == ledger.got[i] &&
			    !chan[i]->recv.word);
	free_channels();
}

/* The value for channel @which. */
static int *value_of(int which)
{
	payload[which] = 7 + which;
	return &payload[which];
}

static void note_got(int which, const int *value)
{
	MODEL_CHECK(*value == 7 + which);
	ledger.got[which]++;
}

static int select_of(struct sley_case *cases, uint64_t deadline_ns)
{
	int went = select_from(cases, 2, (unsigned int)model_choose(2),
			       deadline_ns);
	int which;

	MODEL_CHECK(went == 0 || went == 1 || went == -ETIMEDOUT ||
		    went == -ECANCELED);
	ledger.gave_up += went < 0;
	if (went < 0)
		return went;
	which = cases[went].chan == chan[1];
	if (cases[went].status)
		ledger.closed++;
	else if (cases[went].kind == SLEY_SEND)
		ledger.sent[which]++;
	else
		note_got(which, *(int **)cases[went].value);
	return went;
}

/* ---- two selecters, two channels, both ways ---------------------------------- */

/* Thread 0 sends into channel 0, thread 1 into channel 1. */
static int duel(int id, uint64_t deadline_ns)
{
	int *out = value_of(id), *in = NULL;
	struct sley_case cases[] = {
		SLEY_CASE_SEND(chan[id], &out),
		SLEY_CASE_RECV(chan[!id], &in),
	};
	int went = select_of(cases, deadline_ns);

	if (went < 0 || cases[went].status)
		MODEL_CHECK(!in);
	return went;
}

static void dueller(int id)
{
	MODEL_CHECK(duel(id, UINT64_MAX) >= 0);
}

static void dueller_timed(int id)
{
	(void)duel(id, LATER);
}

static void one_went(void)
{
	MODEL_CHECK(ledger.sent[0] + ledger.sent[1] == 1);
	settled();
}

MODEL(two_selecters_meet_once, .setup = setup, .threads = { dueller, dueller },
      .finish = one_went);

MODEL(two_selecters_meet_or_time_out, .setup = setup,
      .threads = { dueller_timed, dueller_timed }, .finish = settled);

/* Takes from channel 0 the value that thread 1 could have taken. */
static void rival(int id)
{
	int *in = NULL;
	int err = sley_chan_recv_until(chan[0], &in, LATER);

	(void)id;
	MODEL_CHECK(err == 0 || (err == -ETIMEDOUT && !in));
	if (!err)
		note_got(0, in);
}

MODEL(two_selecters_and_a_receiver_or_time_out, .setup = setup,
      .threads = { dueller_timed, dueller_timed, rival }, .finish = settled);

/* ---- a selecter and users of one channel ------------------------------------- */

/* Until channel 0 has given its value and channel 1 is closed. */
static void receiver(int id)
{
	int *in = NULL;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(chan[0], &in),
		SLEY_CASE_RECV(chan[1], &in),
	};

	(void)id;
	for (int i = 0; i < 2; i++) {
		int went = select_of(cases, UINT64_MAX);

		MODEL_CHECK(went == 0 || went == 1);
		MODEL_CHECK(cases[went].status == (went ? -EPIPE : 0));
		cases[went].chan = NULL;
	}
}

static void sender(int id)
{
	int *out = value_of(0);

	(void)id;
	MODEL_CHECK(sley_chan_send(chan[0], &out) == 0);
	ledger.sent[0]++;
}

static void closer(int id)
{
	(void)id;
	sley_chan_close(chan[1]);
}

static void one_of_each(void)
{
	MODEL_CHECK(ledger.got[0] == 1 && ledger.closed == 1);
	settled();
}

MODEL(a_selecter_a_send_and_a_close, .setup = setup,
      .threads = { receiver, sender, closer }, .finish = one_of_each,
      .slow_modes = MODEL_TSO);

/* ---- the selecter frees after the return ------------------------------------- */

static void receiver_frees(int id)
{
	int *in = NULL;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(chan[0], &in),
		SLEY_CASE_RECV(chan[1], &in),
	};

	(void)id;
	MODEL_CHECK(select_of(cases, UINT64_MAX) == 0);
	free_channels();
}

static void both_counted(void)
{
	MODEL_CHECK(ledger.sent[0] == 1 && ledger.got[0] == 1);
}

MODEL(a_selecter_may_free_what_it_waited_for, .setup = setup,
      .threads = { receiver_frees, sender }, .finish = both_counted);

/* ---- a deadline --------------------------------------------------------------- */

static void receiver_timed(int id)
{
	int *in = NULL;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(chan[0], &in),
		SLEY_CASE_RECV(chan[1], &in),
	};
	int went = select_of(cases, LATER);

	(void)id;
	MODEL_CHECK(went >= 0 || !in);
}

static void sender_timed(int id)
{
	int which = id - 1, *out = value_of(which);
	int err = sley_chan_send_until(chan[which], &out, LATER);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	ledger.sent[which] += err == 0;
}

MODEL(a_selecter_and_two_senders_and_their_deadlines, .setup = setup,
      .threads = { receiver_timed, sender_timed, sender_timed },
      .finish = settled);

/* ---- a close, and cases of both directions ------------------------------------ */

/* Closes channel 0: thread 0 sends there, and thread 1 waits to receive. */
static void close_first(int id)
{
	(void)id;
	sley_chan_close(chan[0]);
}

/* A thread that is left alone in channel 1 must be released, too. */
static void close_both(int id)
{
	(void)id;
	sley_chan_close(chan[0]);
	sley_chan_close(chan[1]);
}

static void met_or_closed(void)
{
	int met = ledger.sent[0] + ledger.sent[1];

	MODEL_CHECK(met <= 1 && ledger.closed == 2 - 2 * met);
	settled();
}

MODEL(two_selecters_meet_or_a_close_ends_both, .setup = setup,
      .threads = { dueller, dueller, close_first }, .finish = met_or_closed);

/* Waits to send into channel 0 and to receive there: a select never meets itself. */
static void both_ways(uint64_t deadline_ns)
{
	int *out = value_of(0), *in = NULL;
	struct sley_case cases[] = {
		SLEY_CASE_SEND(chan[0], &out),
		SLEY_CASE_RECV(chan[0], &in),
	};
	int went = select_of(cases, deadline_ns);

	MODEL_CHECK(went < 0 || cases[went].status == -EPIPE);
	MODEL_CHECK(!in);
}

static void alone_both_ways(int id)
{
	(void)id;
	both_ways(UINT64_MAX);
}

static void ended_by_close(void)
{
	MODEL_CHECK(ledger.closed == 1);
	settled();
}

MODEL(a_close_ends_who_waits_for_both_ways, .setup = setup,
      .threads = { alone_both_ways, close_both }, .finish = ended_by_close);

/* ---- tasks ----------------------------------------------------------------------- */

static void task_dueller(int id)
{
	task_begin(id);
	dueller(id);
}

static void task_dueller_timed(int id)
{
	task_begin(id);
	dueller_timed(id);
}

/* Waits until cancelled. */
static void task_dueller_or_end(int id)
{
	task_begin(id);
	(void)duel(id, UINT64_MAX);
}

static void task_receiver(int id)
{
	task_begin(id);
	receiver(id);
}

static void task_receiver_frees(int id)
{
	task_begin(id);
	receiver_frees(id);
}

static void task_sender(int id)
{
	task_begin(id);
	sender(id);
}

static void task_closer(int id)
{
	task_begin(id);
	closer(id);
}

static void task_close_first(int id)
{
	task_begin(id);
	close_first(id);
}

static void task_close_both(int id)
{
	task_begin(id);
	close_both(id);
}

static void task_alone_both_ways(int id)
{
	task_begin(id);
	both_ways(UINT64_MAX);
}

static void task_alone_both_ways_timed(int id)
{
	task_begin(id);
	both_ways(LATER);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

/* Both threads have returned: they met, or each had a reason not to. */
static void both_have_gone(void)
{
	int met = ledger.sent[0] + ledger.sent[1];

	MODEL_CHECK(met <= 1);
	MODEL_CHECK(2 * met + ledger.closed + ledger.gave_up == 2);
	settled();
}

static void told_once(void)
{
	MODEL_CHECK(ledger.closed + ledger.gave_up == 1);
	settled();
}

MODEL(two_tasks_meet_once, .setup = setup,
      .threads = { task_dueller, task_dueller }, .finish = one_went);
MODEL(two_tasks_meet_or_time_out, .setup = setup_timed,
      .threads = { task_dueller_timed, task_dueller_timed },
      .finish = both_have_gone);
MODEL(two_tasks_meet_or_a_close_ends_both, .setup = setup,
      .threads = { task_dueller, task_dueller, task_close_first },
      .finish = met_or_closed);
MODEL(two_tasks_meet_or_two_closes_end_both, .setup = setup,
      .threads = { task_dueller, task_dueller, task_close_both },
      .finish = met_or_closed);
MODEL(a_cancelled_task_met_nobody, .setup = setup_timed,
      .threads = { task_dueller_or_end, task_dueller_timed, cancel_first },
      .finish = both_have_gone, .slow_modes = MODEL_RA);
MODEL(wake_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_dueller_timed, task_dueller_timed, cancel_first },
      .finish = both_have_gone, .slow_modes = MODEL_RA);
MODEL(a_task_a_send_and_a_close, .setup = setup,
      .threads = { task_receiver, task_sender, task_closer },
      .finish = one_of_each);
MODEL(a_task_may_free_what_it_waited_for, .setup = setup,
      .threads = { task_receiver_frees, task_sender }, .finish = both_counted);
MODEL(a_close_ends_a_task_that_waits_for_both_ways, .setup = setup,
      .threads = { task_alone_both_ways, task_close_both },
      .finish = ended_by_close);
MODEL(close_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_alone_both_ways_timed, task_close_both, cancel_first },
      .finish = told_once);
